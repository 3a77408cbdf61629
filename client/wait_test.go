package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lineproof/lineproof/client"
)

// between checks that every pause is within its bounds.
func between(t *testing.T, pauses []time.Duration, bounds ...[2]time.Duration) {
	t.Helper()

	if len(pauses) != len(bounds) {
		t.Fatalf("%d pauses, want %d", len(pauses), len(bounds))
	}
	for i, pause := range pauses {
		if pause < bounds[i][0] || pause > bounds[i][1] {
			t.Errorf("pause %d took %s, want %s", i, pause, bounds[i])
		}
	}
}

// Without Retry-After, pauses grow and have jitter.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		firsts := map[time.Duration]bool{}
		for range 20 {
			s := &service{answers: []answer{{status: 503}}}
			c := s.client()
			c.Retries = 7
			_ = refused(t, calls[verifyPath](t.Context(), c))
			between(t, s.pauses(), [2]time.Duration{100 * ms, 200 * ms}, [2]time.Duration{200 * ms, 400 * ms}, [2]time.Duration{400 * ms, 800 * ms},
				[2]time.Duration{800 * ms, 1600 * ms}, [2]time.Duration{1600 * ms, 3200 * ms}, [2]time.Duration{2500 * ms, 5000 * ms}, [2]time.Duration{2500 * ms, 5000 * ms})
			firsts[s.pauses()[0]] = true
		}
		if len(firsts) < 2 {
			t.Error("the first pause is always the same")
		}
	})
}

// Retry-After is followed in seconds and as a date, by the Date header of the
// response if it has one; the client never retries early.
func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()

	at := func(now time.Time) string { return now.UTC().Format(http.TimeFormat) }
	for name, header := range map[string]func(now time.Time) http.Header{
		"seconds": func(time.Time) http.Header { return later("8") },
		"date":    func(now time.Time) http.Header { return later(at(now.Add(8 * time.Second))) },
		"date by another clock": func(now time.Time) http.Header {
			theirs := now.AddDate(1, 0, 0)
			return http.Header{"Date": {at(theirs)}, "Retry-After": {at(theirs.Add(8 * time.Second))}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &service{answers: []answer{{status: 429, header: header(time.Now())}, example(loginPath, "200 session")}}
				if err := calls[loginPath](t.Context(), s.client()); err != nil {
					t.Fatal(err)
				}
				between(t, s.pauses(), [2]time.Duration{8 * time.Second, 9 * time.Second})
			})
		})
	}
}

// An invalid Retry-After, and one in the past, are ignored.
func TestRetryAfterThatSaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{"", "soon", "-3", "1.5", "99999999999999999999", "Sat, 14 Nov 1998 09:30:00 GMT"} {
			s := &service{answers: []answer{{status: 503, header: later(text)}}}
			if e := refused(t, calls[verifyPath](t.Context(), s.client())); e.RetryAfter != 0 || len(s.asked) != 4 || time.Since(s.asked[0]) > 2*time.Second {
				t.Errorf("%q: RetryAfter is %s, %d requests", text, e.RetryAfter, len(s.asked))
			}
		}
	})
}

// If the service asks for a longer pause than the client allows, the error is
// returned at once.
func TestLongPausesAreReturnedToTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := &service{answers: []answer{{status: 429, header: later("3600"), body: coded(client.CodeQuotaExceeded)}}}, time.Now()
		e := refused(t, calls[verifyPath](t.Context(), s.client()))
		if e.RetryAfter != time.Hour || len(s.asked) != 1 || time.Since(began) != 0 {
			t.Errorf("after %s and %d requests: %v", time.Since(began), len(s.asked), e)
		}
	})
}

// No attempt starts more than a minute after the first.
func TestAttemptsEndAfterAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []answer{{status: 503, header: later("25")}}}
		c := s.client()
		c.Retries = 100
		_ = refused(t, calls[verifyPath](t.Context(), c))
		if took := time.Since(s.asked[0]); len(s.asked) != 3 || took > time.Minute {
			t.Errorf("%d requests in %s", len(s.asked), took)
		}
	})
}

// If the deadline is before the next attempt, the call returns the service's
// error at once, without waiting.
func TestDeadlineBeforeTheNextAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := &service{answers: []answer{{status: 503, header: later("2")}}}, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = refused(t, calls[verifyPath](ctx, s.client()))
		if len(s.asked) != 1 || time.Since(began) != 0 {
			t.Errorf("%d requests in %s", len(s.asked), time.Since(began))
		}
	})
}

// A call that is cancelled during a pause returns at once, with both causes.
func TestCancelWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := &service{answers: []answer{{status: 503, header: later("9"), body: coded(client.CodeUnavailable)}}}, time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		err := calls[verifyPath](ctx, s.client())
		if !errors.Is(err, context.Canceled) || client.CodeOf(err) != client.CodeUnavailable {
			t.Errorf("got %v", err)
		}
		if len(s.asked) != 1 || time.Since(began) != 3*time.Second {
			t.Errorf("%d requests in %s", len(s.asked), time.Since(began))
		}
	})
}

// A cancelled call is not retried.
func TestCancelledCallIsNotRepeated(t *testing.T) {
	t.Parallel()

	s := &service{answers: []answer{{err: context.Canceled}}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := calls[verifyPath](ctx, s.client()); !errors.Is(err, context.Canceled) || len(s.asked) > 1 {
		t.Errorf("%d requests and %v", len(s.asked), err)
	}
}

// A negative number of retries means none.
func TestRetriesCanBeTurnedOff(t *testing.T) {
	t.Parallel()

	s := &service{answers: []answer{{status: 503}}}
	c := s.client()
	c.Retries = -1
	_ = refused(t, calls[verifyPath](t.Context(), c))
	if len(s.asked) != 1 {
		t.Errorf("the service was asked %d times", len(s.asked))
	}
}
