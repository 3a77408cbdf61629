package people_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A person who knows the old password sets a new one; other sessions end, this
// one stays, and the owner gets an e-mail. The rules for passwords apply.
func TestPasswordChangeNeedsTheOldOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.in(t, w.attempt(w.admin, password))
	here, who := w.in(t, w.attempt(w.admin, password))
	for name, tc := range map[string]struct {
		old, fresh secret.Text
		want       string
	}{
		"wrong old one": {"wrong", fresh, fault.NotAllowed},
		"too short":     {password, "short", fault.TooShort},
		"too common":    {password, "password1", fault.TooCommon},
		"own words":     {password, "HarbourBank2026", fault.OwnWords},
	} {
		err := w.ChangePassword(t.Context(), who, tc.old, tc.fresh, uuid.Nil)
		if f, ok := errors.AsType[*fault.Error](err); !ok || len(f.Violations) == 0 || f.Violations[0].Code != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.ChangePassword(t.Context(), who, password, fresh, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if !w.stands(t, here) || w.stands(t, other) {
		t.Error("the wrong sessions ended")
	}
	if _, err := w.LogIn(t.Context(), w.attempt(w.admin, password), uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("the old password: %v", err)
	}
	w.in(t, w.attempt(w.admin, fresh))
	w.deliver(t)
	w.mail.Wait(t, w.admin, "was changed")
	if w.trail(t, audit.PasswordChanged) != 1 {
		t.Error("the trail does not have it")
	}
}

// A person with a stolen session has ten attempts at the password, and cannot
// use up those of the owner.
func TestAttemptsWithinASessionAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	evaluated := 0
	for range 200 {
		if err := w.ChangePassword(t.Context(), who, "wrong", fresh, uuid.Nil); fault.CodeOf(err) == fault.InvalidArgument {
			evaluated++
		}
		w.move(time.Second)
	}
	if evaluated != 10 {
		t.Errorf("%d guesses were evaluated, want 10", evaluated)
	}
	w.in(t, w.attempt(w.admin, password))
}

// The link of the e-mail sets a new password once, within half an hour; every
// session ends and every known device is deleted, a second factor stays. Of two
// concurrent uses one succeeds.
func TestResetLinkWorksOnceForHalfAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attempt(w.admin, password)
	a.Device = "new"
	session, who := w.in(t, a)
	shared, _ := w.enrol(t, who)
	ask := func() string {
		if err := w.RequestReset(t.Context(), strings.ToUpper(w.admin)); err != nil {
			t.Fatal(err)
		}
		w.deliver(t)
		return w.token(t, w.admin, "Reset your password")
	}
	late := ask()
	w.move(31 * time.Minute)
	complete := func(token string) error {
		return w.CompleteReset(t.Context(), token, fresh, audit.Actor{From: abroad}, uuid.Nil)
	}
	if err := complete(late); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a late link: %v", err)
	}
	first, second := ask(), ask()
	var all sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		all.Go(func() { results <- complete(second) })
	}
	all.Wait()
	close(results)
	good := 0
	for err := range results {
		if err == nil {
			good++
		} else if fault.CodeOf(err) != fault.InvalidArgument {
			t.Error(err)
		}
	}
	if good != 1 {
		t.Errorf("the link worked %d times", good)
	}
	if err := complete(first); err == nil {
		t.Error("an earlier link works after a later one was used")
	}
	if w.stands(t, session) {
		t.Error("a session from before still stands")
	}
	var devices int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM login_device`).Scan(&devices); err != nil || devices != 0 {
		t.Errorf("%d devices are still known, %v", devices, err)
	}
	a.Password, a.Device = fresh, ""
	if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrFactorMissing) {
		t.Errorf("the second factor is gone: %v", err)
	}
	a.OTP = w.code(t, shared)
	w.in(t, a)
}

// A request for a new password returns and does the same for an address without
// an account. At most three e-mails are sent in half an hour, and none to those
// who may not log in.
func TestResetRequestRevealsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(w.CreateInvited(t.Context(), people.InviteForm{Email: "asked@bank.example", Kind: "member", Entity: w.bank.ID}, operator, uuid.Nil))(t)
	w.queued = nil
	for _, email := range []string{w.admin, "nobody@bank.example", "nobody", "asked@bank.example"} {
		for range 10 {
			if err := w.RequestReset(t.Context(), email); err != nil {
				t.Fatalf("%s: %v", email, err)
			}
		}
		if len(w.queued) != 3 {
			t.Errorf("%s: %d jobs are queued, want 3", email, len(w.queued))
		}
		w.deliver(t)
		want := 0
		if email == w.admin {
			want = 3
		}
		if got := len(w.mail.Messages()); got != want {
			t.Errorf("%s: %d letters, want %d", email, got, want)
		}
		w.mail.Forget()
	}
}

// A forged link, or one for another purpose, is rejected.
func TestInvalidLinksAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.RequestReset(t.Context(), w.admin); err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	token := w.token(t, w.admin, "Reset your password")
	if err := w.ConfirmEmail(t.Context(), token, audit.Actor{}, uuid.Nil); err == nil {
		t.Error("a link for a new password confirms an address")
	}
	if _, err := w.Accept(t.Context(), token, "X", fresh, audit.Actor{}, uuid.Nil); err == nil {
		t.Error("a link for a new password accepts an invitation")
	}
	for _, made := range []string{"", "x", secret.New("lp_lnk_").Reveal(), token + "x"} {
		if err := w.CompleteReset(t.Context(), made, fresh, audit.Actor{}, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", made, err)
		}
	}
}
