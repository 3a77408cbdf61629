package server_test

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Over TLS every response tells browsers to use nothing else, TLS 1.2 is spoken with
// AEAD suites only, and a handshake that fails is counted.
func TestTLSIsStrict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, certFile, keyFile, 1)
	r := start(t, pgtest.URL(t), "LINEPROOF_TLS_CERT="+certFile, "LINEPROOF_TLS_KEY="+keyFile, "LINEPROOF_HSTS_SUBDOMAINS=true", "LINEPROOF_REPORT_URL=https://reports.example/csp")
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
	for _, path := range []string{"/docs", "/portal/sign-in", "/api/nowhere"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.public+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("Strict-Transport-Security"); got != "max-age=31536000; includeSubDomains" {
			t.Errorf("%s: Strict-Transport-Security is %q", path, got)
		}
		if got := res.Header.Get("Reporting-Endpoints"); got != `csp="https://reports.example/csp"` {
			t.Errorf("%s: Reporting-Endpoints is %q", path, got)
		}
		if got := res.Header.Get("Content-Security-Policy"); got != "" && !strings.HasSuffix(got, "; report-to csp") {
			t.Errorf("%s: browsers report nothing: %q", path, got)
		}
	}
	accepted := 0
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if suite.SupportedVersions[0] == tls.VersionTLS13 {
			continue
		}
		d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}}}
		conn, err := d.DialContext(t.Context(), "tcp", r.public)
		if err != nil {
			continue
		}
		_ = conn.Close()
		accepted++
		if !strings.Contains(suite.Name, "_GCM_") && !strings.Contains(suite.Name, "POLY1305") {
			t.Errorf("%s is accepted", suite.Name)
		}
	}
	if accepted == 0 {
		t.Error("no suite of TLS 1.2 is accepted")
	}
	if _, body := get(t, "http://"+r.private+"/metrics"); strings.Contains(body, "\nlineproof_tls_handshake_failures_total 0\n") || !strings.Contains(body, "\nlineproof_tls_handshake_failures_total ") {
		t.Error("failed handshakes are not counted")
	}
}
