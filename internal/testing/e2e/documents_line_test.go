package e2e_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// throttle is a proxy whose rate can be limited.
type throttle struct {
	rate atomic.Int64 // bytes a second, of all connections together; 0 sets no limit

	ln net.Listener
	mu sync.Mutex // held while a connection waits for its turn
}

// newThrottle listens for connections to the server at the URL.
func newThrottle(t *testing.T, url string) *throttle {
	t.Helper()
	l := &throttle{ln: must((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		_ = l.ln.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			conn, err := l.ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { l.serve(ctx, conn, strings.TrimPrefix(url, "http://")) })
		}
	})
	return l
}

func (l *throttle) url() string { return "http://" + l.ln.Addr().String() }

// serve copies data in both directions until one side closes the connection.
func (l *throttle) serve(ctx context.Context, near net.Conn, address string) {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return // the caller sees that the server is unavailable
	}
	defer far.Close()
	stop := context.AfterFunc(ctx, func() { _, _ = near.Close(), far.Close() })
	defer stop()
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		wg.Go(func() {
			l.pass(way[0], way[1])
			// Half a connection is of no use to HTTP.
			_, _ = near.Close(), far.Close()
		})
	}
	wg.Wait()
}

func (l *throttle) pass(to io.Writer, from io.Reader) {
	piece := make([]byte, 4<<10)
	for {
		n, err := from.Read(piece)
		if rate := l.rate.Load(); rate > 0 && n > 0 {
			l.mu.Lock()
			pause(time.Duration(n) * time.Second / time.Duration(rate))
			l.mu.Unlock()
		}
		if _, broken := to.Write(piece[:n]); err != nil || broken != nil {
			return
		}
	}
}
