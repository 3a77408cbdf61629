package supply_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/supply"
)

// Imports are listed in pages, newest first, each once: of one network, or of
// all, or only those that are not over.
func TestImportsAreListedInPages(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	var want []uuid.UUID
	for range 5 {
		im := k.begin(supply.ImportForm{Kind: linefile.Events, DryRun: true})
		k.run(im, told(), supply.Checked)
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
		t.Errorf("not over: %v", open)
	}
}

func network(t *testing.T, k *intake, code string) numbering.Network {
	t.Helper()
	n, ok := k.plan.Network(code)
	if !ok {
		t.Fatalf("the plan has no %s", code)
	}
	return n
}

// A day on which nothing was told is a day with nothing, and what was told stands
// on its day.
func TestDaysCountWhatWasTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	end := s.event(number(1), "ENDED", 20)
	end.Reason = "CHURNED"
	s.tell(operator("MTN"), end, s.event(number(2), "ASSIGNED", 1), s.event("1", "USED", 1))
	s.tell(operator("GLO"), s.event("+2348050000001", "ASSIGNED", 1))
	s.days(2)
	n, _ := s.plan.Network("MTN")
	got, err := s.Days(t.Context(), n, s.clock.AddDate(0, 0, -2), s.clock)
	if err != nil {
		t.Fatal(err)
	}
	first := s.clock.AddDate(0, 0, -2).Truncate(24 * time.Hour)
	want := []supply.DayTold{{Day: first, Accepted: 2, Late: 1, Refused: 1}, {Day: first.AddDate(0, 0, 1)}, {Day: first.AddDate(0, 0, 2)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the days:\n%s", diff)
	}
}

// The sender of a held file can say that it is meant, which changes nothing but
// the trail, and can take it back. Once it is being applied, only staff can end it.
func TestSendersTakeBackOnlyWhatIsNotApplied(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(march), of(actives(0, 40)...))
	sender := audit.Actor{Kind: audit.Account, ID: uuid.New()}
	held := k.run(k.begin(asOf(may)), of(actives(0, 20)...), supply.Held)
	meant, err := k.Mean(t.Context(), held.ID, sender)
	if err != nil || meant.State != supply.Held || meant.Counts != held.Counts || meant.Reason != held.Reason {
		t.Errorf("said to be meant: %+v, %v", meant, err)
	}
	back, err := k.Withdraw(t.Context(), held.ID, sender)
	if err != nil || back.State != supply.Cancelled {
		t.Errorf("taken back: %+v, %v", back, err)
	}
	if _, err := k.Mean(t.Context(), held.ID, sender); !errors.Is(err, supply.ErrNotHeld) {
		t.Errorf("said to be meant when it is over: %v", err)
	}
	list, err := audit.List(t.Context(), k.Pool, audit.Filter{Subject: held.ID})
	if err != nil || len(list) != 3 || list[0].Action != audit.ImportCancelled || list[1].Action != audit.ImportMeant || !list[1].Actor.Same(sender) {
		t.Errorf("the trail has %+v, %v", list, err)
	}
	again := k.run(k.begin(asOf(may)), of(actives(0, 20)...), supply.Held)
	if _, err := k.Confirm(t.Context(), again.ID, console); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Withdraw(t.Context(), again.ID, sender); !errors.Is(err, supply.ErrTooLate) {
		t.Errorf("taken back while it is applied: %v", err)
	}
	if _, err := k.Withdraw(t.Context(), uuid.New(), sender); !errors.Is(err, supply.ErrNoImport) {
		t.Errorf("an import that does not exist: %v", err)
	}
}

// What a file would be refused for anyway is known before it is sent.
func TestReadySaysWhatStandsAgainstAFile(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	k.take(asOf(may), of(actives(0, 4)...))
	check := func(name string, s supply.Speaker, f supply.ImportForm, ok bool) {
		t.Helper()
		err := k.Ready(t.Context(), s, f)
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if _, begun := k.Begin(t.Context(), s, f, "cli"); err != nil && begun == nil {
			t.Errorf("%s: said not to be ready, and begins", name)
		}
	}
	check("no kind", operator("MTN"), supply.ImportForm{}, false)
	check("an old snapshot", operator("MTN"), asOf(march), false)
	check("no network", operator("NOWHERE"), supply.ImportForm{Kind: linefile.Events}, false)
	check("events", operator("MTN"), supply.ImportForm{Kind: linefile.Events}, true)
	check("another beside them", operator("MTN"), supply.ImportForm{Kind: linefile.Events}, false)
}

// The first refused rows are those of the file's beginning.
func TestFirstRefusedRows(t *testing.T) {
	t.Parallel()
	k := newIntake(t)
	im := k.run(k.begin(supply.ImportForm{Kind: linefile.Events}), told("a,1,USED,2026-05-01,,,,,,", "b,"+number(1)+",USED,never,,,,,,", "c,2,USED,2026-05-01,,,,,,"), supply.Finished)
	got, err := k.FirstRefused(t.Context(), im, 2)
	want := []supply.RefusedRow{{Line: 2, Column: "number", Reason: "BAD_FORMAT"}, {Line: 3, Column: "effectiveAt", Reason: "BAD_FORMAT"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
