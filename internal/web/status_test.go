package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

// An error that is not a fault becomes the transport's fault for it, with the
// error kept as the cause.
func TestErrorsBecomeFaults(t *testing.T) {
	t.Parallel()
	faults := web.Faults{
		Internal: fault.New(fault.Internal, "internal"), Unavailable: fault.New(fault.Unavailable, "unavailable"),
		TooSlow: fault.New(fault.Unavailable, "slow"), TooLarge: fault.New(fault.PayloadTooLarge, "large"),
	}
	own := fault.New(fault.NotFound, "own")
	for want, err := range map[string]error{
		"own": fmt.Errorf("wrapped: %w", own), "slow": fmt.Errorf("query: %w", context.DeadlineExceeded),
		"large": &http.MaxBytesError{Limit: 1}, "internal": errors.New("broken"),
	} {
		f := faults.Of(err)
		if f.Message != want || f != own && !errors.Is(f, err) {
			t.Errorf("%v became %q with the cause %v, want %q", err, f.Message, f.Err, want)
		}
	}
}

// Every 429 and 503 says when to retry, and so does a fault that names a time.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code    fault.Code
		wait    time.Duration
		seconds int
		ok      bool
	}{
		{fault.Unavailable, 0, 1, true},
		{fault.TooManyRequests, 90 * time.Second, 90, true},
		{fault.Aborted, 5 * time.Second, 5, true},
		{fault.NotFound, 0, 1, false},
	} {
		f := fault.New(c.code, "x")
		f.RetryAfter = c.wait
		if seconds, ok := web.RetryAfter(f); seconds != c.seconds || ok != c.ok {
			t.Errorf("%s with %s: %d, %t", c.code, c.wait, seconds, ok)
		}
	}
}
