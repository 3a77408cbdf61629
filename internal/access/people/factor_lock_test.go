package people_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// guess sends wrong codes, with enough time between them, until one is not evaluated,
// and returns how many were.
func (w *world) guess(t *testing.T, most int) (evaluated int) {
	t.Helper()
	a := w.attempt(w.admin, password)
	a.OTP = "wrong-code"
	for range most {
		w.move(31 * time.Minute)
		_, err := w.LogIn(t.Context(), a, uuid.Nil)
		if errors.Is(err, people.ErrFactorLocked) {
			return evaluated
		}
		if !errors.Is(err, people.ErrBadLogin) {
			t.Fatal(err)
		}
		evaluated++
	}
	return evaluated
}

// However slowly somebody who knows the password guesses codes, after a hundred wrong
// ones in a row none is evaluated any more, not even the right one. The owner gets an
// e-mail, the trail an entry, each once.
func TestHundredWrongCodesLockTheFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, codes := w.enrol(t, who)
	a := w.attempt(w.admin, password)
	if n := w.guess(t, 99); n != 99 {
		t.Fatalf("%d wrong codes were evaluated, want 99", n)
	}
	w.move(31 * time.Minute)
	a.OTP = w.code(t, shared)
	w.in(t, a) // the hundredth is right: the count starts again
	if n := w.guess(t, 150); n != 100 {
		t.Errorf("%d wrong codes were evaluated, want 100", n)
	}
	for _, otp := range []string{w.code(t, shared), codes[0].Reveal(), "wrong-code"} {
		a.OTP = otp
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrFactorLocked) {
			t.Errorf("a code for a locked factor: %v, want ErrFactorLocked", err)
		}
	}
	a.OTP, a.Password = w.code(t, shared), "wrong"
	if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("with a wrong password: %v, which tells that the factor is locked", err)
	}
	w.mail.Forget()
	w.deliver(t)
	w.mail.Wait(t, w.admin, "is locked")
	if n := w.trail(t, audit.FactorLocked); n != 1 {
		t.Errorf("%d entries say that the factor was locked, want 1", n)
	}
}

// Of wrong codes that arrive together, no more than a hundred are evaluated.
func TestParallelCodesAreCountedBeforeTheyAreEvaluated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	w.enrol(t, who)
	must(w.pool.Exec(t.Context(), `UPDATE second_factor SET wrong_codes = 95`))(t)
	var wrong, locked atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			session := who
			session.ID = uuid.New() // attempts are counted by session
			err := w.RemoveFactor(t.Context(), session, password, "wrong-code", uuid.Nil)
			switch {
			case errors.Is(err, people.ErrFactorLocked):
				locked.Add(1)
			case fault.CodeOf(err) == fault.InvalidArgument:
				wrong.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if wrong.Load() != 5 || locked.Load() != 27 {
		t.Errorf("%d codes were evaluated and %d refused, want 5 and 27", wrong.Load(), locked.Load())
	}
	if n := w.trail(t, audit.FactorLocked); n != 1 {
		t.Errorf("%d entries say that the factor was locked, want 1", n)
	}
}

// A locked factor is unlocked by a colleague who is admin, by an administrator of the
// regulator or by the operator; never by its owner, by members or by strangers.
func TestFactorIsUnlockedBySomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, _ := w.enrol(t, who)
	lock := func() {
		must(w.pool.Exec(t.Context(), `UPDATE second_factor SET wrong_codes = 100, locked_at = now()`))(t)
	}
	lock()
	session := func(p access.Principal) access.Principal {
		p.Kind, p.Account = access.Session, uuid.New()
		return p
	}
	for name, c := range map[string]struct {
		by   access.Principal
		want fault.Code
	}{
		"the owner":  {who, fault.IncompatibleState},
		"a member":   {session(access.Principal{Entity: who.Entity}), fault.PermissionDenied},
		"a stranger": {session(access.Principal{Entity: uuid.New(), Manages: true}), fault.NotFound},
		"a reviewer": {session(access.Principal{Role: access.Reviewer}), fault.PermissionDenied},
	} {
		if err := w.UnlockFactorOf(t.Context(), who.Account, c.by, uuid.Nil); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	account := must(w.Registry.Account(t.Context(), w.pool, who.Account))(t)
	for name, unlock := range map[string]func() error{
		"an admin": func() error {
			return w.UnlockFactorOf(t.Context(), who.Account, session(access.Principal{Entity: who.Entity, Manages: true}), uuid.Nil)
		},
		"an administrator": func() error {
			return w.UnlockFactorOf(t.Context(), who.Account, session(access.Principal{Role: access.Administrator}), uuid.Nil)
		},
		"the operator": func() error { return w.UnlockFactor(t.Context(), account, operator, uuid.Nil) },
	} {
		lock()
		if err := unlock(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := unlock(); !errors.Is(err, people.ErrNotLocked) {
			t.Errorf("%s, again: %v, want ErrNotLocked", name, err)
		}
		w.move(time.Minute)
		a := w.attempt(w.admin, password)
		a.OTP = w.code(t, shared)
		w.in(t, a)
	}
	if n := w.trail(t, audit.FactorUnlocked); n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
}
