package supply_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
)

// airtel returns a number of AIRTEL.
func airtel(i int) string { return "+2348020000" + strconv.Itoa(100+i) }

// port ports a number to a network by a report of the clearing house.
func (k *importEnv) port(number, to, date string) {
	k.t.Helper()
	e := k.item(number, "PORTED "+date)
	e.Network = to
	k.wantOutcome(newSupplier(line.ClearingHouse, ""), e, "APPLIED")
}

// portByHalves ports a number from MTN to AIRTEL by their two reports.
func (k *importEnv) portByHalves(number, date string) {
	k.t.Helper()
	release := k.item(number, "PORT_RELEASED "+date)
	release.Network = "AIRTEL"
	k.wantOutcome(operator("MTN"), release, "WAITING HALF_PORT")
	k.wantOutcome(operator("AIRTEL"), k.item(number, "PORT_CLAIMED "+date), "APPLIED")
}

func airtels(from, count int) []string {
	rows := make([]string, count)
	for i := range rows {
		rows[i] = airtel(from+i) + ",2024-02-03,,ACTIVE,"
	}
	return rows
}

const (
	portDay     = "2026-04-01T10:00:00Z"
	wasPort     = "PORTED " + portDay
	endedAfter  = "ENDED 2026-05-01T00:00:00Z INFERRED after "
	endedPorted = endedAfter + portDay
)

// A donor's row about a number that was ported away is reported and not applied. If
// its snapshot does not have the number, nothing ends.
func TestPortedOutNumbersAreReportedNotApplied(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.port(number(0), "AIRTEL", portDay)
	k.port(number(1), "AIRTEL", portDay)
	k.port(number(2), "AIRTEL", "2026-05-02T10:00:00Z") // after the snapshot: it is still there
	file := append(actives(2, 18), number(0)+",2024-02-03,,PARKED,2026-04-15")
	im := k.compareRuns("MTN", may, snapshotOf(file...))
	k.wantCounts(im, supply.Counts{Unchanged: 18, PortedOut: 1, Refused: 1})
	k.wantRefused(im, "20 number PORTED_OUT")
	for i, want := range []string{wasPort, wasPort, "PORTED 2026-05-02T10:00:00Z"} {
		k.wantEvents(number(i), want)
		if got := k.plan.Code(k.row(number(i)).Network); got != "AIRTEL" {
			t.Errorf("number %d is with %s", i, got)
		}
	}
	k.wantConsistent()
}

// What a donor's file says about the time before a port that is known by now counts
// if it adds a SIM change. An end shortly before the port gives way to it; an older one,
// and a new holder, are held.
func TestRowsOfTheDonorBeforeAPort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row    string
		counts supply.Counts
		want   []string
		open   []string
	}{
		"a SIM change":     {"2024-02-03,2026-04-20,ACTIVE,", supply.Counts{Changed: 1, Unchanged: 19}, []string{"SIM_CHANGED 2026-04-20"}, nil},
		"an end just then": {"2024-02-03,,QUARANTINED,2026-04-30", supply.Counts{Changed: 1, Unchanged: 19}, []string{"ENDED the start of 2026-04-30 CHURNED"}, nil},
		"an older end": {
			"2024-02-03,,QUARANTINED,2026-04-10",
			supply.Counts{Waiting: 1, Unchanged: 19},
			[]string{"ENDED the start of 2026-04-10 CHURNED held DONOR_LATE"},
			[]string{"ENDED WAITING DONOR_LATE MTN"},
		},
		"a new holder": {"2026-04-10,,ACTIVE,", supply.Counts{Waiting: 1, Unchanged: 19}, []string{"ASSIGNED 2026-04-10 held DONOR_LATE"}, []string{"ASSIGNED WAITING DONOR_LATE MTN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
			e := k.item(number(0), "PORTED 2026-05-02T10:00:00Z")
			e.Network = "AIRTEL"
			k.wantOutcome(newSupplier(line.ClearingHouse, ""), e, "APPLIED")
			var im supply.Import
			k.atTime(may.AddDate(0, 0, 10), func() { // the file comes after the port
				im = k.run(k.create(asOf(may)), snapshotOf(append(actives(1, 19), number(0)+","+c.row)...), supply.Finished)
			})
			k.wantCounts(im, c.counts)
			k.wantEvents(number(0), append([]string{"PORTED 2026-05-02T10:00:00Z"}, c.want...)...)
			k.wantOpen(number(0), c.open...)
			r := k.row(number(0))
			if k.plan.Code(r.Network) != "AIRTEL" || r.State != line.StateActive || r.DoubtAt != line.Never || written(r.Tenure) != "2024-02-03" {
				t.Errorf("the line is %+v", r)
			}
			k.wantConsistent()
		})
	}
}

// A recipient's snapshot has the numbers that were ported to it. Their tenure goes on
// unless the row has one from more than a week after the port: that is a TRANSFERRED, to
// which flags pass.
func TestRowsOfPortedInNumbers(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 20)...))
	for i := range 6 {
		k.port(number(i), "AIRTEL", portDay)
	}
	flag := k.item(number(0), "FLAGGED 2026-04-20")
	flag.Level = "HIGH"
	k.wantOutcome(newSupplier(line.Sector, ""), flag, "APPLIED")
	im := k.compareRuns("AIRTEL", may, snapshotOf(append(airtels(0, 20),
		number(0)+",2026-04-25,,ACTIVE,",
		number(1)+",2024-02-03,,ACTIVE,",
		number(2)+",2024-02-03,2026-04-20,PARKED,2026-04-02",
		number(3)+",2024-02-03,,INACTIVE,2025-02-01",
		number(4)+",UNKNOWN,,BARRED,2025-02-01",
		number(5)+",2025-01-01,,ACTIVE,",
	)...))
	k.wantRefused(im)
	k.wantCounts(im, supply.Counts{Unchanged: 22, Changed: 4})
	k.wantEvents(number(0), wasPort, "FLAGGED 2026-04-20 HIGH", "TRANSFERRED 2026-04-25")
	k.wantEvents(number(1), wasPort)
	k.wantEvents(number(2), wasPort, "SIM_CHANGED 2026-04-20", "PARKED 2026-04-02")
	k.wantEvents(number(3), wasPort, "INACTIVE "+portDay) // a port makes a line active
	k.wantEvents(number(4), wasPort, "BARRED "+portDay+" OTHER")
	k.wantEvents(number(5), wasPort)
	for i := 1; i < 6; i++ {
		if got := written(k.row(number(i)).Tenure); got != "2024-02-03" {
			t.Errorf("the tenure of number %d began %s", i, got)
		}
	}
	k.wantStatus(number(0), "FLAGGED AIRTEL")
	k.wantConsistent()
}

// A number that was ported to a network, by the clearing house or by the two networks, ends when the
// network's file lacks it: some time since the port. A port after the file is another matter.
func TestMissingNumbersThatWerePortedInHaveEnded(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 2
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 20)...))
	for i := range 4 {
		k.port(number(i), "AIRTEL", portDay)
	}
	k.port(number(4), "AIRTEL", "2026-05-02T10:00:00Z") // after the snapshot
	k.portByHalves(number(5), portDay)
	k.port(airtel(1), "MTN", "2026-03-20T10:00:00Z") // and back again
	k.port(airtel(1), "AIRTEL", portDay)
	im := k.compareRuns("AIRTEL", may, snapshotOf(append(airtels(2, 18), number(3)+",2024-02-03,,ACTIVE,")...))
	k.wantCounts(im, supply.Counts{Unchanged: 19, Ended: 6})
	k.wantEvents(airtel(0), inferredEnd)
	k.wantEvents(airtel(1), "PORTED 2026-03-20T10:00:00Z", wasPort, endedPorted)
	for i := range 3 {
		k.wantEvents(number(i), wasPort, endedPorted)
		k.wantStatus(number(i), "QUARANTINED MTN")
		k.wantDoubt(number(i), time.Time{})
		k.wantOpen(number(i))
	}
	k.wantEvents(number(3), wasPort)
	k.wantEvents(number(4), "PORTED 2026-05-02T10:00:00Z")
	k.wantStatus(number(5), "QUARANTINED MTN")
	k.wantConsistent()

	// A later file that has the number reinstates it, with the network that ended it.
	next := may.AddDate(0, 0, 30)
	im = k.compareRuns("AIRTEL", next, snapshotOf(append(airtels(2, 18), number(3)+",2024-02-03,,ACTIVE,", number(0)+",2024-02-03,,ACTIVE,")...))
	k.wantCounts(im, supply.Counts{Unchanged: 19, Changed: 1, Ended: 1})
	k.wantEvents(number(0), wasPort, endedPorted, "REINSTATED 2026-05-01T00:00:01Z")
	k.wantEvents(number(4), "PORTED 2026-05-02T10:00:00Z", "ENDED 2026-05-31T00:00:00Z INFERRED after 2026-05-02T10:00:00Z")
	k.supplyThroughNow("AIRTEL")
	k.wantStatus(number(0), "NORMAL AIRTEL")
	k.wantConsistent()
}

// The tenure of a number that the networks alone had ported ends when it is missing,
// and the number returns to the network of its range. A row of the network that lost
// it so reinstates it.
func TestRowsReinstateAPortedNumberAfterAnInferredEnd(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 20)...))
	k.portByHalves(number(0), portDay)
	k.wantCounts(k.compareRuns("AIRTEL", may, snapshotOf(airtels(0, 20)...)), supply.Counts{Unchanged: 20, Ended: 1})
	k.wantStatus(number(0), "QUARANTINED MTN")
	next := may.AddDate(0, 0, 20)
	im := k.compareRuns("AIRTEL", next, snapshotOf(append(airtels(0, 20), active(0, "2024-02-03"))...))
	k.wantCounts(im, supply.Counts{Unchanged: 20, Changed: 1})
	k.wantEvents(number(0), "PORT_RELEASED "+portDay, "PORT_CLAIMED "+portDay+" outside", wasPort, endedPorted, "REINSTATED 2026-05-01T00:00:01Z")
	k.supplyThroughNow("AIRTEL")
	k.wantStatus(number(0), "NORMAL AIRTEL")
	k.wantConsistent()
}

// A row about a number of whose port nothing is known waits. It does not put the line
// of another network in doubt, and only turns UNALLOCATED into UNKNOWN.
func TestRowsWaitForAnUnknownPort(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	rows := append(airtels(0, 20), number(0)+",2024-02-03,2026-04-20,PARKED,2026-04-21", number(50)+",2024-02-03,2026-04-20,PARKED,2026-04-21")
	before := k.row(number(0))
	im := k.compareRuns("AIRTEL", may, snapshotOf(rows...))
	k.wantCounts(im, supply.Counts{Added: 20, Waiting: 2})
	k.wantRefused(im)
	const row = "RESTATED 2026-05-01T00:00:00Z outside (2024-02-03,2026-04-20,PARKED,2026-04-21)"
	k.wantEvents(number(0), "RESTATED 2026-05-01T00:00:00Z outside (2024-02-03,UNKNOWN,ACTIVE,2024-02-03)", row)
	k.wantEvents(number(50), row)
	after := k.row(number(0))
	after.Version = before.Version
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a row that waits has changed the line:\n%s", diff)
	}
	k.supplyThroughNow("MTN")
	k.wantStatus(number(0), "NORMAL MTN")
	k.wantStatus(number(50), "UNKNOWN DISPUTED MTN")
	k.wantStatus(number(51), "UNALLOCATED NUMBER MTN")
	k.wantConsistent()

	// The next file does not repeat it, unless it says something else.
	next := may.AddDate(0, 0, 10)
	rows[20] = number(0) + ",2024-02-03,2026-05-02,ACTIVE,"
	k.wantCounts(k.compareRuns("AIRTEL", next, snapshotOf(rows...)), supply.Counts{Unchanged: 21, Waiting: 1})
	k.wantEvents(number(50), row)
	// The network of the range may say that the number is its own.
	k.importFile(asOf(next), snapshotOf(append(actives(0, 20), active(50, "2026-05-05"))...))
	k.supplyThroughNow("MTN")
	k.wantStatus(number(50), "RECYCLED MTN")
	k.wantConsistent()
}

// A row that waited is compared when the port is reported, by the clearing house or by the two networks: as
// other rows are, and once.
func TestWaitingRowsAreComparedWhenThePortIsReported(t *testing.T) {
	t.Parallel()
	const portAt = "2026-04-29T10:00:00Z"
	halves := func(k *importEnv, number string) int {
		release := k.item(number, "PORT_RELEASED "+portAt)
		release.Network = "AIRTEL"
		k.wantLate(operator("AIRTEL"), k.item(number, "PORT_CLAIMED "+portAt), "WAITING HALF_PORT")
		k.wantLate(operator("MTN"), release, "APPLIED")
		return 3
	}
	house := func(k *importEnv, number string) int {
		e := k.item(number, "PORTED "+portAt)
		e.Network = "AIRTEL"
		k.wantLate(newSupplier(line.ClearingHouse, ""), e, "APPLIED")
		return 1
	}
	const parked = "2024-02-03,2026-04-30,PARKED,2026-04-30"
	done := []string{"SIM_CHANGED 2026-04-30", "PARKED 2026-04-30"}
	unknown := []string{"RESTATED 2026-05-01T00:00:00Z (2024-02-03,2026-04-30,ACTIVE,2024-02-03)", "PARKED 2026-04-30"}
	for name, c := range map[string]struct {
		first       bool // nobody has reported about the number
		row         string
		port        func(k *importEnv, number string) (events int)
		status      string
		tenure, sim string
		state       line.State
		made        []string // beside the void of the row
	}{
		"clearing house": {false, parked, house, "SWAPPED AIRTEL", "2024-02-03", "2026-04-30", line.StateParked, done},
		"halves":         {false, parked, halves, "SWAPPED AIRTEL", "2024-02-03", "2026-04-30", line.StateParked, done},
		"as known":       {false, "2024-02-03,,ACTIVE,", house, "PORTED AIRTEL", "2024-02-03", "", line.StateActive, nil},
		"unknown tenure": {false, "UNKNOWN,2026-04-30,PARKED,2026-04-30", house, "SWAPPED AIRTEL", "2024-02-03", "2026-04-30", line.StateParked, done},
		"the day of the port": {
			false, "2026-04-29,2026-04-29,ACTIVE,", house, "PORTED AIRTEL", "2024-02-03", "", line.StateActive,
			[]string{"RESTATED 2026-05-01T00:00:00Z (2024-02-03,2026-04-29,ACTIVE,2024-02-03)"}, // the SIM was not known
		},
		"an earlier start":       {false, "2025-02-03,,ACTIVE,", house, "PORTED AIRTEL", "2024-02-03", "", line.StateActive, nil},
		"of an unknown number":   {true, parked, house, "SWAPPED AIRTEL", "2024-02-03", "2026-04-30", line.StateParked, unknown},
		"unknown, and by halves": {true, parked, halves, "SWAPPED AIRTEL", "2024-02-03", "2026-04-30", line.StateParked, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			rows := actives(1, 20)
			if !c.first {
				rows = append(rows, active(0, "2024-02-03"))
			}
			k.importFile(asOf(march), snapshotOf(rows...))
			k.importAIRTEL(asOf(march), snapshotOf(airtels(0, 20)...))
			k.importAIRTEL(asOf(may), snapshotOf(append(airtels(0, 20), number(0)+","+c.row)...))
			before := len(k.events(number(0)))
			k.clock = may.AddDate(0, 0, 8)
			before += c.port(k, number(0))
			if diff := cmp.Diff(append([]string{"VOIDED 2026-05-01T00:00:00Z"}, c.made...), k.events(number(0))[before:]); diff != "" {
				t.Errorf("events of the row (-want +got):\n%s", diff)
			}
			r := k.row(number(0))
			if written(r.Tenure) != c.tenure || c.sim == "" && r.SIM != line.Never || c.sim != "" && written(r.SIM) != c.sim || r.State != c.state {
				t.Errorf("the line is %+v", r)
			}
			k.supplyThroughNow("AIRTEL")
			k.wantStatus(number(0), c.status)
			// It is judged only once.
			after := len(k.events(number(0)))
			k.wantLate(operator("AIRTEL"), k.item(number(0), "BARRED 2026-05-04 DEBT"), "APPLIED")
			if got := k.events(number(0))[after:]; len(got) != 1 {
				t.Errorf("the row was judged again: %q", got)
			}
			k.wantConsistent()
		})
	}
}

// A new holder whom the donor's snapshot had, and whom a row that waited denies, stays contested.
func TestWaitingRowsDoNotHideARecentHolder(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(append(actives(1, 20), active(0, "2026-02-20"))...))
	k.importAIRTEL(asOf(may), snapshotOf(append(airtels(0, 20), active(0, "2019-03-04"))...))
	e := k.item(number(0), "PORTED 2026-04-19T10:00:00Z")
	e.Network = "AIRTEL"
	k.atTime(may.AddDate(0, 0, 5), func() { k.wantLate(newSupplier(line.ClearingHouse, ""), e, "APPLIED") })
	k.wantOpen(number(0))
	if r := k.row(number(0)); written(r.Tenure) != "2019-03-04" || written(r.ContestedTenure) != "2026-02-20" {
		t.Errorf("the tenure began %s, and contested is %s", written(r.Tenure), written(r.ContestedTenure))
	}
	k.wantConsistent()
}

// A row that waits says nothing about a port that took place after it.
func TestRowsDoNotApplyBeforeTheirPort(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.importAIRTEL(asOf(may), snapshotOf(append(airtels(0, 20), number(0)+",2024-02-03,,PARKED,2026-04-21")...))
	waiting := len(k.events(number(0)))
	k.port(number(0), "AIRTEL", "2026-05-02T10:00:00Z")
	if got := k.events(number(0))[waiting:]; len(got) != 1 {
		t.Errorf("the row was applied: %q", got)
	}
	if r := k.row(number(0)); r.State != line.StateActive {
		t.Errorf("the line is %s", r.State)
	}
	k.wantConsistent()
}

// The check of a snapshot counts what is then applied, also with ports after its
// asOf: it does not report rows that are applied.
func TestCheckCountsWhatIsApplied(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	k.port(number(0), "AIRTEL", "2026-05-02")
	im := k.compareRuns("MTN", may, snapshotOf(actives(0, 20)...))
	k.wantCounts(im, supply.Counts{Unchanged: 20})
	k.wantRefused(im)
}
