package operate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// certificateFor writes a certificate that is valid for the given time, and its
// key, into files.
func certificateFor(t *testing.T, from, until time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// The verdict on a certificate depends on its remaining time.
func TestCertificateVerdicts(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		from, until time.Duration
		want        verdict
	}{
		"valid":         {-day, 90 * day, passed},
		"expires soon":  {-day, 5 * day, warning},
		"expired":       {-9 * day, -day, failure},
		"not yet valid": {day, 90 * day, failure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, key := certificateFor(t, time.Now().Add(tc.from), time.Now().Add(tc.until))
			r := &report{}
			r.certificate(config.Config{TLSCert: cert, TLSKey: key})
			if len(r.findings) != 1 || r.findings[0].Verdict != tc.want {
				t.Errorf("findings = %v, want one with verdict %s", r.findings, tc.want)
			}
		})
	}
}

// A private key or a pepper that others can read is reported.
func TestSecretsThatOthersCanReadAreReported(t *testing.T) {
	t.Parallel()
	cert, key := certificateFor(t, time.Now().Add(-time.Hour), time.Now().Add(1000*time.Hour))
	data := t.TempDir()
	pepper := filepath.Join(data, "pepper")
	if err := os.WriteFile(pepper, []byte(strings.Repeat("p", 43)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{TLSCert: cert, TLSKey: key, Data: data}
	r := &report{}
	r.certificate(cfg)
	r.pepper(cfg)
	for _, f := range r.findings {
		if f.Verdict != passed {
			t.Errorf("with private permissions: %s", f.line())
		}
	}
	for _, path := range []string{key, pepper} {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r = &report{}
	r.certificate(cfg)
	r.pepper(cfg)
	found := map[string]verdict{}
	for _, f := range r.findings {
		found[f.Check] = f.Verdict
	}
	if found["private key"] != warning || found["pepper"] != failure {
		t.Errorf("findings = %v", r.findings)
	}
}

// Missing partitions of the journal are a failure: it could not be written.
func TestMissingPartitionsAreReported(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := pg.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	d := &databaseChecks{report: &report{}, pool: pgtest.Open(t, url, pg.Serve), cfg: config.Config{JournalDaysAhead: 7}}
	d.partitions(t.Context())
	if _, err := d.pool.Exec(t.Context(), "SELECT journal_make_partitions(1)"); err != nil {
		t.Fatal(err)
	}
	d.partitions(t.Context())
	if _, err := d.pool.Exec(t.Context(), "SELECT journal_make_partitions(2)"); err != nil {
		t.Fatal(err)
	}
	d.partitions(t.Context())
	want := []verdict{failure, failure, passed}
	for i, f := range d.findings {
		if f.Verdict != want[i] {
			t.Errorf("%s, want %s", f.line(), want[i])
		}
	}
}

// During an upgrade the schema is newer than a program that still serves: that is no problem, and
// the doctor says so.
func TestNewerSchemaIsNoProblem(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	if _, err := pgtest.Open(t, url, "").Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (90001, true)`); err != nil {
		t.Fatal(err)
	}
	d := &databaseChecks{report: &report{}, pool: pgtest.Open(t, url, pg.Serve), cfg: config.Config{ReadDatabaseURL: secret.Text(url), DatabaseRole: pg.Serve}}
	d.schema(t.Context())
	d.plannedRights(t.Context())
	d.reader(t.Context(), time.Minute)
	for _, f := range d.findings {
		if f.Verdict == failure {
			t.Errorf("%s", f.line())
		}
	}
	if len(d.findings) != 3 || !strings.Contains(d.findings[0].line(), "version 90001, of a newer release") {
		t.Errorf("findings = %v", d.findings)
	}
}

// The scanner must detect the test virus, also in a file of the largest size that
// is accepted.
func TestScannerMustDetectTheTestVirus(t *testing.T) {
	t.Parallel()
	good, small, dead := clamtest.New(t), clamtest.New(t, "MaxFileSize 1M", "AlertExceedsMax no"), clamtest.New(t)
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	blind := clamtest.New(t)
	if err := blind.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"":              "warn  scanner: none is set: documents wait",
		good.Address():  "ok    scanner: it detects the test virus; ClamAV ",
		small.Address(): "fail  scanner: it does not detect the standard test virus when the file has 4194304 bytes",
		blind.TCP():     "fail  scanner: it does not detect the standard test virus; check its signatures",
		dead.Address():  "fail  scanner: clamd: the scanner is unavailable",
	} {
		r := &report{}
		r.scanner(t.Context(), config.Config{ClamdAddr: address, ClamdTimeout: time.Minute, UploadMaxBytes: 4 << 20})
		if len(r.findings) != 1 || !strings.HasPrefix(r.findings[0].line(), want) {
			t.Errorf("%q: %+v, want %s", address, r.findings, want)
		}
	}
}

// A node that may open more connections than the database allows is reported, and one
// that leaves no room for another.
func TestConnectionsOfANodeAreComparedWithTheDatabase(t *testing.T) {
	t.Parallel()
	d := &databaseChecks{report: &report{}, pool: pgtest.New(t)}
	for _, conns := range []int{6, 200, 400} { // of the 297 that the cluster of the tests allows
		d.cfg = config.Config{VerifyConns: conns}
		d.connections(t.Context(), nil)
	}
	for i, want := range []verdict{passed, warning, failure} {
		if f := d.findings[i]; f.Verdict != want {
			t.Errorf("%s, want %s", f.line(), want)
		}
	}
}

// Doctor says what the kernel lacks to confine the processes that draw documents.
func TestConfinementIsReported(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct {
		landlock   int
		missing    []string
		unconfined bool
	}{
		"ok    confinement: the processes that draw documents are confined by seccomp and Landlock of version 7": {landlock: 7},
		"warn  confinement: the processes that draw documents have Landlock of version 1, which restricts files": {landlock: 1},
		"fail  confinement: this kernel lacks Landlock: no document is drawn":                                    {missing: []string{"Landlock"}},
		"warn  confinement: this kernel lacks Landlock and seccomp, and LINEPROOF_DRAW_UNCONFINED is set":        {missing: []string{"Landlock", "seccomp"}, unconfined: true},
	} {
		r := &report{}
		r.confinement(config.Config{DrawUnconfined: tc.unconfined}, tc.landlock, tc.missing)
		if len(r.findings) != 1 || !strings.HasPrefix(r.findings[0].line(), want) {
			t.Errorf("%+v, want %s", r.findings, want)
		}
	}
}
