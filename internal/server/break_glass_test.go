package server_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// breaks returns what break-glass does for the request of a case: whether it is possible,
// and a second before and at the end of the delay.
func (w *twoPeople) breaks(id uuid.UUID, by audit.Actor) (used, early, late error) {
	_, used = w.approvals.BreakGlass(w.Context(), id, "Both are away", by, uuid.Nil)
	at := func(d time.Duration) error {
		later := *w.approvals
		now := time.Now()
		later.Now = func() time.Time { return now.Add(d) }
		_, err := later.Confirm(w.Context(), id, by, uuid.Nil)
		return err
	}
	return used, at(approval.BreakGlassDelay - time.Minute), at(approval.BreakGlassDelay)
}

// Break-glass is one person, after 24 hours and a notice to all staff, for every action
// whose rule allows it, and for none of the others: never to void, to release or to
// change the policy.
func TestBreakGlassTakesOnePersonADayAndANotice(t *testing.T) {
	t.Parallel()
	for _, a := range approval.Actions {
		if a.Rule == approval.OnePerson || a.Order {
			if a.BreakGlass {
				t.Errorf("%s has break-glass", a.Kind)
			}
			continue
		}
		t.Run(string(a.Kind), func(t *testing.T) {
			t.Parallel()
			c := actionCases[a.Kind]
			w := newTwoPeople(t, c.prepare)
			id := value(pendingOf(c.request(w, w.ada)))(t)
			used, early, late := w.breaks(id, w.ada)
			if !a.BreakGlass {
				if !errors.Is(used, approval.ErrNoBreakGlass) || !errors.Is(late, approval.ErrSecondPerson) || c.done(w) {
					t.Errorf("%v, then %v", used, late)
				}
				return
			}
			if used != nil || !errors.Is(early, approval.ErrTooEarly) || late != nil || !c.done(w) {
				t.Errorf("%v, too early %v, after the delay %v", used, early, late)
			}
			if !w.holds(`count(*) = (SELECT count(*) FROM account WHERE kind = 'staff' AND disabled_at IS NULL OR id = $1) FROM river_job WHERE args->>'letter' = 'break_glass'`, w.subject) {
				t.Error("not all staff were notified")
			}
			if got := value(w.approvals.Find(t.Context(), id))(t); got.State != approval.Approved || got.DecidedBy.Kind != audit.System {
				t.Errorf("the second person was %+v", got.DecidedBy)
			}
		})
	}
}

// Everybody who could confirm a request can refuse it during the delay. Nobody uses
// break-glass for the request of another, or twice.
func TestBreakGlassCanBeRefusedForADay(t *testing.T) {
	t.Parallel()
	c := actionCases["entity.limits"]
	w := newTwoPeople(t, nil)
	id := value(pendingOf(c.request(w, access.Operator)))(t)
	for _, other := range []audit.Actor{w.ada, w.puppet(access.Operator)} {
		if _, err := w.approvals.BreakGlass(t.Context(), id, "Both are away", other, uuid.Nil); !errors.Is(err, approval.ErrNotRequester) {
			t.Errorf("by another: %v", err)
		}
	}
	if _, err := w.approvals.BreakGlass(t.Context(), id, "Both are away", access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.approvals.BreakGlass(t.Context(), id, "Both are away", access.Operator, uuid.Nil); !errors.Is(err, approval.ErrBroken) {
		t.Errorf("twice: %v", err)
	}
	w.refuse(approval.Action{}, id, w.ada)
	if _, _, late := w.breaks(id, access.Operator); !errors.Is(late, approval.ErrNotWaiting) || c.done(w) {
		t.Errorf("after it was refused: %v", late)
	}
}

// A role that one person gave with break-glass is not the work of two: they and that
// account do not count as two people.
func TestBreakGlassMakesNoIndependentPeople(t *testing.T) {
	t.Parallel()
	c := actionCases["staff.role"]
	w := newTwoPeople(t, nil)
	id := value(pendingOf(c.request(w, w.ada)))(t)
	if _, _, err := w.breaks(id, w.ada); err != nil || !c.done(w) {
		t.Fatal(err)
	}
	raised := audit.Actor{Kind: audit.Account, ID: w.member}
	if err := registry.CheckIndependent(t.Context(), w.pool, w.ada, raised); !errors.Is(err, approval.ErrNotIndependent) {
		t.Errorf("the two are independent: %v", err)
	}
}

// The administrator whom a request would remove cannot reject it, or they could never be
// removed; others can. That one person does it alone, with break-glass, they can refuse.
func TestNobodyRejectsTheirOwnRemoval(t *testing.T) {
	t.Parallel()
	c := actionCases["staff.remove"]
	w := newTwoPeople(t, nil)
	id := value(pendingOf(c.request(w, w.ada)))(t)
	about := audit.Actor{Kind: audit.Account, ID: w.subject}
	reject := func() error {
		_, err := w.approvals.Refuse(t.Context(), id, "I stay", about, uuid.Nil)
		return err
	}
	if err := reject(); !errors.Is(err, approval.ErrAboutYou) {
		t.Errorf("they reject it themselves: %v", err)
	}
	w.refuse(approval.Action{}, id, w.bola)
	id = value(pendingOf(c.request(w, w.ada)))(t)
	if _, err := w.approvals.BreakGlass(t.Context(), id, "Both are away", w.ada, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if err := reject(); err != nil || c.done(w) {
		t.Errorf("they refuse break-glass: %v", err)
	}
}

// Whoever may be one person with an administrator does not reject their removal either, or
// they could never be removed: neither an account that they created, nor who created them.
func TestPuppetDoesNotRejectTheRemovalOfItsMaker(t *testing.T) {
	t.Parallel()
	c := actionCases["staff.remove"]
	w := newTwoPeople(t, nil)
	id := value(pendingOf(c.request(w, w.ada)))(t)
	about := audit.Actor{Kind: audit.Account, ID: w.subject}
	puppet := w.puppet(about)
	reject := func(id uuid.UUID) error {
		_, err := w.approvals.Refuse(t.Context(), id, "They stay", puppet, uuid.Nil)
		return err
	}
	if err := reject(id); !errors.Is(err, approval.ErrAboutYou) {
		t.Errorf("their puppet rejects it: %v", err)
	}
	w.refuse(approval.Action{}, id, w.bola)
	id = value(pendingOf(c.request(w, w.ada)))(t)
	if _, err := w.approvals.BreakGlass(t.Context(), id, "Both are away", w.ada, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if err := reject(id); err != nil {
		t.Errorf("break-glass of one person can be refused by everybody: %v", err)
	}
}
