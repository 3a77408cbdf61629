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

// ErrAway says that the store could not be reached, or could not serve, for as
// long as was waited for it.
var ErrAway = errors.New("blob: the store is away")

const (
	shortestWait = 50 * time.Millisecond
	longestWait  = time.Second
)

// try repeats a step while the bucket is away. Each time the step may take
// limit; the last time begins within the bucket's patience after the first one
// failed. Its errors are those of this package, of ctx, or of the server. The
// library could repeat steps by itself, but knows no end but a count.
func (b *Bucket) try(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	var giveUp time.Time
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		err := once(ctx, limit, step)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !passes(err):
			return meaning(err)
		}
		if giveUp.IsZero() {
			giveUp = time.Now().Add(b.o.Patience)
		}
		pause := wait/2 + rand.N(wait) //nolint:gosec // only so that not all come at once
		if time.Now().Add(pause).After(giveUp) {
			return fmt.Errorf("%w: %w", ErrAway, err)
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

// Answers of a server that may be another one at the next try, beside its 5xx.
// The first three say that the content was damaged or cut on its way.
var passing = []string{
	"BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody",
	"ConditionalRequestConflict", "OperationAborted", "RequestTimeout", "SlowDown", "TooManyRequests",
}

// passes reports whether the step may succeed when it is repeated.
func passes(err error) bool {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return true // there was no answer
	case answer.StatusCode == http.StatusNotImplemented:
		return false
	}
	return answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests ||
		slices.Contains(passing, answer.Code)
}

// meaning turns what the server answered into the errors of this package.
func meaning(err error) error {
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return err
	case answer.Code == minio.NoSuchKey:
		return ErrNotFound
	case answer.StatusCode == http.StatusPreconditionFailed:
		return ErrExists
	}
	return fmt.Errorf("the bucket answered %d %s: %w", answer.StatusCode, answer.Code, err)
}

// newTransport returns a transport whose connections end when the other side
// neither takes nor gives a byte for so long. A limit on the whole request would
// have to be as long as the slowest honest transfer.
func newTransport(idle time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: min(idle, 5*time.Second), KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &livelyConn{Conn: conn, idle: idle}, nil
		},
		TLSHandshakeTimeout: min(idle, 10*time.Second),
		MaxIdleConnsPerHost: 32,
		IdleConnTimeout:     idle,
		DisableCompression:  true, // what is read is what was written
	}
}

// livelyConn is a connection that fails when nothing moves.
type livelyConn struct {
	net.Conn

	idle time.Duration
}

// Read implements [net.Conn].
func (c *livelyConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements [net.Conn]. It moves the deadline of the read that waits for
// the answer, too: while the request moves, nobody is late with it.
func (c *livelyConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(c.idle))
	}
	return n, err
}
