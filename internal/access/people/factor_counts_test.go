package people_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// wantWaits fails unless the second factor of an account counts, or waits, for everything for
// which package stepup requires one.
func (w *world) wantWaits(t *testing.T, account uuid.UUID, waits bool) {
	t.Helper()
	for name, err := range map[string]error{
		"people": w.CheckFactor(t.Context(), account, stepup.Invite), "live": w.CheckLive(t.Context(), w.pool, account, stepup.CreateWebhook),
		"keys": w.CheckKeyMaker(t.Context(), w.pool, account), "lines": w.CheckSupplier(t.Context(), w.pool, account),
	} {
		if !waits {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != fault.IncompleteAccount || len(f.Violations) != 1 || f.Violations[0].Field != people.FactorField ||
			!strings.Contains(f.Violations[0].Message, "UTC on. Follow the link in the e-mail that we sent to confirm it now.") {
			t.Errorf("%s: %v with %+v, want that the second factor waits", name, err, f)
		}
	}
}

// later logs the admin in two days after the invitation was accepted, with nothing but the
// password, as somebody who has phished it.
func (w *world) later(t *testing.T) access.Principal {
	t.Helper()
	w.move(48 * time.Hour)
	_, who := w.in(t, w.attempt(w.admin, password))
	return who
}

// Who has only the password of an account without a second factor sets one up, which counts
// for nothing for a day: the owner gets an e-mail first. A set-up that was begun long before
// waits as long.
func TestFactorSetUpWithThePasswordAloneWaitsADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := w.later(t)
	begun := must(w.BeginFactor(t.Context(), who, uuid.Nil))(t)
	w.move(7 * time.Hour)
	must(w.ConfirmFactor(t.Context(), who, w.code(t, begun.Secret), uuid.Nil))(t)
	w.wantWaits(t, who.Account, true)
	w.deliver(t)
	l := w.mail.Wait(t, w.admin, "was turned on")
	if !strings.Contains(l.Text, "/portal/confirm#") || !strings.Contains(l.Text, "do not open the link") {
		t.Errorf("the e-mail says:\n%s", l.Text)
	}
	w.move(24*time.Hour - time.Second)
	w.wantWaits(t, who.Account, true)
	w.move(time.Second)
	w.wantWaits(t, who.Account, false)
}

// The owner who follows the link in the e-mail about the set-up need not wait, and the trail
// has it. The link works once.
func TestFactorCountsOnceTheOwnerFollowsTheLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := w.later(t)
	w.enrol(t, who)
	w.wantWaits(t, who.Account, true)
	w.deliver(t)
	link, before := w.token(t, w.admin, "was turned on"), w.trail(t, audit.EmailConfirmed)
	if err := w.ConfirmEmail(t.Context(), link, audit.Actor{From: home}, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.wantWaits(t, who.Account, false)
	if n := w.trail(t, audit.EmailConfirmed) - before; n != 1 {
		t.Errorf("%d entries in the audit trail, want 1", n)
	}
	if err := w.ConfirmEmail(t.Context(), link, audit.Actor{From: home}, uuid.Nil); err == nil {
		t.Error("the link worked twice")
	}
}

// Whoever has followed a link within the last day has shown more than the password: the
// invitation, or that of a password reset. The e-mail about the set-up then asks for nothing.
func TestFactorCountsAtOnceAfterALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	w.enrol(t, who)
	w.wantWaits(t, who.Account, false)
	w.deliver(t)
	if l := w.mail.Wait(t, w.admin, "was turned on"); strings.Contains(l.Text+l.HTML, "/portal/confirm#") {
		t.Errorf("the e-mail has a link:\n%s", l.Text)
	}
	w.mail.Forget()

	other := newWorld(t)
	other.later(t)
	other.reset(t, fresh)
	_, who = other.in(t, other.attempt(other.admin, fresh))
	other.enrol(t, who)
	other.wantWaits(t, who.Account, false)
}

// reset sets a new password by e-mail.
func (w *world) reset(t *testing.T, word secret.Text) {
	t.Helper()
	if err := w.RequestReset(t.Context(), w.admin); err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	if err := w.CompleteReset(t.Context(), w.token(t, w.admin, "eset"), word, audit.Actor{From: home}, uuid.Nil); err != nil {
		t.Fatal(err)
	}
}

// An owner who resets the password because somebody has set up a second factor does not make
// that one count.
func TestResetDoesNotMakeTheFactorOfAThiefCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := w.later(t)
	w.enrol(t, who)
	w.deliver(t)
	w.mail.Forget()
	w.reset(t, fresh)
	w.wantWaits(t, who.Account, true)
}

// A factor that counts is replaced, with a code of it, by one that counts at once. Replacing
// one that waits is worth nothing.
func TestReplacedFactorCountsAtOnceIfTheOldOneDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := w.later(t)
	shared, _ := w.enrol(t, who)
	replace := func() {
		t.Helper()
		if err := w.RemoveFactor(t.Context(), who, password, w.code(t, shared), uuid.Nil); err != nil {
			t.Fatal(err)
		}
		shared, _ = w.enrol(t, who)
	}
	replace()
	w.wantWaits(t, who.Account, true)
	w.move(7 * time.Hour)
	replace()
	w.move(17 * time.Hour) // a day after the first
	w.wantWaits(t, who.Account, true)
	w.move(7 * time.Hour)
	w.wantWaits(t, who.Account, false)
	a := w.attempt(w.admin, password)
	a.OTP = w.code(t, shared)
	_, who = w.in(t, a)
	w.move(time.Minute)
	replace()
	w.wantWaits(t, who.Account, false)
}

// Staff wait likewise; logging in does not, for anybody.
func TestFactorOfStaffWaitsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.move(48 * time.Hour)
	_, who := w.in(t, w.attempt(w.staff, password))
	w.enrol(t, who)
	if err := w.CheckFactor(t.Context(), who.Account, stepup.Decide); !errors.Is(err, people.ErrFactorWaits) {
		t.Errorf("deciding: %v", err)
	}
	w.move(24 * time.Hour)
	if err := w.CheckFactor(t.Context(), who.Account, stepup.Decide); err != nil {
		t.Errorf("deciding a day later: %v", err)
	}
}

// Founders, and staff whom the operator enrols, followed no link, but set it up while somebody
// looks on: what they set up within a day counts at once, and what they set up later waits.
func TestFactorOfStaffThatWasJustEnrolledCountsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for days, email := range []string{"early@regulator.example", "late@regulator.example"} {
		made := must(w.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: email, Role: "auditor", Password: password}, operator, uuid.Nil))(t)
		w.move(time.Duration(days) * 25 * time.Hour)
		_, who := w.in(t, w.attempt(email, password))
		w.enrol(t, who)
		if err := w.CheckFactor(t.Context(), made.ID, stepup.WhoAsked); errors.Is(err, people.ErrFactorWaits) != (days > 0) {
			t.Errorf("%s: %v", email, err)
		}
	}
}

// A stolen login of the database does not make a factor older: the time is in its id, which
// the signed row of the account names.
func TestStolenDatabaseLoginDoesNotMakeAFactorOlder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	who := w.later(t)
	w.enrol(t, who)
	must(w.pool.Exec(t.Context(), `UPDATE second_factor SET confirmed_at = confirmed_at - interval '9 days', created_at = created_at - interval '9 days'`))(t)
	w.wantWaits(t, who.Account, true)
}
