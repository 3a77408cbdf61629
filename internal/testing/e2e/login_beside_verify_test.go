package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// maxLogin is how long a login may take while the service verifies at full rate.
const maxLogin = 5 * time.Second

// The process that hashes passwords has a low priority, but gets enough of a machine
// that is busy with verifications: one login after the other is timed beside them.
// The limit is enforced only if the environment says so, because other work on the
// machine counts as well.
func TestLoginBesideVerify(t *testing.T) {
	rate := size(t, "LINEPROOF_E2E_RATE", 100)
	long := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 2)) * time.Second
	w := newFixture(t, startDurable(t)())
	p := start(t, w, "LINEPROOF_ARGON2_MEMORY_KIB=19456", "LINEPROOF_ARGON2_TIME=2")
	names := w.plantPeople(t, 20, secret.Cost{})
	l := &openLoop{world: w, address: p.public, rate: rate}
	l.run(t, &phase{name: "while it warms up"}, func(ctx context.Context) error { return pass(ctx, time.Second) })
	var times []time.Duration
	beside := &phase{name: fmt.Sprintf("at %d/s, beside logins", rate)}
	l.run(t, beside, func(ctx context.Context) error {
		for begin, n := time.Now(), 0; time.Since(begin) < long; n++ {
			took, err := logIn(p.public, names[n%len(names)])
			if err != nil {
				return err
			}
			times = append(times, took)
			_ = pass(ctx, 100*time.Millisecond) // the context does not end before the phase
		}
		return nil
	})
	beside.report(t)
	slices.Sort(times)
	longest := times[len(times)-1]
	t.Logf("%d logins, one after the other: median %s, longest %s", len(times), times[len(times)/2].Round(time.Millisecond), longest.Round(time.Millisecond))
	if os.Getenv("LINEPROOF_E2E_ENFORCE") != "" && longest > maxLogin {
		t.Errorf("a login took %s, more than %s", longest, maxLogin)
	}
}

// logIn logs in with the right password and returns how long that took.
func logIn(address, email string) (time.Duration, error) {
	conn, err := dialFrom(anyLoopback(), address)
	if err != nil {
		return 0, err
	}
	defer conn.close()
	begin := time.Now()
	got, err := conn.send(post(loginPath, "application/json", encode(map[string]string{"email": email, "password": adminPassword})))
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("a login was answered with %d: %s", got.status, got.body)
	}
	return time.Since(begin), err
}
