package cli

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

	"github.com/lineproof/lineproof/internal/clamtest"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
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

// A certificate is judged by the time that it has left.
func TestDoctorJudgesTheCertificate(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		from, until time.Duration
		want        verdict
	}{
		"valid":         {-day, 90 * day, fine},
		"expires soon":  {-day, 5 * day, doubt},
		"expired":       {-9 * day, -day, trouble},
		"not yet valid": {day, 90 * day, trouble},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, key := certificateFor(t, time.Now().Add(tc.from), time.Now().Add(tc.until))
			c := &checkup{}
			c.certificate(config.Config{TLSCert: cert, TLSKey: key})
			if len(c.findings) != 1 || c.findings[0].Verdict != tc.want {
				t.Errorf("findings = %v, want one that says %s", c.findings, tc.want)
			}
		})
	}
}

// A private key or a pepper that others can read is reported.
func TestDoctorReportsSecretsThatOthersCanRead(t *testing.T) {
	t.Parallel()
	cert, key := certificateFor(t, time.Now().Add(-time.Hour), time.Now().Add(1000*time.Hour))
	data := t.TempDir()
	pepper := filepath.Join(data, "pepper")
	if err := os.WriteFile(pepper, []byte(strings.Repeat("p", 43)), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{TLSCert: cert, TLSKey: key, Data: data}
	c := &checkup{}
	c.certificate(cfg)
	c.pepper(cfg)
	for _, f := range c.findings {
		if f.Verdict != fine {
			t.Errorf("while nobody else can: %s", f.line())
		}
	}
	for _, path := range []string{key, pepper} {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c = &checkup{}
	c.certificate(cfg)
	c.pepper(cfg)
	found := map[string]verdict{}
	for _, f := range c.findings {
		found[f.Check] = f.Verdict
	}
	if found["private key"] != doubt || found["pepper"] != trouble {
		t.Errorf("findings = %v", c.findings)
	}
}

// A journal that will have nowhere to write is a failure.
func TestDoctorReportsMissingPartitions(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	if _, err := pg.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	d := &databaseCheckup{checkup: &checkup{}, pool: pgtest.Open(t, url, pg.Serve), cfg: config.Config{JournalDaysAhead: 7}}
	d.partitions(t.Context())
	if _, err := d.pool.Exec(t.Context(), "SELECT journal_make_partitions(1)"); err != nil {
		t.Fatal(err)
	}
	d.partitions(t.Context())
	if _, err := d.pool.Exec(t.Context(), "SELECT journal_make_partitions(2)"); err != nil {
		t.Fatal(err)
	}
	d.partitions(t.Context())
	want := []verdict{trouble, trouble, fine}
	for i, f := range d.findings {
		if f.Verdict != want[i] {
			t.Errorf("%s, want %s", f.line(), want[i])
		}
	}
}

// A scanner is judged by what it finds, in files as large as those that are
// taken.
func TestDoctorJudgesTheScanner(t *testing.T) {
	t.Parallel()
	good, small, dead := clamtest.New(t), clamtest.New(t, "MaxFileSize 1M", "AlertExceedsMax no"), clamtest.New(t)
	dead.Kill()
	blind := clamtest.New(t)
	if err := blind.Blind(t.Context()); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"":              "warn  scanner: there is none, so documents wait",
		good.Address():  "ok    scanner: it finds the test file; ClamAV ",
		small.Address(): "fail  scanner: it passes the test file that every scanner must find, when that has 4194304 bytes",
		blind.TCP():     "fail  scanner: it passes the test file that every scanner must find; check its signatures",
		dead.Address():  "fail  scanner: clamd: the scanner is away",
	} {
		c := &checkup{}
		c.scanner(t.Context(), config.Config{ClamdAddr: address, ClamdTimeout: time.Minute, UploadMaxBytes: 4 << 20})
		if len(c.findings) != 1 || !strings.HasPrefix(c.findings[0].line(), want) {
			t.Errorf("%q: %+v, want %s", address, c.findings, want)
		}
	}
}
