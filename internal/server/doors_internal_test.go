package server

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// An address has at most so many connections open; another is closed at once, and
// one that ends makes room for the next. A listed proxy has no limit.
func TestConnectionsOfOneAddressAreLimited(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		exempt []netip.Prefix
		want   int // of three connections
	}{
		"an address": {nil, 2},
		"a proxy":    {[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, 3},
	} {
		ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int32
		capped := capConnections(ln, 2, tc.exempt, func() { refused.Add(1) })
		t.Cleanup(func() { _ = capped.Close() })
		accepted := make(chan net.Conn, 8)
		go func() {
			for {
				conn, err := capped.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, "in\n")
				accepted <- conn
			}
		}()
		open := 0
		for range 3 {
			if admitted(t, ln.Addr().String()) {
				open++
			}
		}
		if open != tc.want || int(refused.Load()) != 3-tc.want {
			t.Errorf("%s: %d of 3 connections were accepted and %d counted as refused, want %d", name, open, refused.Load(), tc.want)
		}
		if err := (<-accepted).Close(); err != nil {
			t.Fatal(err)
		}
		if !admitted(t, ln.Addr().String()) {
			t.Errorf("%s: no connection is accepted after one has ended", name)
		}
	}
}

// admitted reports whether a new connection is served. It stays open.
func admitted(t *testing.T, address string) bool {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", address)
	if errors.Is(err, syscall.ECONNRESET) {
		return false // it was closed before this end had noticed that it was open
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 3))
	if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
		t.Fatal("the connection is neither served nor closed")
	}
	return n == 3
}

// A connection that is closed twice is counted once, and the last one of an address
// leaves nothing behind.
func TestClosedConnectionIsForgotten(t *testing.T) {
	t.Parallel()
	l := &cappedListener{limit: 2, open: map[netip.Addr]int{}}
	from := netip.MustParseAddr("2001:db8::")
	for i, want := range []bool{true, true, false} {
		if l.add(from) != want {
			t.Fatalf("connection %d: the limit of two does not hold", i+1)
		}
	}
	l.remove(from)
	if !l.add(from) {
		t.Error("a connection that has ended still counts")
	}
	l.remove(from)
	l.remove(from)
	if len(l.open) != 0 {
		t.Errorf("%v is left behind", l.open)
	}
}

// Failed handshakes are all counted, and one line a minute is logged, with the number
// of those that were not. Other messages of the server are logged as they come.
func TestFailedHandshakesAreCountedAndLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		failed := 0
		log := slog.NewLogLogger(&handshakeLog{Handler: slog.NewTextHandler(&text, nil), failed: func() { failed++ }}, slog.LevelWarn)
		for range 500 {
			log.Printf("http: TLS handshake error from 192.0.2.1:1: EOF")
		}
		log.Printf("http: Accept error: too many open files")
		if n := strings.Count(text.String(), "handshake"); n != 1 || failed != 500 || !strings.Contains(text.String(), "Accept error") {
			t.Errorf("%d lines about %d handshakes: %s", n, failed, &text)
		}
		<-time.After(time.Minute)
		text.Reset()
		log.Printf("http: TLS handshake error from 192.0.2.1:1: EOF")
		if failed != 501 || !strings.Contains(text.String(), "not_logged=499") {
			t.Errorf("a minute later: %s", &text)
		}
	})
}
