package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Imports are listed in pages, newest first, each once: of one network, of all
// networks, or only the unfinished ones.
func TestImportsAreListedInPages(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	var want []uuid.UUID
	for range 5 {
		im := k.create(supply.ImportForm{Kind: linefile.Events, DryRun: true})
		k.run(im, eventsOf(), supply.Checked)
		want = append([]uuid.UUID{im.ID}, want...)
	}
	other, err := k.Begin(t.Context(), operator("GLO"), supply.ImportForm{Kind: linefile.Events}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	list := func(f supply.ImportFilter) (ids []uuid.UUID, next uuid.UUID) {
		t.Helper()
		page, next, err := k.ImportPage(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page {
			ids = append(ids, page[i].ID)
		}
		return ids, next
	}
	var got []uuid.UUID
	f := supply.ImportFilter{Network: network(t, k, "MTN"), Limit: 2}
	for pages := 1; ; pages++ {
		ids, next := list(f)
		got = append(got, ids...)
		if next == uuid.Nil {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		f.After = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("MTN's:\n%s", diff)
	}
	if all, _ := list(supply.ImportFilter{Limit: 9}); len(all) != 6 || all[0] != other.ID {
		t.Errorf("of all networks: %v", all)
	}
	if open, _ := list(supply.ImportFilter{Open: true, Limit: 9}); len(open) != 1 || open[0] != other.ID {
		t.Errorf("unfinished: %v", open)
	}
}

func network(t *testing.T, k *importEnv, code string) numbering.Network {
	t.Helper()
	n, ok := k.plan.Network(code)
	if !ok {
		t.Fatalf("the plan has no %s", code)
	}
	return n
}

// Reports are counted on their day, and a day without reports has zeros.
func TestDailyReports(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	end := s.event(number(1), "ENDED", 20)
	end.Reason = "CHURNED"
	s.reportNow(operator("MTN"), end, s.event(number(2), "ASSIGNED", 1), s.event("1", "USED", 1))
	s.reportNow(operator("GLO"), s.event("+2348050000001", "ASSIGNED", 1))
	s.days(2)
	n, _ := s.plan.Network("MTN")
	got, err := s.DailyReports(t.Context(), n, s.clock.AddDate(0, 0, -2), s.clock)
	if err != nil {
		t.Fatal(err)
	}
	first := s.clock.AddDate(0, 0, -2).Truncate(24 * time.Hour)
	want := []supply.DayReport{{Day: first, Applied: 2, Late: 1, Refused: 1}, {Day: first.AddDate(0, 0, 1)}, {Day: first.AddDate(0, 0, 2)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the days:\n%s", diff)
	}
}

// The rows of a snapshot are counted on the day on which it was applied, also if their lines
// are new or have not changed; a dry run is not counted.
func TestDailyReportsHaveRowsOfSnapshots(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	file := snapshotOf(append(actives(0, 30), "x,2024-01-01,,ACTIVE,")...)
	dry := asOf(march)
	dry.DryRun = true
	k.run(k.create(dry), file, supply.Checked)
	k.run(k.create(asOf(march)), file, supply.Finished)
	k.run(k.create(asOf(march.AddDate(0, 0, 1))), file, supply.Finished)
	got, err := k.DailyReports(t.Context(), network(t, k, "MTN"), k.clock, k.clock)
	if diff := cmp.Diff([]supply.DayReport{{Day: k.clock.Truncate(24 * time.Hour), Rows: 60, Refused: 2}}, got); diff != "" || err != nil {
		t.Errorf("the day (-want +got), %v:\n%s", err, diff)
	}
}

// The sender of a held file can confirm the intent, which only writes to the audit
// trail, and can withdraw the file. Once it is being applied, only staff can cancel
// it.
func TestSendersWithdrawOnlyWhatIsNotApplied(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 40)...))
	sender := audit.Actor{Kind: audit.Account, ID: uuid.New()}
	held := k.run(k.create(asOf(may)), snapshotOf(actives(0, 20)...), supply.Held)
	meant, err := k.ConfirmIntent(t.Context(), held.ID, sender)
	if err != nil || meant.State != supply.Held || meant.Counts != held.Counts || meant.Reason != held.Reason {
		t.Errorf("intent confirmed: %+v, %v", meant, err)
	}
	back, err := k.Withdraw(t.Context(), held.ID, sender)
	if err != nil || back.State != supply.Cancelled {
		t.Errorf("withdrawn: %+v, %v", back, err)
	}
	if _, err := k.ConfirmIntent(t.Context(), held.ID, sender); !errors.Is(err, supply.ErrNotHeld) {
		t.Errorf("intent confirmed after the end: %v", err)
	}
	list, err := audit.List(t.Context(), k.Pool, audit.Filter{Subject: held.ID})
	if err != nil || len(list) != 3 || list[0].Action != audit.ImportCancelled || list[1].Action != audit.ImportMeant || !list[1].Actor.Same(sender) {
		t.Errorf("the trail has %+v, %v", list, err)
	}
	again := k.run(k.create(asOf(may)), snapshotOf(actives(0, 20)...), supply.Held)
	if _, err := k.Confirm(t.Context(), again.ID, console); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Withdraw(t.Context(), again.ID, sender); !errors.Is(err, supply.ErrTooLate) {
		t.Errorf("withdrawn while it is applied: %v", err)
	}
	if _, err := k.Withdraw(t.Context(), uuid.New(), sender); !errors.Is(err, supply.ErrNoImport) {
		t.Errorf("an import that does not exist: %v", err)
	}
}

// What an import would be refused for is known before its file is sent.
func TestReadyRefusesWhatBeginWouldRefuse(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(may), snapshotOf(actives(0, 4)...))
	check := func(name string, s supply.Supplier, f supply.ImportForm, ok bool) {
		t.Helper()
		err := k.CheckImport(t.Context(), s, f)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if _, created := k.Begin(t.Context(), s, f, "cli"); err != nil && created == nil {
			t.Errorf("%s: refused, but the import can be created", name)
		}
	}
	check("no kind", operator("MTN"), supply.ImportForm{}, false)
	check("an old snapshot", operator("MTN"), asOf(march), false)
	check("no network", operator("NOWHERE"), supply.ImportForm{Kind: linefile.Events}, false)
	check("events", operator("MTN"), supply.ImportForm{Kind: linefile.Events}, true)
	check("another beside them", operator("MTN"), supply.ImportForm{Kind: linefile.Events}, false)
}

// The first rejected rows are those at the start of the file.
func TestFirstRefusedRows(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	im := k.run(k.create(supply.ImportForm{Kind: linefile.Events}), eventsOf("a,1,USED,2026-05-01,,,,,,", "b,"+number(1)+",USED,never,,,,,,", "c,2,USED,2026-05-01,,,,,,"), supply.Finished)
	got, err := filerows.FindRejected(t.Context(), k.Pool, filerows.Filter{Import: im.Key(), Limit: 2})
	want := []filerows.Rejected{{Line: 2, Column: "number", Reason: "BAD_FORMAT", Number: "1", Value: "1"}, {Line: 3, Column: "effectiveAt", Reason: "BAD_FORMAT", Number: number(1), Value: "never"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func isFault(err error, code fault.Code) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == code
}

// A file that is named by a day is as of the end of that day in the policy's time zone, and as of now
// while the day lasts. A day that has not begun is refused.
func TestAsOfADay(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.clock = time.Date(2026, 6, 1, 23, 30, 0, 0, time.UTC) // half past midnight in Lagos
	for day, want := range map[string]string{"2026-05-30": "2026-05-30T22:59:59Z", "2026-06-01": "2026-06-01T22:59:59Z", "2026-06-02": "2026-06-01T23:30:00Z"} {
		im, err := k.Begin(t.Context(), operator("MTN"), supply.ImportForm{Kind: linefile.Events, Day: day}, "cli")
		if err != nil {
			t.Fatal(err)
		}
		if got := im.AsOf.Format(time.RFC3339); got != want {
			t.Errorf("%s is as of %s, want %s", day, got, want)
		}
		k.cancel(im)
	}
	for _, day := range []string{"2026-06-03", "2026-02-30", "2026-06-01T00:00:00Z"} {
		f := supply.ImportForm{Kind: linefile.Events, Day: day}
		if err := k.CheckImport(t.Context(), operator("MTN"), f); !isFault(err, fault.InvalidArgument) {
			t.Errorf("the check of %s: %v", day, err)
		}
		if _, err := k.Begin(t.Context(), operator("MTN"), f, "cli"); !isFault(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", day, err)
		}
	}
}

// A cancelled file says who cancelled it, and why it was held.
func TestCancelledFileSaysWhoCancelledIt(t *testing.T) {
	t.Parallel()
	k := newImportEnv(t)
	k.importFile(asOf(march), snapshotOf(actives(0, 20)...))
	held := k.run(k.create(asOf(may)), snapshotOf(active(0, "2024-02-03")), supply.Held)
	k.cancel(held)
	own := k.run(k.create(asOf(may)), snapshotOf(active(0, "2024-02-03")), supply.Held)
	if _, err := k.Withdraw(t.Context(), own.ID, audit.Actor{Kind: audit.Client, ID: uuid.New()}); err != nil {
		t.Fatal(err)
	}
	early := k.create(asOf(may))
	k.cancel(early)
	for id, want := range map[uuid.UUID]string{
		held.ID: "Staff of the regulator cancelled it. It was held: " + held.Reason, own.ID: "Its sender cancelled it. It was held: " + own.Reason,
		early.ID: "Staff of the regulator cancelled it.",
	} {
		if im, err := k.Import(t.Context(), id); err != nil || im.Reason != want {
			t.Errorf("the reason is %q, want %q (%v)", im.Reason, want, err)
		}
	}
}
