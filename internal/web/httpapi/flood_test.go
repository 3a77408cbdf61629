package httpapi_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// Of a flood of logins, a few are processed at a time; the rest get 503 with
// Retry-After, and verifications continue.
func TestLoginFloodIsCappedAndLeavesVerifyAlone(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	_, email := s.onboarded(t, s.token(t))
	s.Verifier.Timeout = 2 * time.Second
	s.handler = s.Handler()
	s.People.Passwords = secret.NewPasswords(s.People.Peppers, secret.Cost{MemoryKiB: 8 << 10, Time: 2, Threads: 1}, 1, 4)
	before := s.pool.Stat().AcquireCount()
	var wg sync.WaitGroup
	var busy, wrong atomic.Int32
	for range 300 {
		wg.Go(func() {
			res := s.do(t, post(loginPath, "", `{"email":"`+email+`","password":"a guess"}`))
			switch {
			case res.Code == http.StatusUnauthorized:
				wrong.Add(1)
			case res.Code == http.StatusTooManyRequests && res.Header().Get("Retry-After") != "": // after some that were wrong
			case res.Code == http.StatusServiceUnavailable && res.Header().Get("Retry-After") != "":
				busy.Add(1)
			default:
				t.Errorf("a login in the flood answered %d: %s", res.Code, res.Body)
			}
			if n := s.People.Passwords.InFlight(); n > 1 {
				t.Errorf("%d passwords are hashed at once, want at most 1", n)
			}
		})
	}
	for range 20 {
		wg.Go(func() {
			if res := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`)); res.Code != http.StatusOK {
				t.Errorf("a verification beside the flood answered %d: %s", res.Code, res.Body)
			}
		})
	}
	wg.Wait()
	if taken := s.pool.Stat().AcquireCount() - before; taken > 300 {
		t.Errorf("the flood took %d connections, want only those of the logins that were worked on", taken)
	}
	if busy.Load() == 0 || wrong.Load() == 0 {
		t.Errorf("%d were refused as busy and %d as wrong; want some of each", busy.Load(), wrong.Load())
	}
}
