package people_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// With a second factor the password alone is not enough, and only the right
// password reveals that. A wrong code gets the same error as a wrong password,
// and counts as an attempt.
func TestSecondFactorIsRequiredAfterTheRightPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, _ := w.enrol(t, who)
	a := w.attempt(w.admin, password)
	for range 20 { // being told so is no guess
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrFactorMissing) {
			t.Fatal(err)
		}
	}
	a.Password = "wrong"
	if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("a wrong password without a code: %v", err)
	}
	a.Password, a.OTP = password, w.code(t, shared)
	w.in(t, a)
	evaluated := 0
	for range 200 {
		a.OTP = "000000"
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); errors.Is(err, people.ErrBadLogin) {
			evaluated++
		} else if fault.CodeOf(err) != fault.TooManyRequests {
			t.Fatal(err)
		}
		w.move(time.Second)
	}
	if evaluated > 9 || evaluated < 8 { // one guess was the wrong password; a guessed code may be right once in a blue moon
		t.Errorf("%d wrong codes were evaluated, want 9", evaluated)
	}
}

// A code is accepted once, also when it is sent twice at the same time, and
// never one of an earlier step after a later one.
func TestCodeIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, _ := w.enrol(t, who)
	early := w.code(t, shared)
	w.move(30 * time.Second)
	a := w.attempt(w.admin, password)
	a.OTP = w.code(t, shared)
	var all sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		all.Go(func() {
			_, err := w.LogIn(t.Context(), a, uuid.Nil)
			results <- err
		})
	}
	all.Wait()
	close(results)
	good := 0
	for err := range results {
		if err == nil {
			good++
		}
	}
	if good != 1 {
		t.Errorf("the code was accepted %d times", good)
	}
	w.move(20 * time.Minute) // past the pauses; the codes are long over
	w.move(15 * time.Minute)
	a.OTP = early
	if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
		t.Errorf("an old code: %v", err)
	}
	w.move(-35 * time.Minute) // as if the clock of the server were put back
	if _, err := w.LogIn(t.Context(), a, uuid.Nil); err == nil {
		t.Error("a code of an earlier step was accepted after a later one")
	}
}

// Each of ten recovery codes works once, however it is typed, and the audit
// trail records how many are left.
func TestRecoveryCodesWorkOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	_, codes := w.enrol(t, who)
	if len(codes) != 10 {
		t.Fatalf("%d codes", len(codes))
	}
	a := w.attempt(w.admin, password)
	for i, code := range codes {
		a.OTP = code.Reveal()
		if i%2 == 1 {
			a.OTP = strings.ToUpper(strings.ReplaceAll(a.OTP, "-", " "))
		}
		w.in(t, a)
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
			t.Fatalf("a code was taken twice: %v", err)
		}
		w.move(31 * time.Minute)
	}
	if n := w.trail(t, audit.RecoveryUsed); n != 10 {
		t.Errorf("%d entries, want 10", n)
	}
}

// Staff without a second factor get a session that allows only setting it up;
// then it becomes a full one, and other sessions end. People of entities need
// none.
func TestStaffMustSetUpASecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, _ := w.in(t, w.attempt(w.staff, password))
	l, who := w.in(t, w.attempt(w.staff, password))
	if !l.Limited || !who.Limited {
		t.Fatalf("%+v, %+v", l, who)
	}
	w.enrol(t, who)
	if who := must(w.Access.Authenticate(t.Context(), l.Text.Reveal(), home))(t); who.Limited {
		t.Error("the session is still limited")
	}
	if w.stands(t, other) {
		t.Error("a session from before the second factor still stands")
	}
	if l, _ := w.in(t, w.attempt(w.admin, password)); l.Limited {
		t.Error("the admin of an entity is limited")
	}
	w.StaffFactor = false
	if err := w.ResetFactor(t.Context(), who.Account, "", operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if l, _ := w.in(t, w.attempt(w.staff, password)); l.Limited {
		t.Error("staff are limited although the setting does not ask for it")
	}
}

// A second factor is removed by its owner with password and code, or by the
// operator; a stolen session is not enough to replace it.
func TestSecondFactorIsNotRemovedByASessionAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, _ := w.enrol(t, who)
	if _, err := w.BeginFactor(t.Context(), who, uuid.Nil); !errors.Is(err, people.ErrHasFactor) {
		t.Errorf("beginning another: %v", err)
	}
	if _, err := w.ConfirmFactor(t.Context(), who, w.code(t, shared), uuid.Nil); !errors.Is(err, people.ErrNoFactor) {
		t.Errorf("confirming it twice: %v", err)
	}
	for name, tc := range map[string]struct {
		password secret.Text
		code     string
	}{"wrong password": {"wrong", w.code(t, shared)}, "wrong code": {password, "12345"}} {
		if err := w.RemoveFactor(t.Context(), who, tc.password, tc.code, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := w.RemoveFactor(t.Context(), who, password, w.code(t, shared), uuid.Nil); err != nil {
		t.Fatal(err)
	}
	w.in(t, w.attempt(w.admin, password))
	w.deliver(t)
	w.mail.Wait(t, w.admin, "was turned on")
	w.mail.Wait(t, w.admin, "was removed")
}

// The stored secret is encrypted: it cannot be decrypted for another account;
// with a new pepper it is encrypted again when it is used, and then the old
// pepper can be retired.
func TestSecretIsEncryptedUnderThePepper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	shared, codes := w.enrol(t, who)
	var row string
	if err := w.pool.QueryRow(t.Context(), `SELECT f::text || array_agg(c::text)::text FROM second_factor f JOIN recovery_code c USING (account_id) GROUP BY f.*`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	for _, s := range append(codes, shared) {
		if strings.Contains(row, s.Reveal()) {
			t.Errorf("the database holds a secret in the clear")
		}
	}
	const old, young = "a pepper for tests, thirty-two bytes long", "another pepper for tests, also long enough"
	try := func(list ...secret.Text) error {
		w.move(time.Minute)
		w.Peppers = must(secret.NewPeppers(list))(t)
		a := w.attempt(w.admin, password)
		a.OTP = w.code(t, shared)
		_, err := w.LogIn(t.Context(), a, uuid.Nil)
		return err
	}
	if err := try(young); err == nil || errors.Is(err, people.ErrBadLogin) {
		t.Errorf("under a strange pepper: %v, want an error that is nobody's guess", err)
	}
	if err := errors.Join(try(young, old), try(young)); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}

// An administrator of the regulator resets the second factor of others, but not
// their own: an unattended session must not be enough.
func TestFactorIsResetBySomebodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	w.enrol(t, who)
	other := uuid.New()
	if has, err := w.FactorsOf(t.Context(), []uuid.UUID{who.Account, other}); err != nil || !has[who.Account].Enabled || has[other].Enabled {
		t.Fatalf("factors %v, %v", has, err)
	}
	for name, c := range map[string]struct {
		by   access.Principal
		want fault.Code
	}{
		"an admin":   {access.Principal{Kind: access.Session, Account: other, Entity: who.Entity, Manages: true}, fault.PermissionDenied},
		"a reviewer": {access.Principal{Kind: access.Session, Account: other, Role: access.Reviewer}, fault.PermissionDenied},
		"the same":   {access.Principal{Kind: access.Session, Account: who.Account, Role: access.Administrator}, fault.IncompatibleState},
	} {
		if err := w.ResetFactorOf(t.Context(), who.Account, "Lost it", c.by, uuid.Nil); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.agree(t, w.ResetFactorOf(t.Context(), who.Account, "Lost it", access.Principal{Kind: access.Session, Account: w.administrator(t).ID, Role: access.Administrator}, uuid.Nil))
	if has, err := w.FactorsOf(t.Context(), []uuid.UUID{who.Account}); err != nil || len(has) != 0 {
		t.Errorf("factors %v, %v", has, err)
	}
}
