package supply_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// suspiciousSnapshots are snapshots that staff must confirm, for a network with forty
// lines.
var suspiciousSnapshots = map[string]struct {
	content string
	counts  supply.Counts
	reason  string // a part of it
	refused int
}{
	"halved": {
		snapshotOf(actives(0, 20)...), supply.Counts{Unchanged: 20, Ended: 20}, "It would add 0 lines, change 0 and end 20 of 40, more than 10 percent.", 0,
	},
	"cut off by more than a tenth": {
		snapshotOf(actives(0, 35)...), supply.Counts{Unchanged: 35, Ended: 5}, "end 5 of 40", 0,
	},
	"doubled by being written twice": {
		snapshotOf(actives(0, 40)...) + snapshotOf(actives(0, 40)...),
		supply.Counts{Unchanged: 40, Duplicates: 40, Refused: 41},
		"41 of its 81 rows are rejected or repeated, more than 10 percent.", 41,
	},
	"doubled by every row": {
		snapshotOf(append(actives(0, 40), actives(0, 40)...)...),
		supply.Counts{Unchanged: 40, Duplicates: 40, Refused: 40},
		"40 of its 80 rows are rejected or repeated", 40,
	},
	"doubled by new numbers": {
		snapshotOf(actives(0, 80)...), supply.Counts{Unchanged: 40, Added: 40}, "It would add 40 lines, change 0 and end 0 of 40", 0,
	},
	"every tenure new": {
		strings.ReplaceAll(snapshotOf(actives(0, 40)...), "2024-02-03", "2026-04-03"), supply.Counts{Changed: 40}, "change 40", 0,
	},
	"every SIM new": {
		strings.ReplaceAll(snapshotOf(actives(0, 40)...), ",,ACTIVE", ",2026-04-03,ACTIVE"), supply.Counts{Changed: 40}, "change 40", 0,
	},
	"nothing in it": {snapshotOf(), supply.Counts{Ended: 40}, "end 40 of 40", 0},
	"another operator's": {
		snapshotOf(airtels(0, 40)...), supply.Counts{Ended: 40, Waiting: 40}, "end 40 of 40", 0,
	},
	"numbers of nobody": {
		strings.ReplaceAll(snapshotOf(actives(0, 40)...), "+234803", "+234700"), supply.Counts{Ended: 40, Refused: 40}, "40 of its 40 rows are rejected or repeated", 40,
	},
	"times of another format": {
		strings.ReplaceAll(snapshotOf(actives(0, 40)...), "2024-02-03", "03/02/2024"), supply.Counts{Refused: 40}, "40 of its 40 rows are rejected or repeated", 40,
	},
	"every tenure restated": {
		strings.ReplaceAll(snapshotOf(actives(0, 40)...), "2024-02-03", "2023-02-03"), supply.Counts{Changed: 40}, "change 40", 0,
	},
}

// A halved, doubled, empty or restated snapshot, or that of another operator, is
// held, and nothing of it is applied until staff confirms it. A dry run reports the
// same and changes nothing.
func TestSuspiciousSnapshotsAreHeld(t *testing.T) {
	t.Parallel()
	for name, lie := range suspiciousSnapshots {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newImportEnv(t)
			k.chunk = 7
			k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
			var held supply.Import
			k.wantUnchanged("what is held", func() { held = k.run(k.create(asOf(may)), lie.content, supply.Held) })
			k.wantCounts(held, lie.counts)
			if !strings.Contains(held.Reason, lie.reason) {
				t.Errorf("it is held because: %s", held.Reason)
			}
			if got := k.refused(held); len(got) != lie.refused {
				t.Errorf("%d rows are reported as refused, want %d: %v", len(got), lie.refused, got)
			}
			if _, err := k.Begin(t.Context(), operator("MTN"), asOf(may), "cli"); !errors.Is(err, supply.ErrImportOpen) {
				t.Errorf("another import can be created: %v", err)
			}
			k.wantUnchanged("to run it again", func() { k.run(held, lie.content, supply.Held) })
			k.wantUnchanged("to cancel it", func() { k.cancel(held) })

			dry := asOf(may)
			dry.DryRun = true
			k.wantUnchanged("a dry run", func() {
				checked := k.run(k.create(dry), lie.content, supply.Checked)
				k.wantCounts(checked, lie.counts)
				if !strings.Contains(checked.Reason, lie.reason) {
					t.Errorf("it would be held because: %s", checked.Reason)
				}
			})

			applied := k.importFile(asOf(may), lie.content)
			k.wantCounts(applied, lie.counts)
			k.wantConsistent()
		})
	}
}

// A snapshot that changes little is applied without staff, and so is the first one of
// an operator, which has no lines that it could change.
func TestOrdinarySnapshotsAreNotHeld(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	rows := actives(0, 40)
	k.run(k.create(asOf(march)), snapshotOf(rows...), supply.Finished)
	rows[0] = active(0, "2026-04-01")
	rows[1] = number(1) + ",2024-02-03,2026-04-01,ACTIVE,"
	next := append(append([]string{}, rows[:39]...), active(40, "2026-04-01"))
	im := k.run(k.create(asOf(may)), snapshotOf(next...), supply.Finished)
	k.wantCounts(im, supply.Counts{Added: 1, Changed: 2, Unchanged: 37, Ended: 1})
	k.wantConsistent()
}

// A file with the same content as the last one confirms it: it is not held, changes no
// line, and extends the coverage of both topics.
func TestIdenticalSnapshotConfirmsTheLast(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	rows := append(actives(0, 40), number(40)+",UNKNOWN,NEVER,PENDING_CHURN,2026-02-27", number(41)+",2024-02-03,2026-02-20,BARRED,2026-02-21",
		number(42)+",2024-02-03,,QUARANTINED,2026-02-21")
	k.importFile(asOf(march), snapshotOf(rows...))
	k.wantUnchangedLines(func() {
		next := march.AddDate(0, 0, 10) // before the churn date
		im := k.run(k.create(asOf(next)), snapshotOf(rows...), supply.Finished)
		k.wantCounts(im, supply.Counts{Unchanged: 43})
		if diff := cmp.Diff(both(line.Span{KnownSince: march, CompleteSince: march, Through: next}), k.coverage()); diff != "" {
			t.Errorf("coverage (-want +got):\n%s", diff)
		}
	})
	k.wantConsistent()
}

// A first snapshot without any line of the operator would make all of its numbers
// unassigned, so it is held.
func TestFirstSnapshotWithoutALineIsHeld(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.wantUnchanged("an empty first snapshot", func() { k.cancel(k.run(k.create(asOf(march)), snapshotOf(), supply.Held)) })
	k.supplyThroughNow("MTN")
	k.wantStatus(number(0), "UNKNOWN NO_SUPPLY MTN")
	k.importFile(asOf(march), snapshotOf())
	k.wantStatus(number(0), "UNALLOCATED NUMBER MTN")
}

// A snapshot that is not newer than the last applied one is refused before it is
// read, also if other snapshots were held or cancelled in between.
func TestStaleSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(may), snapshotOf(actives(0, 40)...))
	for name, at := range map[string]time.Time{"older": march, "the same": may, "the same second": may.Add(999 * time.Millisecond)} {
		k.wantUnchanged(name, func() {
			if _, err := k.Begin(t.Context(), operator("MTN"), asOf(at), "cli"); !isFault(err, fault.IncompatibleState) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if _, err := k.Begin(t.Context(), operator("MTN"), asOf(k.clock.Add(time.Hour)), "cli"); !isFault(err, fault.InvalidArgument) {
		t.Errorf("a snapshot of the future: %v", err)
	}
	if _, err := k.Begin(t.Context(), operator("MTN"), supply.ImportForm{Kind: linefile.Snapshot}, "cli"); !isFault(err, fault.InvalidArgument) {
		t.Errorf("a snapshot of no time: %v", err)
	}
	if n := k.count(`SELECT count(*) FROM supply_import`); n != 1 {
		t.Errorf("%d imports are stored", n)
	}
	// A held or cancelled snapshot was not applied.
	k.cancel(k.run(k.create(asOf(k.at(2))), snapshotOf(), supply.Held))
	k.importFile(asOf(k.at(10)), snapshotOf(actives(0, 41)...))
	k.wantConsistent()
}

// A supplier with several authorities sends files as the operator that it is.
func TestOperatorOfSeveralAuthoritiesSendsItsOwnFile(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	both := newSupplier(line.Sector, "MTN")
	both.Authorities = append(both.Authorities, line.Operator)
	im, err := k.Begin(t.Context(), both, supply.ImportForm{Kind: linefile.Events}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	k.run(im, eventsOf("a1,"+number(0)+",USED,2026-05-10,,,,,,"), supply.Finished)
	k.wantOutcome(operator("MTN"), supply.Item{ID: "a1", PhoneNumber: number(0), Type: "USED", EffectiveAt: "2026-05-10"}, "DUPLICATE")
}

// A file of events extends the coverage up to its asOf, also when it is empty. One without asOf
// extends nothing: one event does not say that there were no others, and an empty file may be an
// export that failed. Neither does a file in which every event is refused.
func TestFileOfEventsExtendsTheCoverageUpToItsAsOf(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	events := supply.ImportForm{Kind: linefile.Events}
	through := supply.ImportForm{Kind: linefile.Events, AsOf: k.at(1)}
	for _, form := range []supply.ImportForm{events, through} {
		k.wantCounts(k.importFile(form, eventsOf("a1,"+airtel(0)+",ASSIGNED,2026-05-10,,,,,,")), supply.Counts{Refused: 1})
	}
	k.importFile(events, eventsHeader)
	k.wantCounts(k.importFile(events, eventsOf("a2,"+number(1)+",USED,"+k.at(2).Format(time.RFC3339)+",,,,,,")), supply.Counts{Changed: 1})
	if got := k.coverage(); got != (line.Coverage{}) {
		t.Errorf("a file without asOf, or with refused events alone, has moved the coverage: %+v", got)
	}
	k.importFile(through, eventsHeader)
	span := line.Span{KnownSince: k.clock, Through: k.at(1)}
	if diff := cmp.Diff(both(span), k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	k.days(3)
	k.importFile(supply.ImportForm{Kind: linefile.Events, AsOf: k.at(1)}, eventsHeader)
	span.Through = k.at(1)
	if diff := cmp.Diff(both(span), k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	// Voiding an event is a report, too.
	k.wantLate(operator("MTN"), k.item(number(0), "USED 2026-05-10"), "APPLIED")
	k.importFile(supply.ImportForm{Kind: linefile.Events, AsOf: k.clock}, eventsOf("a3,"+number(0)+",VOIDED,2026-05-10,,,,,w1,by mistake"))
	span.Through = k.clock
	if diff := cmp.Diff(both(span), k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// A dry run of events counts what they would do, and changes nothing. Every refused
// row is in the report and in the operator's daily counts.
func TestDryRunsOfEvents(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	content := eventsOf(
		"a1,"+number(0)+",SIM_CHANGED,2026-05-10,,,,,,",
		"a2,"+number(1)+",REINSTATED,2026-05-10,,,,,,",
		"a3,"+airtel(1)+",ASSIGNED,2026-05-10,,,,,,",
		"a3w,"+airtel(1)+",USED,2026-05-10,,,,,,",
		"a4,"+number(2)+",USED,tomorrow,,,,,,",
		"a1,"+number(0)+",SIM_CHANGED,2026-05-10,,,,,,",
		"a5,"+number(3)+",BARRED,2026-05-10,,,,,,",
		"a6,"+number(4)+",FLAGGED,2026-05-10,,HIGH,,,,",
	)
	want := supply.Counts{Changed: 1, NoEffect: 1, Waiting: 1, Duplicates: 1, Refused: 4}
	refused := []string{"4 number NOT_YOURS", "6 effectiveAt BAD_FORMAT", "8 reason MISSING", "9 type NOT_ALLOWED"}
	k.wantUnchanged("a dry run", func() {
		dry := k.run(k.create(supply.ImportForm{Kind: linefile.Events, DryRun: true}), content, supply.Checked)
		k.wantCounts(dry, want)
		k.wantRefused(dry, refused...)
	})
	im := k.importFile(supply.ImportForm{Kind: linefile.Events}, content)
	k.wantCounts(im, want)
	k.wantRefused(im, refused...)
	if got := k.count(`SELECT coalesce(sum(refused), 0) FROM supply_day`); got != len(refused) {
		t.Errorf("%d rejected rows are in the daily counts, want %d", got, len(refused))
	}
	k.wantConsistent()
}

// An import shows its state: created, held, finished.
func TestImportsHaveAState(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 5
	im := k.create(asOf(march))
	if im.State != supply.Checking || !im.Open() || !im.Finished.IsZero() {
		t.Errorf("created: %s, finished %s", im.State, im.Finished)
	}
	d := k.withClock(func() {
		if now, err := k.Import(t.Context(), im.ID); err != nil || now.Open() && !now.Finished.IsZero() {
			t.Errorf("the import is %s and finished %s, %v", now.State, now.Finished, err)
		}
	})
	im, err := d.Run(t.Context(), im.ID, k.source(snapshotOf(actives(0, 20)...)), nil)
	if err != nil || im.State != supply.Finished || im.Open() || im.Finished.IsZero() || im.Rows != 20 {
		t.Errorf("%+v, %v", im, err)
	}
	if _, err := k.Confirm(t.Context(), im.ID, console); !errors.Is(err, supply.ErrNotHeld) {
		t.Errorf("a finished import is confirmed: %v", err)
	}
	if _, err := k.Cancel(t.Context(), im.ID, console); !errors.Is(err, supply.ErrImportFinished) {
		t.Errorf("a finished import is cancelled: %v", err)
	}
	held := k.run(k.create(asOf(may)), snapshotOf(), supply.Held)
	if !held.Open() || !held.Finished.IsZero() {
		t.Errorf("held: %+v", held)
	}
	list, err := k.Imports(t.Context(), held.Network, 10)
	if err != nil || len(list) != 2 || list[0].ID != held.ID || list[1].ID != im.ID {
		t.Errorf("%d imports are listed, %v", len(list), err)
	}
	if _, err := k.Import(t.Context(), [16]byte{1}); !errors.Is(err, supply.ErrNoImport) {
		t.Errorf("there is an import that does not exist: %v", err)
	}
	if _, err := k.Confirm(t.Context(), [16]byte{1}, console); !errors.Is(err, supply.ErrNoImport) {
		t.Errorf("an import that does not exist is confirmed: %v", err)
	}
}

// A snapshot from a pipe cannot be compared before it is applied, so it must be the
// network's first.
func TestOnlyTheFirstSnapshotMayComeFromAPipe(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	pipe := func(at time.Time) supply.ImportForm {
		return supply.ImportForm{Kind: linefile.Snapshot, AsOf: at, Once: true}
	}
	k.run(k.create(pipe(march)), snapshotOf(actives(0, 40)...), supply.Finished)
	k.wantUnchanged("a second snapshot from a pipe", func() {
		if _, err := k.Begin(t.Context(), operator("MTN"), pipe(may), "cli"); !isFault(err, fault.IncompatibleState) {
			t.Errorf("a second snapshot from a pipe: %v", err)
		}
	})
}

// The rate is that of the run, without the days for which the import was held.
func TestRateExcludesTheTimeOnHold(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.chunk = 10
	k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	ticking := func(im supply.Import, want string) supply.Import {
		d := k.withClock(func() { k.clock = k.clock.Add(time.Second) })
		im, err := d.Run(t.Context(), im.ID, k.source(snapshotOf(actives(0, 80)...)), nil)
		if err != nil || im.State != want {
			t.Fatalf("%s, %v", im.State, err)
		}
		return im
	}
	held := ticking(k.create(asOf(may)), supply.Held)
	k.days(3)
	if _, err := k.Confirm(t.Context(), held.ID, console); err != nil {
		t.Fatal(err)
	}
	if im := ticking(held, supply.Finished); im.Rate() < 1 {
		t.Errorf("80 rows in a minute are %.4f a second, started %s, finished %s", im.Rate(), im.Started, im.Finished)
	}
}
