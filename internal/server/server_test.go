package server_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/platform/hashing"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	hashing.Main()
	m.Run()
}

// running is a server in this process. Its addresses come from its log.
type running struct {
	public, private string
	begin           string // of the log, until it listens
	stop            context.CancelFunc
	done            chan error
}

func start(t *testing.T, url string, settings ...string) running {
	t.Helper()
	cfg, err := config.Load(t.Context(), append([]string{
		"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_DATA=" + t.TempDir(), "LINEPROOF_NODE=test",
	}, settings...))
	if err != nil {
		t.Fatal(err)
	}
	lines, w := io.Pipe()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	r := running{stop: stop, done: make(chan error, 1)}
	go func() {
		err := server.Run(ctx, cfg, telemetry.NewLogger(w, "info", "json", "test"))
		_ = w.Close()
		r.done <- err
	}()
	t.Cleanup(stop)
	scan := bufio.NewScanner(lines)
	for scan.Scan() {
		r.begin += scan.Text() + "\n"
		var line struct{ Msg, Public, Private string }
		if json.Unmarshal(scan.Bytes(), &line) == nil && line.Msg == "listening" {
			r.public, r.private = line.Public, line.Private
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	if r.public == "" {
		t.Fatalf("the server did not start: %v", <-r.done)
	}
	return r
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Timeout: 5 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// A fresh node is alive and ready, shows its metrics on the private listener
// only, and stops without an error when its context ends.
func TestNodeIsReadyAndStops(t *testing.T) {
	t.Parallel()
	r := start(t, pgtest.URL(t))
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := get(t, "http://"+r.private+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if _, body := get(t, "http://"+r.private+"/metrics"); !strings.Contains(body, "\nlineproof_journal_days_ahead 7\n") {
		t.Error("the metrics are missing")
	}
	for _, path := range []string{"/metrics", "/healthz", "/readyz", "/debug/pprof/"} {
		if status, _ := get(t, "http://"+r.public+path); status != http.StatusNotFound {
			t.Errorf("the public listener answers %s with %d", path, status)
		}
	}
	if status, body := get(t, "http://"+r.public+"/docs"); status != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("/docs: %d", status)
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Errorf("Run after stop = %v", err)
	}
}

// A node is not ready on a schema that is older than itself, nor without a
// partition for tomorrow, and says which it is.
func TestNodeIsNotReadyWithoutSchemaOrPartitions(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	r, super := start(t, url), pgtest.Open(t, url, "")
	for _, tc := range []struct{ sql, names string }{
		{`DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`, `"migrations":"the schema is not up to date`},
		{`DO $$ BEGIN EXECUTE 'DROP TABLE journal_entry_' || to_char((now() AT TIME ZONE 'UTC')::date + 1, 'YYYYMMDD'); END $$`, `"partitions":"the journal has no partition`},
	} {
		if _, err := super.Exec(t.Context(), tc.sql); err != nil {
			t.Fatal(err)
		}
		if status, body := get(t, "http://"+r.private+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, tc.names) {
			t.Errorf("/readyz: %d %s, want 503 that names %s", status, body, tc.names)
		}
	}
}

// A node serves on the schema of a newer release, and logs that.
func TestNodeServesOnANewerSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	if _, err := pgtest.Open(t, url, "").Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (90001, true)`); err != nil {
		t.Fatal(err)
	}
	r := start(t, url)
	if status, body := get(t, "http://"+r.private+"/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if text := r.begin; !strings.Contains(text, "the schema is that of a newer release") || !strings.Contains(text, "90001") {
		t.Errorf("the log does not say that the schema is newer:\n%s", text)
	}
}

// A node without its database is alive but not ready: an orchestrator must not
// kill it for that.
func TestNodeWithoutDatabaseIsAliveButNotReady(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), pgtest.Quick)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			cluster.Stop()
		}
	})
	if err := cluster.MakeTemplate(t.Context()); err != nil {
		t.Fatal(err)
	}
	name, err := cluster.Clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, cluster.URL(name), "LINEPROOF_DRAIN_TIMEOUT=2s")
	cluster.Stop()
	stopped = true
	if status, _ := get(t, "http://"+r.private+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	if status, body := get(t, "http://"+r.private+"/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "database") {
		t.Errorf("/readyz: %d %s", status, body)
	}
}

// A body that arrives too slowly is a client error (400). As a server error,
// anyone could trigger our alerts with it.
func TestSlowBodyIsAClientError(t *testing.T) {
	t.Parallel()
	r := start(t, pgtest.URL(t), "LINEPROOF_REQUEST_TIMEOUT=1s")
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", r.public)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const half = "POST /api/auth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant_type="
	if _, err := io.WriteString(conn, half); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "took too long to arrive") {
		t.Errorf("the response to half a body is %q, %v; want 400", answer, err)
	}
}

// A node does not start with the pepper of another database: it would refuse
// every credential.
func TestNodeWithAnotherPepperDoesNotStart(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	first := start(t, url)
	first.stop()
	if err := <-first.done; err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(t.Context(), []string{
		"LINEPROOF_DATABASE_URL=" + url, "LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0", "LINEPROOF_DATA=" + t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Run(t.Context(), cfg, slog.New(slog.DiscardHandler)); !errors.Is(err, rowmac.ErrPepper) {
		t.Errorf("Run = %v, want ErrPepper", err)
	}
}

// A database that was never migrated is not served, and the error says what to
// do.
func TestUnmigratedDatabaseIsNotServed(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(t.Context(), []string{
		"LINEPROOF_DATABASE_URL=" + pgtest.Empty(t), "LINEPROOF_DATABASE_ROLE=", "LINEPROOF_LISTEN=127.0.0.1:0", "LINEPROOF_PRIVATE_LISTEN=127.0.0.1:0",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Run(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "lineproof migrate") {
		t.Errorf("Run = %v, want an error that names the command", err)
	}
}

// A renewed certificate is served without a restart, and a broken renewal
// leaves the old one in use.
func TestCertificateIsReloadedWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, certFile, keyFile, 1)
	r := start(t, pgtest.URL(t), "LINEPROOF_TLS_CERT="+certFile, "LINEPROOF_TLS_KEY="+keyFile)
	if n := serial(t, r.public); n != 1 {
		t.Fatalf("serial %d, want 1", n)
	}
	writePair(t, certFile, keyFile, 2)
	waitFor(t, func() bool { return serial(t, r.public) == 2 })
	if err := os.WriteFile(certFile, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-time.After(1200 * time.Millisecond) // longer than the interval between two checks
	if n := serial(t, r.public); n != 2 {
		t.Errorf("after a broken renewal serial %d, want the old one", n)
	}
	if _, body := get(t, "http://"+r.private+"/metrics"); !strings.Contains(body, "\nlineproof_certificate_expiry_timestamp_seconds ") {
		t.Error("the metrics do not say when the certificate expires")
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", r.public)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	old := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err := old.HandshakeContext(t.Context()); err == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 100 {
		if ok() {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("waited five seconds in vain")
}

func serial(t *testing.T, address string) int64 {
	t.Helper()
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, ok := conn.(*tls.Conn)
	if !ok {
		t.Fatal("not TLS")
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func writePair(t *testing.T, certFile, keyFile string, number int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(number), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
