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
	defaultRetries = 3
	retryWindow    = time.Minute            // no attempt starts later than this after the first
	firstPause     = 200 * time.Millisecond // doubled with every attempt, if the service names no time
	maxPause       = 5 * time.Second
)

// envelope is the format of every response of the service.
type envelope[T any] struct {
	Data T `json:"data"`
}

// send sends r, retries it where that is safe, and decodes the response into a T.
// Unknown fields are ignored: the service may add some.
func send[T any](ctx context.Context, c *Client, r *request) (answer T, err error) {
	body, err := c.sendWithRetries(ctx, r)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return answer, r.incomplete() // the decoder's error could quote the response, which may be secret
	}
	return answer, nil
}

// sendData sends r and returns the data of its answer, unless the data lacks something that
// the contract requires.
func sendData[T any](ctx context.Context, c *Client, r *request, lacks func(*T) bool) (*T, error) {
	answer, err := send[envelope[T]](ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case lacks(&answer.Data):
		return nil, r.incomplete()
	}
	return &answer.Data, nil
}

// readData sends a request that changes nothing, and returns the data of its answer.
func readData[T any](ctx context.Context, c *Client, key Secret, op, path string, lacks func(*T) bool) (*T, error) {
	r, err := c.newRead(ctx, op, path, key)
	if err != nil {
		return nil, err
	}
	return sendData(ctx, c, r, lacks)
}

// incomplete is the error for a success that lacks required fields.
func (r *request) incomplete() error {
	return r.wrong("the response does not match the API contract; is BaseURL a Lineproof service?")
}

func (c *Client) sendWithRetries(ctx context.Context, r *request) ([]byte, error) {
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
			return nil, fmt.Errorf("client: %s: %w while waiting to retry after: %w", r.op, context.Cause(ctx), err)
		}
	}
}

func (c *Client) retries() int {
	if c.Retries == 0 {
		return defaultRetries
	}
	return c.Retries
}

// mayRepeat reports whether r can be retried after err without the risk of
// carrying it out twice.
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
		return false // a retry would fail in the same way
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
// err. It has a random part, so that callers who were refused together do not
// retry together.
func pauseAfter(n int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		return e.RetryAfter + jitter(min(e.RetryAfter/8, maxPause)) // never earlier than the service asked for
	}
	pause := maxPause
	if n < 5 {
		pause = min(firstPause<<n, maxPause)
	}
	return pause/2 + jitter(pause/2)
}

func jitter(limit time.Duration) time.Duration {
	return rand.N(limit + 1) //nolint:gosec // spreads load; nothing depends on its being secret
}

// timeLeft reports whether an attempt after pause would start in time.
func timeLeft(ctx context.Context, began time.Time, pause time.Duration) bool {
	if ctx.Err() != nil || time.Since(began)+pause > retryWindow {
		return false
	}
	deadline, limited := ctx.Deadline()
	return !limited || time.Until(deadline) > pause
}
