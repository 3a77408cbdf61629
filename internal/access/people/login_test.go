package people_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Every wrong combination gets the same error, whatever the reason.
func TestEveryWrongLoginGetsTheSameError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.join(t, people.InviteForm{Email: "gone@bank.example", Kind: "member", Entity: w.bank.ID})
	if err := w.DisableAccount(t.Context(), gone, "", operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	must(w.CreateInvited(t.Context(), people.InviteForm{Email: "asked@bank.example", Kind: "member", Entity: w.bank.ID}, operator, uuid.Nil))(t)
	for name, a := range map[string]people.Attempt{
		"wrong password":   w.attempt(w.admin, "wrong"),
		"unknown address":  w.attempt("nobody@bank.example", password),
		"no address":       w.attempt("nobody", password),
		"removed account":  w.attempt("gone@bank.example", password),
		"not accepted yet": w.attempt("asked@bank.example", password),
		"empty password":   w.attempt(w.admin, ""),
	} {
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
			t.Errorf("%s: %v, want ErrBadLogin", name, err)
		}
	}
	if l, who := w.in(t, w.attempt("NGOZI@bank.example", password)); l.FullName != "Ngozi Eze" || !l.Verified || who.Entity != w.bank.ID || !who.Manages {
		t.Errorf("the right combination gave %+v, %+v", l, who)
	}
}

// Of many attempts at one account from one network ten are evaluated in
// a window, and as many of those at an address without an account; the errors
// are the same. Afterwards there are ten more.
func TestTenAttemptsAreEvaluatedInAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type seen struct {
		evaluated int
		text      string
	}
	guess := func(email string) (s seen) {
		for range 200 { // enough to outlast every pause
			_, err := w.LogIn(t.Context(), w.attempt(email, "wrong"), uuid.Nil)
			f, ok := errors.AsType[*fault.Error](err)
			switch {
			case !ok:
				t.Fatal(err)
			case errors.Is(err, people.ErrBadLogin):
				s.evaluated++
			case f.Code != fault.TooManyRequests || f.RetryAfter < time.Second:
				t.Fatalf("%+v", f)
			default:
				s.text = f.Message
			}
			w.move(time.Second)
		}
		return s
	}
	for round := range 2 {
		known, unknown := guess(w.admin), guess("nobody@bank.example")
		if known.evaluated != 10 || known != unknown {
			t.Errorf("round %d: %+v for an account, %+v without one", round, known, unknown)
		}
		if _, err := w.LogIn(t.Context(), w.attempt(w.admin, password), uuid.Nil); fault.CodeOf(err) != fault.TooManyRequests {
			t.Errorf("the right password was evaluated: %v", err)
		}
		w.move(31 * time.Minute)
	}
	var rows int
	if err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM login_trouble`).Scan(&rows); err != nil || rows == 0 {
		t.Fatal(rows, err)
	}
	if err := w.RecordFailures(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.DeleteExpired(t.Context()); err != nil || n < int64(rows) {
		t.Errorf("%d of %d rows are forgotten, %v", n, rows, err)
	}
}

// The pauses between attempts grow: none at first, then a second, doubled each
// time.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var at []int
	for second := range 100 {
		if _, err := w.LogIn(t.Context(), w.attempt(w.admin, "wrong"), uuid.Nil); errors.Is(err, people.ErrBadLogin) {
			at = append(at, second)
		}
		w.move(time.Second)
	}
	if want := []int{0, 1, 2, 3, 4, 6, 10, 18, 34, 66}; !slices.Equal(at, want) {
		t.Errorf("guesses were evaluated at the seconds %v, want %v", at, want)
	}
}

// Of many concurrent attempts only the allowed number is evaluated.
func TestConcurrentAttemptsAreCountedBeforeTheyAreEvaluated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Passwords = secret.NewPasswords(w.Peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 100, 100) // as on a large machine
	var all sync.WaitGroup
	var mu sync.Mutex
	evaluated := 0
	for range 100 {
		all.Go(func() {
			if _, err := w.LogIn(t.Context(), w.attempt(w.admin, "wrong"), uuid.Nil); errors.Is(err, people.ErrBadLogin) {
				mu.Lock()
				defer mu.Unlock()
				evaluated++
			}
		})
	}
	all.Wait()
	if evaluated == 0 || evaluated > 10 {
		t.Errorf("%d were evaluated, want 1 to 10", evaluated)
	}
}

// From all networks together a hundred attempts are evaluated. The owner, on a
// known device, can still log in; a stranger with the same password cannot, and
// a device of another account does not help.
func TestOwnerCannotBeLockedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asks := w.attempt(w.admin, password)
	asks.Device = "new"
	l, _ := w.in(t, asks)
	if l.Device == "" {
		t.Fatal("the device was given nothing")
	}
	other := w.attempt(w.staff, password)
	other.Device = "new"
	stranger, _ := w.in(t, other)

	evaluated := 0
	for i := range 300 {
		a := w.attempt(w.admin, secret.Text(fmt.Sprint("wrong", i)))
		a.From = netip.AddrFrom4([4]byte{203, 0, byte(i), 9})
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); errors.Is(err, people.ErrBadLogin) {
			evaluated++
		}
	}
	if evaluated != 100 {
		t.Errorf("%d guesses from 300 networks were evaluated, want 100", evaluated)
	}
	for name, device := range map[string]string{"no device": "", "somebody else's": stranger.Device.Reveal(), "made up": secret.New("lp_dev_").Reveal()} {
		a := w.attempt(w.admin, password)
		a.Device = device
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); fault.CodeOf(err) != fault.TooManyRequests {
			t.Errorf("%s: %v, want to be told to wait", name, err)
		}
	}
	a := w.attempt(w.admin, password)
	a.Device = l.Device.Reveal()
	if again, _ := w.in(t, a); again.Device != "" {
		t.Error("a known device was given something new")
	}
	// It has ten guesses of its own, and no more.
	evaluated = 0
	for range 200 {
		a.Password = "wrong"
		if _, err := w.LogIn(t.Context(), a, uuid.Nil); errors.Is(err, people.ErrBadLogin) {
			evaluated++
		}
		w.move(time.Second)
	}
	if evaluated != 10 {
		t.Errorf("the known device had %d guesses, want 10", evaluated)
	}
}

// Successful logins are not counted, however many there are, and do not reset
// failed ones.
func TestRightLoginsAreNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 150 {
		if i%20 == 0 && i < 100 {
			if _, err := w.LogIn(t.Context(), w.attempt(w.admin, "wrong"), uuid.Nil); !errors.Is(err, people.ErrBadLogin) {
				t.Fatal(err)
			}
			w.move(2 * time.Second)
		}
		w.in(t, w.attempt(w.admin, password))
	}
	var tries []int32
	if err := w.pool.QueryRow(t.Context(), `SELECT array_agg(tries ORDER BY tries) FROM login_trouble WHERE tries > 0`).Scan(&tries); err != nil || len(tries) != 2 || tries[0] != 5 || tries[1] != 5 {
		t.Errorf("counted %v (%v), want 5 of the network and 5 of the account", tries, err)
	}
}

// Addresses of one network of IPv4 or IPv6 share their attempts; others do not.
func TestNetworksAreCountedAsAWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	try := func(address string) bool {
		a := w.attempt(w.admin, "wrong")
		a.From = netip.MustParseAddr(address)
		_, err := w.LogIn(t.Context(), a, uuid.Nil)
		return errors.Is(err, people.ErrBadLogin)
	}
	for _, tc := range []struct{ first, same, other string }{
		{"198.51.100.%d", "198.51.100.250", "198.51.101.1"},
		{"2001:db8:7:%d::1", "2001:db8:7:ffff::9", "2001:db8:8::1"},
		{"::ffff:203.0.113.%d", "203.0.113.250", "203.0.114.1"},
	} {
		for i := range 4 { // then there is a pause
			try(fmt.Sprintf(tc.first, i+1))
		}
		if try(tc.same) || !try(tc.other) {
			t.Errorf("%s: neighbour evaluated %v, stranger %v", tc.first, try(tc.same), try(tc.other))
		}
	}
}

// A session records its source address and user agent, and the audit trail has
// the login.
func TestLoginIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, who := w.in(t, w.attempt(w.admin, password))
	list := must(w.Access.Sessions(t.Context(), who.Account))(t)
	if len(list) != 1 || list[0].From != home.String() || list[0].Agent != "tests" || list[0].ID != who.ID {
		t.Errorf("sessions: %+v", list)
	}
	if n := w.trail(t, audit.LoggedIn); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}
