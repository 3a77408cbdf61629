package supply_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/supply"
)

// airtel returns a number of AIRTEL's.
func airtel(i int) string { return "+2348020000" + strconv.Itoa(100+i) }

// takeAIRTEL is take for a file of AIRTEL's.
func (k *intake) takeAIRTEL(f supply.ImportForm, content string) supply.Import {
	k.t.Helper()
	im, err := k.Begin(k.t.Context(), operator("AIRTEL"), f, "cli")
	if err != nil {
		k.t.Fatal(err)
	}
	if im, err = k.Run(k.t.Context(), im.ID, k.source(content), nil); err != nil {
		k.t.Fatal(err)
	}
	if im.State == supply.Held {
		if im, err = k.Confirm(k.t.Context(), im.ID, console); err != nil {
			k.t.Fatal(err)
		}
	}
	return k.run(im, content, supply.Finished)
}

// ported gives a number to a network by the clearing house's word.
func (k *intake) ported(number, to, date string) {
	k.t.Helper()
	e := k.written(number, "PORTED "+date)
	e.Network = to
	k.says(speaker(line.ClearingHouse, ""), e, "APPLIED")
}

func airtels(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = airtel(from+i) + ",2024-02-03,,ACTIVE,"
	}
	return rows
}

// A number that was ported away is reported, and what its donor says of it is
// not applied. That it is missing there means nothing.
func TestPortedOutNumbersAreReportedNotApplied(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(march), of(actives(0, 20)...))
	k.ported(number(0), "AIRTEL", "2026-04-01")
	k.ported(number(1), "AIRTEL", "2026-04-01")
	k.ported(number(2), "AIRTEL", "2026-05-02") // after the snapshot: it is still there
	file := actives(2, 18)
	file = append(file, number(0)+",2024-02-03,,PARKED,2026-04-15")
	im := k.take(asOf(may), of(file...))
	k.counts(im, supply.Counts{Unchanged: 18, PortedOut: 1, Refused: 1})
	k.refuses(im, "20 number PORTED_OUT")
	for i, want := range []string{"PORTED 2026-04-01T00:00:00Z", "PORTED 2026-04-01T00:00:00Z", "PORTED 2026-05-02T00:00:00Z"} {
		k.tells(number(i), want)
		if got := k.plan.Code(k.row(number(i)).Network); got != "AIRTEL" {
			t.Errorf("number %d is with %s", i, got)
		}
	}
	k.sound()
}

// A recipient's snapshot speaks of the numbers that came to it. Their tenure
// goes on: when it began is not the recipient's to say, so that what belongs to
// the tenure, a flag or an order, stays.
func TestPortedInNumbersKeepTheirTenure(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(march), of(actives(0, 20)...))
	for i := range 5 {
		k.ported(number(i), "AIRTEL", "2026-04-01")
	}
	flag := k.written(number(0), "FLAGGED 2026-04-20")
	flag.Level = "HIGH"
	k.says(speaker(line.Sector, ""), flag, "APPLIED")
	im := k.takeAIRTEL(asOf(may), of(append(airtels(0, 20),
		number(0)+",2026-04-01,2026-04-01,ACTIVE,",
		number(1)+",2024-02-03,,ACTIVE,",
		number(2)+",2026-04-01,2026-04-20,PARKED,2026-04-02",
		number(3)+",2025-01-01,2026-03-31,INACTIVE,2025-02-01",
		number(4)+",2025-01-01,,BARRED,2025-02-01",
		number(5)+",2024-02-03,,ACTIVE,",
	)...))
	k.refuses(im, "27 number NOT_YOURS")
	k.counts(im, supply.Counts{Added: 20, Unchanged: 2, Changed: 3, Refused: 1})
	const ported = "PORTED 2026-04-01T00:00:00Z"
	k.tells(number(0), ported, "FLAGGED 2026-04-20T00:00:00Z HIGH")
	k.tells(number(1), ported)
	k.tells(number(2), ported, "SIM_CHANGED 2026-04-20T00:00:00Z", "PARKED 2026-04-02T00:00:00Z")
	k.tells(number(3), ported, "INACTIVE 2026-04-01T00:00:01Z")
	k.tells(number(4), ported, "BARRED 2026-04-01T00:00:01Z OTHER")
	for i := range 5 {
		if got := k.row(number(i)).Tenure.Time().Format("2006-01-02"); got != "2024-02-03" {
			t.Errorf("the tenure of number %d began %s", i, got)
		}
	}
	k.is(number(0), "FLAGGED AIRTEL")
	k.sound()
}

// A number that came by a port ends, too, when its recipient no longer has it,
// and returns to the holder of its range.
func TestPortedInNumbersThatAreMissingEnd(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.chunk = 2
	k.take(asOf(march), of(actives(0, 20)...))
	k.takeAIRTEL(asOf(march), of(airtels(0, 20)...))
	for i := range 5 {
		k.ported(number(i), "AIRTEL", "2026-04-01")
	}
	k.ported(number(5), "AIRTEL", "2026-05-02") // after the snapshot
	im := k.takeAIRTEL(asOf(may), of(append(airtels(1, 19), number(3)+",2024-02-03,,ACTIVE,")...))
	k.counts(im, supply.Counts{Unchanged: 20, Ended: 5})
	k.refuses(im)
	const ended = "ENDED 2026-05-01T00:00:00Z INFERRED after 2026-03-01T00:00:00Z"
	k.tells(airtel(0), ended)
	for i := range 5 {
		if i == 3 {
			k.tells(number(i), "PORTED 2026-04-01T00:00:00Z")
			continue
		}
		k.tells(number(i), "PORTED 2026-04-01T00:00:00Z", ended)
		k.is(number(i), "QUARANTINED MTN")
	}
	k.tells(number(5), "PORTED 2026-05-02T00:00:00Z")
	k.sound()
	// The range's holder may sell it again.
	k.says(operator("MTN"), k.written(number(0), "ASSIGNED 2026-05-30"), "APPLIED")
	k.sound()
}

// What the check says of a snapshot is what is done, ports after its time
// included: its report does not name rows that are applied.
func TestCheckSpeaksOfTheSameTime(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(march), of(actives(0, 20)...))
	k.ported(number(0), "AIRTEL", "2026-05-02")
	dry := asOf(may)
	dry.DryRun = true
	checked := k.run(k.begin(dry), of(actives(0, 20)...), supply.Checked)
	applied := k.take(asOf(may), of(actives(0, 20)...))
	if diff := cmp.Diff(applied.Counts, checked.Counts); diff != "" {
		t.Errorf("the check counts otherwise (-applied +checked):\n%s", diff)
	}
	k.refuses(checked)
	k.refuses(applied)
}
