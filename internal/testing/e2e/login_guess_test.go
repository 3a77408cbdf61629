package e2e_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Of ten thousand guesses at one account at most ten are evaluated in a window,
// as many as at an address that has none, and from all networks together a
// hundred. The owner, on a device that the account knows, gets in all the same.
func TestLoginGuesses(t *testing.T) {
	guesses := size(t, "LINEPROOF_E2E_GUESSES", 300)
	w := newFixture(t, pgtest.URL(t))
	p := start(t, w)
	owner := callFrom(t, "127.9.9.7", p.public)
	defer owner.close()
	logIn := func(device string) answer {
		t.Helper()
		got, err := owner.send(post(loginPath, "application/json", encode(map[string]string{"email": adminEmail, "password": adminPassword}), "X-Device", device))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	known := logIn("new")
	device := known.header.Get("X-Device")
	if known.status != http.StatusOK || device == "" {
		t.Fatalf("the owner's first login: %d %s", known.status, known.body)
	}

	neighbour := func(n int) string { return fmt.Sprintf("127.9.9.%d", 1+n%250) }
	stranger := func(n int) string { return fmt.Sprintf("127.%d.%d.9", 20+n/250%200, 1+n%250) }
	for _, tc := range []struct {
		name, email string
		from        func(n int) string
		most        int64
	}{
		{"one account, one network", adminEmail, neighbour, 10},
		{"no account, one network", "nobody@people.example", neighbour, 10},
		{"one account, many networks", adminEmail, stranger, 100},
		{"no account, many networks", "nobody@people.example", stranger, 100},
	} {
		evaluated := guess(t, p.public, tc.email, guesses, tc.from)
		t.Logf("%s: of %d guesses %d were evaluated", tc.name, guesses, evaluated)
		if evaluated == 0 || evaluated > tc.most {
			t.Errorf("%s: %d guesses were evaluated, want 1 to %d", tc.name, evaluated, tc.most)
		}
	}
	if got := logIn("x"); got.status != http.StatusTooManyRequests {
		t.Errorf("the right password from a device that nobody knows: %d, want 429", got.status)
	}
	if got := logIn(device); got.status != http.StatusOK {
		t.Errorf("the owner on a known device: %d %s", got.status, got.body)
	}
}

// guess sends wrong passwords over several connections and returns how many were
// evaluated.
func guess(t *testing.T, address, email string, guesses int, from func(n int) string) int64 {
	t.Helper()
	var all sync.WaitGroup
	var next, evaluated atomic.Int64
	raw := post(loginPath, "application/json", encode(map[string]string{"email": email, "password": "not-the-one-38"}))
	for range 16 {
		all.Go(func() {
			for {
				n := int(next.Add(1))
				if n > guesses {
					return
				}
				conn, err := dialFrom(from(n), address)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := conn.send(raw)
				conn.close()
				switch {
				case err != nil:
					t.Error(err)
					return
				case got.status == http.StatusUnauthorized:
					evaluated.Add(1)
				case got.status != http.StatusTooManyRequests && got.status != http.StatusServiceUnavailable:
					t.Errorf("a guess was answered with %d: %s", got.status, got.body)
				}
			}
		})
	}
	all.Wait()
	return evaluated.Load()
}
