package blob

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"
)

// ErrUnavailable reports that the store could not be reached, or could not serve,
// until the timeout.
var ErrUnavailable = errors.New("blob: the store is unavailable")

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = time.Second
)

// retry repeats a step while the bucket is unavailable. Each attempt may take
// limit; the last one starts within the bucket's timeout after the first failure.
// Its errors are those of this package, of ctx, or of the server. The library
// could retry by itself, but only a fixed number of times.
func (b *Bucket) retry(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	var giveUp time.Time
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		err := once(ctx, limit, step)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !retryable(err):
			return convert(err)
		}
		if giveUp.IsZero() {
			giveUp = time.Now().Add(b.o.Timeout)
		}
		pause := wait/2 + rand.N(wait) //nolint:gosec // jitter
		if time.Now().Add(pause).After(giveUp) {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func once(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return step(ctx)
}

// retryableCodes are the S3 error codes, besides the statuses 5xx, after which an
// operation is retried. The first three mean that the content was damaged or
// truncated on its way.
var retryableCodes = []string{
	"BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody",
	"ConditionalRequestConflict", "OperationAborted", "RequestTimeout", "SlowDown", "TooManyRequests",
}

// retryable reports whether the step may succeed when it is repeated.
func retryable(err error) bool {
	response, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return true // there was no response
	case response.StatusCode == http.StatusNotImplemented:
		return false
	}
	return response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests ||
		slices.Contains(retryableCodes, response.Code)
}

// convert converts an error of the server into one of this package.
func convert(err error) error {
	response, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return err
	case response.Code == minio.NoSuchKey:
		return ErrNotFound
	case response.StatusCode == http.StatusPreconditionFailed:
		return ErrExists
	}
	return fmt.Errorf("the bucket responded %d %s: %w", response.StatusCode, response.Code, err)
}

// newTransport returns a transport whose connections fail after idle without a
// transferred byte. A timeout for the whole request would have to be as long as
// the slowest legitimate transfer.
func newTransport(idle time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: min(idle, 5*time.Second), KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &idleTimeoutConn{Conn: conn, idle: idle}, nil
		},
		TLSHandshakeTimeout: min(idle, 10*time.Second),
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     idle,
		DisableCompression:  true, // the bytes read are the bytes written
	}
}

// idleTimeoutConn is a connection that fails when no byte is transferred.
type idleTimeoutConn struct {
	net.Conn

	idle time.Duration
}

// Read implements [net.Conn].
func (c *idleTimeoutConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements [net.Conn]. It also extends the read deadline: progress on
// the request extends its response deadline.
func (c *idleTimeoutConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(c.idle))
	}
	return n, err
}
