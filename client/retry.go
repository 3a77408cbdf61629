package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

const (
	standardRetries = 3
	retryWindow     = time.Minute            // no attempt begins later than this after the first
	firstPause      = 200 * time.Millisecond // doubled with every attempt, where the service names no time
	longestPause    = 5 * time.Second
)

// envelope is what every answer of the service looks like.
type envelope[T any] struct {
	Data T `json:"data"`
}

// send sends r, again where that is safe, and decodes the answer into a T.
// Members that T does not have are ignored: the service may add some.
func send[T any](ctx context.Context, c *Client, r *request) (answer T, err error) {
	body, err := c.sendAgain(ctx, r)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, r.incomplete() // the decoder's own words could quote the answer
	}
	return answer, nil
}

// incomplete is the error for a 200 that lacks what it must have.
func (r *request) incomplete() error {
	return r.wrong("the answer is not what the service's contract promises; does BaseURL lead to a Lineproof service?")
}

func (c *Client) sendAgain(ctx context.Context, r *request) ([]byte, error) {
	if r.form != nil {
		defer r.form.settle(ctx) // the caller gets its content back
	}
	began := time.Now()
	for n := 0; ; n++ {
		body, err := c.attempt(ctx, r)
		if err == nil {
			return body, nil
		}
		pause := pauseAfter(n, err)
		if n >= c.retries() || !r.mayRepeat(err) || !timeLeft(ctx, began, pause) || r.form != nil && !r.form.rewind(ctx) {
			return nil, fmt.Errorf("client: %s: %w", r.op, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("client: %s: %w while waiting to repeat the request after: %w", r.op, context.Cause(ctx), err)
		}
	}
}

func (c *Client) retries() int {
	if c.Retries == 0 {
		return standardRetries
	}
	return c.Retries
}

// mayRepeat reports whether r can be sent again after err without the risk of
// doing twice what was asked once.
func (r *request) mayRepeat(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.StatusCode {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return true
		case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
			return r.repeatable
		case http.StatusConflict:
			return e.Code == CodeAborted && r.header.Get("Idempotency-Key") != ""
		}
		return false
	}
	if _, ok := errors.AsType[*lost](err); !ok {
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false // it will be no better next time
	}
	return r.repeatable || neverConnected(err)
}

// neverConnected reports whether nothing of the request can have reached the
// service.
func neverConnected(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && (e.Op == "dial" || e.Op == "proxyconnect")
}

// pauseAfter is how long to wait when attempt n, counted from 0, has ended in
// err. It is uneven, so that callers who were refused together do not come back
// together.
func pauseAfter(n int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		return e.RetryAfter + uneven(min(e.RetryAfter/8, longestPause)) // never earlier than asked
	}
	pause := longestPause
	if n < 5 {
		pause = min(firstPause<<n, longestPause)
	}
	return pause/2 + uneven(pause/2)
}

func uneven(most time.Duration) time.Duration {
	return rand.N(most + 1) //nolint:gosec // spreads load; nothing depends on its being secret
}

// timeLeft reports whether an attempt after pause would still be in time.
func timeLeft(ctx context.Context, began time.Time, pause time.Duration) bool {
	if ctx.Err() != nil || time.Since(began)+pause > retryWindow {
		return false
	}
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) > pause
}
