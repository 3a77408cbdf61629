package pg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/peer"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A proxy between the service and a PostgreSQL on another machine that answers "no TLS here" gets
// nothing of the service: what would fall back to plain text is refused before it connects, and
// with verified TLS the connection ends.
func TestProxyWithoutTLSIsRefused(t *testing.T) {
	t.Parallel()
	const name = "db.lineproof.test" // another machine, as far as the driver can know
	server, authority, err := pgtest.StartTLS(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	direct := address(t, server.URL("postgres"))
	dials := map[string]string{"": direct, "refusing": refusingProxy(t, direct)}
	// reach connects to the name, through a proxy or not, and reports whether that was with TLS.
	reach := func(query, proxy string, unverified bool) (tls bool, err error) {
		cfg, err := pg.Config(t.Context(), fmt.Sprintf("postgres://postgres@%s:%s/postgres?%s", name, "5432", query), pg.Options{Conns: 1, Unverified: unverified})
		if err != nil {
			return false, err
		}
		cfg.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
		cfg.ConnConfig.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, dials[proxy])
		}
		pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
		if err != nil {
			return false, err
		}
		defer pool.Close()
		err = pool.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&tls)
		return tls, err
	}
	verified := "sslmode=verify-full&sslrootcert=" + url.QueryEscape(authority)
	if tls, err := reach(verified, "", false); err != nil || !tls {
		t.Errorf("verified TLS to the server itself: %v, %v", tls, err)
	}
	if tls, err := reach("sslmode=prefer", "refusing", true); err != nil || tls {
		t.Errorf("the proxy does not do what the test is about: an operator who allows it connects with TLS %v, %v", tls, err)
	}
	for _, query := range []string{"", "sslmode=prefer", "sslmode=disable", "sslmode=allow", "sslmode=require", "sslmode=verify-ca&sslrootcert=" + url.QueryEscape(authority)} {
		if _, err := reach(query, "refusing", false); !errors.Is(err, peer.ErrUnverified) {
			t.Errorf("%q: %v, want ErrUnverified", query, err)
		}
	}
	if _, err := reach(verified, "refusing", false); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("verified TLS through the proxy: %v, want a refusal", err)
	}
	if _, err := reach("sslmode=verify-full", "", false); err == nil {
		t.Error("a server whose authority nobody knows was accepted")
	}
}

func address(t *testing.T, of string) string {
	t.Helper()
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// refusingProxy answers every request for TLS with "no" and passes on the rest.
func refusingProxy(t *testing.T, server string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go refuseTLS(from, server)
		}
	}()
	return l.Addr().String()
}

func refuseTLS(from net.Conn, server string) {
	defer from.Close()
	var request [8]byte // its length and the code of SSLRequest
	if _, err := io.ReadFull(from, request[:]); err != nil {
		return
	}
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer to.Close()
	if request == [8]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f} {
		_, _ = from.Write([]byte("N"))
	} else {
		_, _ = to.Write(request[:])
	}
	go func() { _, _ = io.Copy(to, from) }()
	_, _ = io.Copy(from, to)
}
