package supply_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/supply"
)

// lies are snapshots that must not become truth without anybody looking, as they
// come upon forty lines.
var lies = map[string]struct {
	content string
	counts  supply.Counts
	reason  string // a part of it
	refused int
}{
	"halved": {
		of(actives(0, 20)...), supply.Counts{Unchanged: 20, Ended: 20}, "It would add 0 lines, change 0 and end 20 of 40, more than 10 percent.", 0,
	},
	"cut off by more than a tenth": {
		of(actives(0, 35)...), supply.Counts{Unchanged: 35, Ended: 5}, "end 5 of 40", 0,
	},
	"doubled by being written twice": {
		of(actives(0, 40)...) + of(actives(0, 40)...),
		supply.Counts{Unchanged: 40, Duplicates: 40, Refused: 41},
		"41 of its 81 rows are refused or stand twice, more than 10 percent.", 41,
	},
	"doubled by every row": {
		of(append(actives(0, 40), actives(0, 40)...)...),
		supply.Counts{Unchanged: 40, Duplicates: 40, Refused: 40},
		"40 of its 80 rows are refused or stand twice", 40,
	},
	"doubled by new numbers": {
		of(actives(0, 80)...), supply.Counts{Unchanged: 40, Added: 40}, "It would add 40 lines, change 0 and end 0 of 40", 0,
	},
	"every tenure new": {
		strings.ReplaceAll(of(actives(0, 40)...), "2024-02-03", "2026-04-03"), supply.Counts{Changed: 40}, "change 40", 0,
	},
	"every SIM new": {
		strings.ReplaceAll(of(actives(0, 40)...), ",,ACTIVE", ",2026-04-03,ACTIVE"), supply.Counts{Changed: 40}, "change 40", 0,
	},
	"nothing in it": {of(), supply.Counts{Ended: 40}, "end 40 of 40", 0},
	"the same again": {
		of(actives(0, 40)...), supply.Counts{Unchanged: 40}, "The same file was applied before, as of another time.", 0,
	},
	"another operator's": {
		of(airtels(0, 40)...), supply.Counts{Ended: 40, Refused: 40}, "40 of its 40 rows are refused", 40,
	},
	"numbers of nobody": {
		strings.ReplaceAll(of(actives(0, 40)...), "+234803", "+234700"), supply.Counts{Ended: 40, Refused: 40}, "40 of its 40 rows are refused", 40,
	},
	"times of another format": {
		strings.ReplaceAll(of(actives(0, 40)...), "2024-02-03", "03/02/2024"), supply.Counts{Refused: 40}, "40 of its 40 rows are refused", 40,
	},
	"an older one's tenures": {
		strings.ReplaceAll(of(actives(0, 40)...), "2024-02-03", "2023-02-03"), supply.Counts{Refused: 40}, "40 of its 40 rows are refused", 40,
	},
}

// A halved, doubled, empty or repeated snapshot, and that of another operator,
// wait for staff, and until then nothing of them is applied. A dry run of them
// says the same and changes nothing. Confirmed, they are applied.
func TestLiesAreHeld(t *testing.T) {
	t.Parallel()
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newIntake(t)
			k.chunk = 7
			k.take(asOf(march), of(actives(0, 40)...))
			var held supply.Import
			k.unchanged("what is held", func() { held = k.run(k.begin(asOf(may)), lie.content, supply.Held) })
			k.counts(held, lie.counts)
			if !strings.Contains(held.Reason, lie.reason) {
				t.Errorf("it is held because: %s", held.Reason)
			}
			if got := k.refused(held); len(got) != lie.refused {
				t.Errorf("%d rows are reported as refused, want %d: %v", len(got), lie.refused, got)
			}
			if _, err := k.Begin(t.Context(), operator("MTN"), asOf(may), "cli"); !errors.Is(err, supply.ErrImportOpen) {
				t.Errorf("another import begins beside it: %v", err)
			}
			k.unchanged("to run it again", func() { k.run(held, lie.content, supply.Held) })
			k.unchanged("to cancel it", func() { k.cancel(held) })

			dry := asOf(may)
			dry.DryRun = true
			k.unchanged("a dry run", func() {
				checked := k.run(k.begin(dry), lie.content, supply.Checked)
				k.counts(checked, lie.counts)
				if !strings.Contains(checked.Reason, lie.reason) {
					t.Errorf("it would be held because: %s", checked.Reason)
				}
			})

			applied := k.take(asOf(may), lie.content)
			k.counts(applied, lie.counts)
			k.sound()
		})
	}
}

// A snapshot that changes little is applied at once, and one of an operator of
// which nothing is known has nothing that it could change.
func TestOrdinarySnapshotsAreNotHeld(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	rows := actives(0, 40)
	k.run(k.begin(asOf(march)), of(rows...), supply.Finished)
	rows[0] = active(0, "2026-04-01")
	rows[1] = number(1) + ",2024-02-03,2026-04-01,ACTIVE,"
	next := append(append([]string{}, rows[:39]...), active(40, "2026-04-01"))
	im := k.run(k.begin(asOf(may)), of(next...), supply.Finished)
	k.counts(im, supply.Counts{Added: 1, Changed: 2, Unchanged: 37, Ended: 1})
	k.sound()
}

// A first snapshot without a line of the operator's would make all of its
// numbers unassigned: staff looks at it.
func TestFirstSnapshotWithoutALineIsHeld(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.unchanged("an empty first snapshot", func() { k.cancel(k.run(k.begin(asOf(march)), of(), supply.Held)) })
	k.reaches("MTN")
	k.is(number(0), "UNKNOWN NO_SUPPLY MTN")
	k.take(asOf(march), of())
	k.is(number(0), "UNALLOCATED NUMBER MTN")
}

// A snapshot that is not newer than the last one is refused before it is read,
// whatever happened to others meanwhile.
func TestStaleSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(may), of(actives(0, 40)...))
	for name, at := range map[string]time.Time{"older": march, "the same": may, "the same second": may.Add(999 * time.Millisecond)} {
		k.unchanged(name, func() {
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
		t.Errorf("%d imports are kept", n)
	}
	// A held or cancelled one is none that was applied.
	k.cancel(k.run(k.begin(asOf(k.at(2))), of(), supply.Held))
	k.take(asOf(k.at(10)), of(actives(0, 41)...))
	k.sound()
}

// Only an operator has lines of which it can send a file.
func TestOnlyOperatorsImport(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	for _, a := range []line.Authority{line.ClearingHouse, line.Sector, line.Regulator} {
		if _, err := k.Begin(t.Context(), speaker(a, "MTN"), asOf(march), "cli"); !isFault(err, fault.PermissionDenied) {
			t.Errorf("%s: %v", a, err)
		}
	}
	// Whoever speaks for several is the operator here.
	both := speaker(line.ClearingHouse, "MTN")
	both.Authorities = append(both.Authorities, line.Operator)
	im, err := k.Begin(t.Context(), both, supply.ImportForm{Kind: linefile.Events}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	k.run(im, told("a1,"+number(0)+",USED,2026-05-10,,,,,,"), supply.Finished)
	k.says(operator("MTN"), supply.Item{ID: "a1", PhoneNumber: number(0), Type: "USED", EffectiveAt: "2026-05-10"}, "DUPLICATE")
}

// An empty file of events says that there is nothing to report: a supply. One in
// which nothing is right is none.
func TestFileWithNothingToReportIsASupply(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	events := supply.ImportForm{Kind: linefile.Events}
	through := supply.ImportForm{Kind: linefile.Events, AsOf: k.at(1)}
	for _, form := range []supply.ImportForm{events, through} {
		k.counts(k.take(form, told("a1,"+airtel(0)+",USED,2026-05-10,,,,,,")), supply.Counts{Refused: 1})
	}
	if got := k.coverage(); got != (line.Coverage{}) {
		t.Errorf("refused events have moved the coverage: %+v", got)
	}
	k.take(events, eventsHeader)
	want := line.Coverage{KnownSince: k.clock, Through: k.clock}
	if diff := cmp.Diff(want, k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	k.days(3)
	k.take(supply.ImportForm{Kind: linefile.Events, AsOf: k.at(1)}, eventsHeader)
	want.Through = k.at(1)
	if diff := cmp.Diff(want, k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	// To withdraw an event is to report.
	k.says(operator("MTN"), k.written(number(0), "USED 2026-05-10"), "APPLIED")
	k.take(supply.ImportForm{Kind: linefile.Events, AsOf: k.clock}, told("a2,"+number(0)+",VOIDED,2026-05-10,,,,,w1,by mistake"))
	want.Through = k.clock
	if diff := cmp.Diff(want, k.coverage()); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// A dry run of events says what would become of them, and changes nothing. All
// that is refused is in the report and in the operator's account.
func TestDryRunsOfEvents(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(march), of(actives(0, 40)...))
	content := told(
		"a1,"+number(0)+",SIM_CHANGED,2026-05-10,,,,,,",
		"a2,"+number(1)+",RETURNED,2026-05-10,,,,,,",
		"a3,"+airtel(1)+",USED,2026-05-10,,,,,,",
		"a4,"+number(2)+",USED,tomorrow,,,,,,",
		"a1,"+number(0)+",SIM_CHANGED,2026-05-10,,,,,,",
		"a5,"+number(3)+",BARRED,2026-05-10,,,,,,",
		"a6,"+number(4)+",FLAGGED,2026-05-10,,HIGH,,,,",
	)
	want := supply.Counts{Changed: 1, NoEffect: 1, Duplicates: 1, Refused: 4}
	refused := []string{"4 number NOT_YOURS", "5 effectiveAt BAD_FORMAT", "7 reason MISSING", "8 type NOT_ALLOWED"}
	k.unchanged("a dry run", func() {
		dry := k.run(k.begin(supply.ImportForm{Kind: linefile.Events, DryRun: true}), content, supply.Checked)
		k.counts(dry, want)
		k.refuses(dry, refused...)
	})
	im := k.take(supply.ImportForm{Kind: linefile.Events}, content)
	k.counts(im, want)
	k.refuses(im, refused...)
	if got := k.count(`SELECT coalesce(sum(refused), 0) FROM supply_day`); got != len(refused) {
		t.Errorf("%d refused rows are in the account, want %d", got, len(refused))
	}
	k.sound()
}

// An import tells how it stands: begun, held, over.
func TestImportsTellHowTheyStand(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.chunk = 5
	im := k.begin(asOf(march))
	if im.State != supply.Checking || !im.Open() || !im.Finished.IsZero() {
		t.Errorf("begun: %s, finished %s", im.State, im.Finished)
	}
	d := k.clocked(func() {
		if now, err := k.Import(t.Context(), im.ID); err != nil || now.Open() && !now.Finished.IsZero() {
			t.Errorf("the import is %s and finished %s, %v", now.State, now.Finished, err)
		}
	})
	im, err := d.Run(t.Context(), im.ID, k.source(of(actives(0, 20)...)), nil)
	if err != nil || im.State != supply.Finished || im.Open() || im.Finished.IsZero() || im.Rows != 20 {
		t.Errorf("%+v, %v", im, err)
	}
	if _, err := k.Confirm(t.Context(), im.ID, console); !errors.Is(err, supply.ErrNotHeld) {
		t.Errorf("what is over is confirmed: %v", err)
	}
	if _, err := k.Cancel(t.Context(), im.ID, console); !errors.Is(err, supply.ErrImportOver) {
		t.Errorf("what is over is cancelled: %v", err)
	}
	held := k.run(k.begin(asOf(may)), of(), supply.Held)
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

// A snapshot from a pipe cannot be compared before it is applied: it must be the
// first.
func TestPipesAreForTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	pipe := func(at time.Time) supply.ImportForm {
		return supply.ImportForm{Kind: linefile.Snapshot, AsOf: at, Once: true}
	}
	k.run(k.begin(pipe(march)), of(actives(0, 40)...), supply.Finished)
	k.unchanged("a second snapshot from a pipe", func() {
		if _, err := k.Begin(t.Context(), operator("MTN"), pipe(may), "cli"); !isFault(err, fault.IncompatibleState) {
			t.Errorf("a second snapshot from a pipe: %v", err)
		}
	})
}

// The rate is that of the work, not of the days for which an import was held.
func TestRateLeavesTheWaitingOut(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.chunk = 10
	k.take(asOf(march), of(actives(0, 40)...))
	ticking := func(im supply.Import, want string) supply.Import {
		d := k.clocked(func() { k.clock = k.clock.Add(time.Second) })
		im, err := d.Run(t.Context(), im.ID, k.source(of(actives(0, 80)...)), nil)
		if err != nil || im.State != want {
			t.Fatalf("%s, %v", im.State, err)
		}
		return im
	}
	held := ticking(k.begin(asOf(may)), supply.Held)
	k.days(3)
	if _, err := k.Confirm(t.Context(), held.ID, console); err != nil {
		t.Fatal(err)
	}
	if im := ticking(held, supply.Finished); im.Rate() < 1 {
		t.Errorf("80 rows in a minute are %.4f a second, begun %s, over %s", im.Rate(), im.Started, im.Finished)
	}
}
