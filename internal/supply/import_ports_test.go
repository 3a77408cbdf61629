package supply_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/supply"
)

// airtel returns a number of AIRTEL.
func airtel(i int) string { return "+2348020000" + strconv.Itoa(100+i) }

// importAIRTEL is importFile for a file of AIRTEL.
func (k *importEnv) importAIRTEL(f supply.ImportForm, content string) supply.Import {
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

// port ports a number to a network by a report of the clearing house.
func (k *importEnv) port(number, to, date string) {
	k.t.Helper()
	e := k.item(number, "PORTED "+date)
	e.Network = to
	k.wantOutcome(newSupplier(line.ClearingHouse, ""), e, "APPLIED")
}

func airtels(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = airtel(from+i) + ",2024-02-03,,ACTIVE,"
	}
	return rows
}

// A donor's row about a number that was ported away is reported and not applied. If
// its snapshot does not have the number, nothing ends.
func TestPortedOutNumbersAreReportedNotApplied(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.port(number(0), "AIRTEL", "2026-04-01")
	k.port(number(1), "AIRTEL", "2026-04-01")
	k.port(number(2), "AIRTEL", "2026-05-02") // after the snapshot: it is still there
	file := actives(2, 18)
	file = append(file, number(0)+",2024-02-03,,PARKED,2026-04-15")
	im := k.importFile(asOf(may), snapshotOf(file...))
	k.wantCounts(im, supply.Counts{Unchanged: 18, PortedOut: 1, Refused: 1})
	k.wantRefused(im, "20 number PORTED_OUT")
	for i, want := range []string{"PORTED 2026-04-01T00:00:00Z", "PORTED 2026-04-01T00:00:00Z", "PORTED 2026-05-02T00:00:00Z"} {
		k.wantEvents(number(i), want)
		if got := k.plan.Code(k.row(number(i)).Network); got != "AIRTEL" {
			t.Errorf("number %d is with %s", i, got)
		}
	}
	k.wantConsistent()
}

// A recipient's snapshot has the numbers that were ported to it. Their tenure
// continues: the recipient cannot change when it began, so that a flag or an order of
// the tenure stays.
func TestPortedInNumbersKeepTheirTenure(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	for i := range 5 {
		k.port(number(i), "AIRTEL", "2026-04-01")
	}
	flag := k.item(number(0), "FLAGGED 2026-04-20")
	flag.Level = "HIGH"
	k.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	im := k.importAIRTEL(asOf(may), snapshotOf(append(airtels(0, 20),
		number(0)+",2026-04-01,2026-04-01,ACTIVE,",
		number(1)+",2024-02-03,,ACTIVE,",
		number(2)+",2026-04-01,2026-04-20,PARKED,2026-04-02",
		number(3)+",2025-01-01,2026-03-31,INACTIVE,2025-02-01",
		number(4)+",2025-01-01,,BARRED,2025-02-01",
		number(5)+",2024-02-03,,ACTIVE,",
	)...))
	k.wantRefused(im, "27 number NOT_YOURS")
	k.wantCounts(im, supply.Counts{Added: 20, Unchanged: 2, Changed: 3, Refused: 1})
	const ported = "PORTED 2026-04-01T00:00:00Z"
	k.wantEvents(number(0), ported, "FLAGGED 2026-04-20T00:00:00Z HIGH")
	k.wantEvents(number(1), ported)
	k.wantEvents(number(2), ported, "SIM_CHANGED 2026-04-20T00:00:00Z", "PARKED 2026-04-02T00:00:00Z")
	k.wantEvents(number(3), ported, "INACTIVE 2026-04-01T00:00:01Z")
	k.wantEvents(number(4), ported, "BARRED 2026-04-01T00:00:01Z OTHER")
	for i := range 5 {
		if got := k.row(number(i)).Tenure.Time().Format("2006-01-02"); got != "2024-02-03" {
			t.Errorf("the tenure of number %d began %s", i, got)
		}
	}
	k.wantStatus(number(0), "FLAGGED AIRTEL")
	k.wantConsistent()
}

// The tenure of a ported number ends, too, when the recipient's snapshot does not
// have it, and the number returns to the holder of its range.
func TestPortedInNumbersThatAreMissingEnd(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 2
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 20)...))
	for i := range 5 {
		k.port(number(i), "AIRTEL", "2026-04-01")
	}
	k.port(number(5), "AIRTEL", "2026-05-02") // after the snapshot
	im := k.importAIRTEL(asOf(may), snapshotOf(append(airtels(1, 19), number(3)+",2024-02-03,,ACTIVE,")...))
	k.wantCounts(im, supply.Counts{Unchanged: 20, Ended: 5})
	k.wantRefused(im)
	const ended = "ENDED 2026-05-01T00:00:00Z INFERRED after 2026-03-01T00:00:00Z"
	k.wantEvents(airtel(0), ended)
	for i := range 5 {
		if i == 3 {
			k.wantEvents(number(i), "PORTED 2026-04-01T00:00:00Z")
			continue
		}
		k.wantEvents(number(i), "PORTED 2026-04-01T00:00:00Z", ended)
		k.wantStatus(number(i), "QUARANTINED MTN")
	}
	k.wantEvents(number(5), "PORTED 2026-05-02T00:00:00Z")
	k.wantConsistent()
	// The holder of the range may assign it again.
	k.wantOutcome(operator("MTN"), k.item(number(0), "ASSIGNED 2026-05-30"), "APPLIED")
	k.wantConsistent()
}

// The check of a snapshot counts what is then applied, also with ports after its
// asOf: it does not report rows that are applied.
func TestCheckCountsWhatIsApplied(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.port(number(0), "AIRTEL", "2026-05-02")
	dry := asOf(may)
	dry.DryRun = true
	checked := k.run(k.create(dry), snapshotOf(actives(0, 20)...), supply.Checked)
	applied := k.importFile(asOf(may), snapshotOf(actives(0, 20)...))
	if diff := cmp.Diff(applied.Counts, checked.Counts); diff != "" {
		t.Errorf("the check counts something else (-applied +checked):\n%s", diff)
	}
	k.wantRefused(checked)
	k.wantRefused(applied)
}
