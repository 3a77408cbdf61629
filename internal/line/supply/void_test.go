package supply_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// voidSnapshot voids a snapshot in small batches.
func (k *importEnv) voidSnapshot(im supply.Import) supply.Import {
	k.t.Helper()
	im, err := k.VoidInBatches(k.t.Context(), im.ID, console, 3, func(supply.Import) {})
	if err != nil {
		k.t.Fatal(err)
	}
	if im.State != supply.Voided {
		k.t.Fatalf("the import is %s", im.State)
	}
	return im
}

// wantCoverage compares the coverage of both topics of MTN.
func (k *importEnv) wantCoverage(want line.Span) {
	k.t.Helper()
	of := k.coverage()
	of.Ports = line.Span{}
	if diff := cmp.Diff(both(want), of); diff != "" {
		k.t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// linesNow is the content of the rows, without their version, and of what follows from
// them. A row that says nothing is left out: events that were voided leave one.
var linesNow = map[string]string{
	"line_now": `SELECT number, network, state, bits, bar_reason, state_since, tenure_start, sim_at, newest, until, ended_after, port_at,
		bar_at, doubt_at, contested_tenure, contested_sim FROM line_now WHERE state <> 0 ORDER BY number`,
	"line_open":     lineTables["line_open"],
	"network_lines": lineTables["network_lines"],
}

// Voiding the first snapshot withdraws the rows that no event has touched. The others
// stay, with their baseline.
func TestVoidTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	im := k.importFile(asOf(may), snapshotOf(actives(0, 20)...))
	k.wantOutcome(operator("MTN"), k.item(number(7), "SIM_CHANGED 2026-05-30"), "APPLIED")
	touched := k.row(number(7))
	voided := k.voidSnapshot(im)
	if voided.Voided != 19 || voided.Counts != im.Counts || !voided.Finished.Equal(im.Finished) {
		t.Errorf("%+v", voided)
	}
	k.wantCoverage(line.Span{})
	k.wantStatus(number(3), "UNKNOWN NO_SUPPLY MTN")
	k.wantStatus(number(7), "SWAPPED MTN")
	if k.row(number(7)) != touched || k.count(`SELECT count(*) FROM line_now`) != 1 {
		t.Errorf("%+v has become %+v", touched, k.row(number(7)))
	}
	k.wantConsistent()
	k.supplyThroughNow("MTN")
	k.wantStatus(number(3), "UNKNOWN NO_SUPPLY MTN")

	// The same file again is a first snapshot again.
	again := k.importFile(asOf(may), snapshotOf(actives(0, 20)...))
	k.wantCounts(again, supply.Counts{Added: 19, Unchanged: 1})
	k.wantStatus(number(3), "NORMAL MTN")
	k.wantConsistent()
}

// What the first snapshot made of numbers that were known from events is voided, too.
func TestVoidTheFirstSnapshotOverEvents(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	for i, event := range []string{"PARKED 2026-01-05", "SIM_CHANGED 2026-01-05", "USED 2026-01-05"} {
		k.wantOutcome(operator("MTN"), k.item(number(i), event), "APPLIED")
	}
	k.atTime(march.Add(-time.Hour), func() { k.supplyThroughNow("MTN") })
	before, span := k.dump(linesNow), k.coverage().Lifecycle
	rows := append(actives(3, 5), number(1)+",2024-02-03,2026-01-05,ACTIVE,", number(2)+",2024-02-03,,ACTIVE,", airtel(0)+",2024-02-03,,ACTIVE,")
	im := k.importFile(asOf(march), snapshotOf(rows...))
	k.wantEvents(number(2), "USED 2026-01-05", "RESTATED 2026-03-01T00:00:00Z (2024-02-03,UNKNOWN,ACTIVE,2024-02-03)")
	k.wantOpen(airtel(0), "RESTATED WAITING NOT_SERVING MTN")
	k.voidSnapshot(im)
	if diff := cmp.Diff(before, k.dump(linesNow)); diff != "" {
		t.Errorf("the lines (-before +after):\n%s", diff)
	}
	k.wantCoverage(span)
	k.wantConsistent()
	// The port arrives, and the voided row does not count.
	k.port(airtel(0), "MTN", "2026-02-01")
	if r := k.row(airtel(0)); r.Tenure != line.Never {
		t.Errorf("the voided row has become %+v", r)
	}
	again := k.importFile(asOf(may), snapshotOf(rows...))
	if again.Counts.Changed == 0 {
		t.Errorf("the next snapshot counts %+v", again.Counts)
	}
	if r := k.row(number(2)); r.Tenure == line.Never || r.Bits&line.OwnSnapshot == 0 {
		t.Errorf("the number did not get the baseline of the next snapshot: %+v", r)
	}
	k.wantConsistent()
}

// Voiding a later snapshot voids everything that it made: the lines are what they were
// before it.
func TestVoidALaterSnapshot(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.raiseHoldLimit()
	later := importCases()["snapshot"]
	im := k.start(later)
	before, span := k.dump(linesNow), k.coverage().Lifecycle
	im = k.run(im, later.content, supply.Finished)
	if c := im.Counts; c.Added == 0 || c.Changed == 0 || c.Ended == 0 || c.Waiting == 0 {
		t.Fatalf("the case has too few results: %+v", c)
	}
	k.wantStatus(number(3), "QUARANTINED MTN")
	k.clock = k.clock.Add(time.Hour)
	k.voidSnapshot(im)
	if diff := cmp.Diff(before, k.dump(linesNow)); diff != "" {
		t.Errorf("the lines (-before +after):\n%s", diff)
	}
	k.wantCoverage(span)
	k.wantConsistent()
	k.supplyThroughNow("MTN")
	k.wantStatus(number(3), "NORMAL MTN") // it was missing
	k.wantStatus(number(40), "UNALLOCATED NUMBER MTN")

	// The next snapshot is compared with the one before, and does the same again.
	next := k.importFile(asOf(may), later.content)
	want := im.Counts
	k.wantCounts(next, want)
	k.wantEvents(number(3), "ENDED 2026-05-01T00:00:00Z INFERRED after 2026-03-01T00:00:00Z", "VOIDED 2026-05-01T00:00:00Z",
		"ENDED 2026-05-01T00:00:00Z INFERRED after 2026-03-01T00:00:00Z")
	k.wantConsistent()
}

// What a later snapshot restated and reinstated is as before it.
func TestVoidRestatements(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.raiseHoldLimit()
	rows := actives(0, 20)
	rows[1] = number(1) + ",2024-02-03,2026-02-01,ACTIVE,"
	k.importFile(asOf(march), snapshotOf(rows...))
	k.port(airtel(1), "MTN", "2026-01-10")
	april := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	k.importFile(asOf(april), snapshotOf(rows...))
	before := k.dump(linesNow)
	next := append([]string{}, rows...)
	next[0] = number(0) + ",2020-01-01,,ACTIVE,"
	next[1] = number(1) + ",2024-02-03,NEVER,ACTIVE,"
	next = append(next, airtel(1)+",,,ACTIVE,")
	im := k.importFile(asOf(may), snapshotOf(next...))
	if now := k.row(airtel(1)); now.State != line.StateActive {
		t.Errorf("the number that the file has again is %s", now.State)
	}
	k.voidSnapshot(im)
	if diff := cmp.Diff(before, k.dump(linesNow)); diff != "" {
		t.Errorf("the lines (-before +after):\n%s", diff)
	}
	k.wantConsistent()
	// The baseline is that of the first snapshot, and not lost.
	if r := k.row(number(0)); r.Baseline != 1 || written(r.Tenure) != "2024-02-03" {
		t.Errorf("%+v", r)
	}
}

// What a row that waited for its port has made of the line is gone.
func TestVoidARowThatWaitedForAPort(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importAIRTEL(asOf(march), snapshotOf(airtel(0)+",2026-02-20,,ACTIVE,"))
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	im := k.importFile(asOf(may), snapshotOf(append(actives(0, 20), airtel(0)+",2019-03-04,,ACTIVE,")...))
	port := k.item(airtel(0), "PORTED 2026-04-19T10:00:00Z")
	port.Network = "MTN"
	k.atTime(may.AddDate(0, 0, 5), func() { k.wantLate(newSupplier(line.ClearingHouse, ""), port, "APPLIED") })
	if r := k.row(airtel(0)); written(r.Tenure) != "2019-03-04" || written(r.ContestedTenure) != "2026-02-20" {
		t.Errorf("%+v", r)
	}
	k.voidSnapshot(im)
	k.wantOpen(airtel(0))
	k.wantDoubt(airtel(0), time.Time{})
	if r := k.row(airtel(0)); written(r.Tenure) != "2026-02-20" || r.PortAt == line.Never || r.Bits&line.OwnSnapshot != 0 {
		t.Errorf("%+v", r)
	}
	k.wantConsistent()
}

// Only the newest snapshot can be voided, once, and while no import is open.
func TestWhichSnapshotsCanBeVoided(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	refused := func(im supply.Import, want error) {
		t.Helper()
		k.wantUnchanged("a refused void", func() {
			if _, err := k.VoidInBatches(t.Context(), im.ID, console, 3, nil); !errors.Is(err, want) {
				t.Errorf("void: %v, want %v", err, want)
			}
		})
	}
	rows := snapshotOf(actives(0, 20)...)
	first := k.importFile(asOf(march), rows)
	second := k.importFile(asOf(may), rows)
	events := k.importFile(supply.ImportForm{Kind: linefile.Events}, eventsHeader)
	dry := k.importFile(supply.ImportForm{Kind: linefile.Snapshot, AsOf: k.at(1), DryRun: true}, rows)
	refused(supply.Import{ID: uuid.New()}, supply.ErrNoImport)
	refused(first, supply.ErrNotNewest)
	refused(events, supply.ErrNotApplied)
	refused(dry, supply.ErrNotApplied)
	open := k.create(supply.ImportForm{Kind: linefile.Events})
	refused(open, supply.ErrNotApplied)
	refused(second, supply.ErrImportOpen)
	k.cancel(open)
	k.voidSnapshot(second)
	refused(second, supply.ErrVoided)
	if _, err := k.Cancel(t.Context(), second.ID, console); !errors.Is(err, supply.ErrImportFinished) {
		t.Errorf("cancel: %v", err)
	}
	k.voidSnapshot(first)
	if left := k.count(`SELECT count(*) FROM line_now`); left != 0 {
		t.Errorf("%d rows are left", left)
	}
	list, err := audit.List(t.Context(), k.Pool, audit.Filter{Subject: second.ID})
	if err != nil || len(list) != 3 || list[0].Action != audit.ImportVoided || !list[0].Actor.Same(console) {
		t.Errorf("the trail has %+v, %v", list, err)
	}
}

// What others have assured stays when the snapshot's own assurance goes.
func TestVoidKeepsLaterAssurances(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	first := k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	second := k.importFile(asOf(may), snapshotOf(actives(0, 20)...))
	k.supplyThroughNow("MTN")
	k.clock = k.clock.Add(time.Hour)
	k.voidSnapshot(second)
	now := k.clock.Add(-time.Hour)
	k.wantCoverage(line.Span{KnownSince: march, CompleteSince: march, Through: now})
	k.clock = k.clock.Add(time.Hour)
	k.voidSnapshot(first)
	known := k.coverage().Lifecycle.KnownSince
	if !known.After(march) || known.After(now) {
		t.Errorf("known since %s", known)
	}
	k.wantCoverage(line.Span{KnownSince: known, Through: now})
}

// Voiding that is stopped at any moment and continued has the same result. Meanwhile
// no import of the network can be created, and nothing that is missing counts as
// unassigned.
func TestStoppedVoidsContinue(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"snapshot", "first snapshot"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.raiseHoldLimit()
			s := importCases()[name]
			prepare := func() supply.Import { return k.run(k.start(s), s.content, supply.Finished) }
			k.voidSnapshot(prepare())
			want := k.outcome()
			stops := 0
			for reads := 1; ; reads++ {
				im := prepare()
				stopped := k.stopVoid(im, reads)
				if now, err := k.Import(t.Context(), im.ID); err != nil {
					t.Fatal(err)
				} else if now.State == supply.Voiding {
					stops++
					if _, err := k.Begin(t.Context(), operator("MTN"), supply.ImportForm{Kind: linefile.Events}, "cli"); !errors.Is(err, supply.ErrVoiding) {
						t.Fatalf("an import was created: %v", err)
					}
					if name == "first snapshot" {
						k.wantStatus(number(90), "UNKNOWN NO_SUPPLY MTN")
					}
				}
				if now, _ := k.Import(t.Context(), im.ID); now.State != supply.Voided {
					k.voidSnapshot(im)
				}
				if diff := cmp.Diff(want, k.outcome()); diff != "" {
					t.Fatalf("stopped at read %d of the clock (-undisturbed +stopped):\n%s", reads, diff)
				}
				if !stopped {
					break
				}
			}
			if stops < 3 {
				t.Errorf("it was stopped only %d times", stops)
			}
			k.wantConsistent()
		})
	}
}

// stopVoid voids a snapshot until the clock has been read reads times, and reports
// whether that was before the end.
func (k *importEnv) stopVoid(im supply.Import, reads int) bool {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	defer stop()
	d := k.withClock(func() {
		if reads--; reads == 0 {
			stop()
		}
	})
	_, err := d.VoidInBatches(ctx, im.ID, console, 3, func(supply.Import) {})
	if err != nil && ctx.Err() == nil {
		k.t.Fatal(err)
	}
	return err != nil
}
