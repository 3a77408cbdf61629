package supply_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// told returns what the outbox has after a mark, as words, and the next mark.
func (s *env) told(mark int64) (words []string, next int64) {
	s.t.Helper()
	changes, next, err := outbox.Read(s.t.Context(), s.Pool, mark, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range changes {
		if c.IsClass() {
			words = append(words, fmt.Sprintf("%s %d %s", c.Kind, c.Lines, s.plan.Name(c.Network)))
			continue
		}
		word := fmt.Sprintf("%s %s>%s v%d", c.Kind, c.Before, c.After, c.Version)
		if c.FromNetwork != c.Network {
			word += " " + s.plan.Name(c.FromNetwork) + ">" + s.plan.Name(c.Network)
		}
		if c.Until != line.Never {
			word += fmt.Sprintf(" for %d days", int(c.Until.Time().Sub(s.clock)/(24*time.Hour)))
		}
		if c.Correction {
			word += " correction"
		}
		words = append(words, word)
	}
	return words, next
}

// Whatever changes what an answer shows of a line, or would have shown, is in the outbox
// once, in the order of the line's versions, and nothing else is.
func TestChangesOfALineAreInTheOutbox(t *testing.T) {
	t.Parallel()

	s := newEnv(t)
	mtn, house := operator("MTN"), newSupplier(line.ClearingHouse, "")
	sector := newSupplier(line.Sector, "")
	var mark int64
	step := func(what string, who supply.Supplier, item supply.Item, want ...string) {
		t.Helper()
		s.reportNow(who, item)
		var got []string
		got, mark = s.told(mark)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
	at := func(kind string) supply.Item {
		s.clock = s.clock.Add(time.Hour)
		return s.event(number(1), kind, 0)
	}
	step("a new holder", mtn, at("ASSIGNED"), "recycled UNALLOCATED>RECYCLED v1 for 90 days")
	s.days(120)
	swap := at("SIM_CHANGED")
	step("a swap", mtn, swap, "swapped NORMAL>SWAPPED v2 for 10 days")
	step("the same again", mtn, swap)
	bar := at("BARRED")
	bar.Reason = "LOST"
	step("a bar", mtn, bar, "barred SWAPPED>BARRED v3")
	step("a swap of a barred line", mtn, at("SIM_CHANGED"), "swapped BARRED>BARRED v4")
	step("the end of the bar", mtn, at("UNBARRED"), "unbarred BARRED>SWAPPED v5 for 9 days")
	s.days(30)
	step("inactive", mtn, at("INACTIVE"), "inactive NORMAL>INACTIVE v6")
	step("used", mtn, at("USED"), "active INACTIVE>NORMAL v7")
	flag := at("FLAGGED")
	flag.Level = "HIGH"
	step("a flag", sector, flag, "flagged NORMAL>FLAGGED v8 for 90 days")
	flag = at("UNFLAGGED")
	step("no flag", sector, flag, "unflagged FLAGGED>NORMAL v9")
	port := at("PORTED")
	port.Network = "AIRTEL"
	step("a port", house, port, "ported NORMAL>PORTED v10 MTN>Airtel for 10 days")
	s.days(60)
	end := at("ENDED")
	end.Reason = "CHURNED"
	step("an end", operator("AIRTEL"), end, "quarantined NORMAL>QUARANTINED v11 Airtel>MTN")
	step("a late swap, which an ended line does not show", mtn, s.event(number(1), "SIM_CHANGED", 100), "past QUARANTINED>QUARANTINED v12 correction")
}

// The lines of a first snapshot are one change, and so are those that are withdrawn
// with it; those of a later one that differ are changes of their own.
func TestFirstLoadsAreClassChanges(t *testing.T) {
	t.Parallel()

	k := newImportEnv(t)
	k.raiseHoldLimit()
	k.importFile(supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.at(20)}, snapshotOf(actives(0, 300)...))
	got, mark := k.told(0)
	if diff := cmp.Diff([]string{"started 300 MTN"}, got); diff != "" {
		t.Errorf("the first snapshot:\n%s", diff)
	}
	rows := actives(0, 302)
	rows[7] = strings.Replace(rows[7], ",,ACTIVE", ","+k.ago(5)+",ACTIVE", 1)
	im := k.importFile(supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.at(1)}, snapshotOf(rows...))
	got, mark = k.told(mark)
	if diff := cmp.Diff([]string{"swapped NORMAL>SWAPPED v2 for 5 days", "lines-added 2 MTN"}, got); diff != "" {
		t.Errorf("the second:\n%s", diff)
	}
	if _, err := k.VoidInBatches(t.Context(), im.ID, console, 100, func(supply.Import) {}); err != nil {
		t.Fatal(err)
	}
	got, _ = k.told(mark)
	if diff := cmp.Diff([]string{"lines-withdrawn 2 MTN", "corrected SWAPPED>NORMAL v3 correction"}, got); diff != "" {
		t.Errorf("voided:\n%s", diff)
	}
}

// An announced churn has a timer, whether an event or the first snapshot announces it; one
// that was announced for a date in the past has none.
func TestAnnouncedChurnsHaveTimers(t *testing.T) {
	t.Parallel()

	k := newImportEnv(t)
	k.raiseHoldLimit()
	rows := append(actives(0, 100), number(200)+",2024-02-03,,PENDING_CHURN,"+k.at(3).Format(time.DateOnly))
	k.importFile(supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.at(2)}, snapshotOf(rows...))
	for i, churn := range []int{-30, 0} {
		notice := k.event(number(i), "CHURN_NOTICE", 1)
		notice.ChurnAt = k.ago(churn)
		k.reportNow(operator("MTN"), notice)
	}
	rowsOf, err := k.Pool.Query(t.Context(), `SELECT '+' || t.number FROM line_timer t JOIN line_now n ON n.number = t.number AND n.until = t.due WHERE line_time(t.due) > $1 ORDER BY 1`, k.clock)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rowsOf, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{number(0), number(200)}, got); diff != "" {
		t.Error(diff)
	}
}
