package alerts_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
)

// faultsOfParts kill what the service needs, and the service itself.
func (s *site) faultsOfParts() []fault {
	restart := func(ctx context.Context) error { return s.serve(ctx) }
	end := func() {}
	return []fault{
		{"the node is killed", "LineproofDown", false, func(context.Context) error { s.node.Kill(); return nil }, restart},
		{
			"PostgreSQL is killed", "LineproofDatabaseAway LineproofVerifyFails LineproofErrors LineproofGrace LineproofDeaf", true,
			func(context.Context) error { return s.cluster.Kill() }, func(ctx context.Context) error { return s.cluster.Start(ctx) },
		},
		{
			"PostgreSQL freezes again and again", "LineproofDatabaseComesAndGoes", true,
			func(ctx context.Context) error {
				return repeat(ctx, &end, func(ctx context.Context) {
					_ = s.cluster.Freeze()
					pause.For(ctx, 4*time.Second)
					_ = s.cluster.Thaw()
					pause.For(ctx, time.Second)
				})
			},
			func(context.Context) error { end(); return nil },
		},
		{
			"Redis is killed", "LineproofLimitsLocal", true,
			func(context.Context) error { s.redis.Stop(); return nil }, func(ctx context.Context) error { return s.redis.Restart(ctx) },
		},
		{
			"the virus scanner is killed, and a document has waited for 2 hours", "LineproofScannerAway LineproofDocumentsWait", false,
			func(ctx context.Context) error {
				if err := errors.Join(s.clam.Kill(), s.upload(ctx, "waits.png", "")); err != nil {
					return err
				}
				if err := s.sql(ctx, `UPDATE document SET created_at = created_at - interval '2 hours'; UPDATE document_move SET at = at - interval '2 hours'`); err != nil {
					return err
				}
				return s.serve(ctx) // it tests the scanner at its start, and then every 5 minutes
			},
			func(ctx context.Context) error {
				if err := s.clam.Restart(ctx); err != nil {
					return err
				}
				return s.serve(ctx)
			},
		},
		{
			"the virus scanner has lost its signatures", "LineproofScannerBlind", false,
			func(ctx context.Context) error { return errors.Join(s.clam.Blind(ctx), s.serve(ctx)) },
			func(ctx context.Context) error { return errors.Join(s.clam.Sight(ctx), s.serve(ctx)) },
		},
		{"an infected document is uploaded", "LineproofDocumentInfected", false, func(ctx context.Context) error { return s.upload(ctx, "sick.png", clamtest.Virus) }, nil},
		{
			"the witness is killed", "LineproofWitnessAway", true,
			func(ctx context.Context) error { s.witness.Kill(); return s.forgetWitness(ctx) },
			func(context.Context) error { return s.startWitness() },
		},
		{
			"the disk is nearly full, and the journal has one day left", "LineproofJournalDiskFills LineproofJournalRunsOut", true,
			func(ctx context.Context) error {
				if err := s.dropPartitions(ctx); err != nil {
					return err
				}
				return s.serve(ctx, "LINEPROOF_JOURNAL_DISK_BYTES=1000000", "LINEPROOF_JOURNAL_DAYS_AHEAD=1")
			},
			func(ctx context.Context) error {
				if _, err := s.command(ctx, "migrate"); err != nil {
					return err
				}
				return s.serve(ctx)
			},
		},
	}
}

// repeat does something until end is called, which it sets.
func repeat(ctx context.Context, end *func(), do func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			do(ctx)
		}
	}()
	*end = func() { cancel(); <-done }
	return nil
}

// faultOfTheCertificate is the last one: the node has TLS from then on.
func (s *site) faultOfTheCertificate() fault {
	certificate := filepath.Join(s.dir, "tls")
	return fault{
		"the certificate expires in 2 days", "LineproofCertificateExpires", false,
		func(ctx context.Context) error {
			if err := writeCertificate(certificate, 48*time.Hour); err != nil {
				return err
			}
			return s.serve(ctx, "LINEPROOF_TLS_CERT="+certificate, "LINEPROOF_TLS_KEY="+certificate)
		},
		func(ctx context.Context) error {
			if err := writeCertificate(certificate, 90*24*time.Hour); err != nil {
				return err
			}
			return until(ctx, "the new certificate is served", s.servesForMonths)
		},
	}
}

// forgetWitness restarts the node, which has not seen a signature of the witness then: as if it
// had been away for long.
func (s *site) forgetWitness(ctx context.Context) error {
	// A checkpoint without its signature must be the newest one.
	err := until(ctx, "a checkpoint without the witness", func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, s.url)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		var note string
		if err := conn.QueryRow(ctx, `SELECT note FROM log_published`).Scan(&note); err != nil {
			return err
		}
		if strings.Contains(note, "north.example") {
			return errors.New(note)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.serve(ctx)
}

// dropPartitions leaves the journal with those of today and tomorrow.
func (s *site) dropPartitions(ctx context.Context) error {
	return s.sql(ctx, `DO $$ DECLARE p record; BEGIN
		FOR p IN SELECT inhrelid::regclass AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
			WHERE inhparent IN ('journal_entry'::regclass, 'journal_batch'::regclass)
		LOOP
			IF substring(p.bound FROM 'FROM \(''([0-9-]+)')::date > current_date + 1 THEN EXECUTE 'DROP TABLE ' || p.name; END IF;
		END LOOP;
	END $$`)
}

// upload sends a picture with a text in it as a document of an organisation that it onboards.
func (s *site) upload(ctx context.Context, name, text string) error {
	client := []string{"LINEPROOF_API_CLIENT_ID=" + s.demo.ClientID, "LINEPROOF_API_CLIENT_SECRET=" + s.demo.ClientSecret, "LINEPROOF_API_PASSWORD=harmattan-38-dust"}
	n := time.Now().UnixNano() % 10_000_000
	printed, err := s.commandWith(ctx, client, "api", "onboard", "--json", "--name", name, "--cac", fmt.Sprint("RC", n), "--admin-name", "Ada Obi",
		"--admin-email", fmt.Sprintf("a%d@telco.example", n), "--admin-phone", fmt.Sprintf("+234803%07d", n))
	if err != nil {
		return err
	}
	var owner struct{ EntityUID string }
	if err := json.Unmarshal([]byte(printed), &owner); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 200, 200))); err != nil {
		return err
	}
	picture := b.Bytes()
	if text != "" {
		picture = withComment(picture, text)
	}
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		return err
	}
	_, err = s.commandWith(ctx, client, "api", "upload", file, "--type", "CAC_CERTIFICATE", "--entity", owner.EntityUID)
	return err
}

// writeCertificate writes a certificate that is valid for a time, and its key, into one file.
func writeCertificate(file string, valid time.Duration) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid)}
	certificate, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	return os.WriteFile(file, text, 0o600)
}

// servesForMonths connects, and fails while the certificate is the old one.
func (s *site) servesForMonths(ctx context.Context) error {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", s.public)
	if err != nil {
		return err
	}
	defer conn.Close()
	state, ok := conn.(*tls.Conn)
	if !ok || time.Until(state.ConnectionState().PeerCertificates[0].NotAfter) < 30*24*time.Hour {
		return errors.New("the old certificate")
	}
	return nil
}

// heldImport returns the id of the import that is held.
func (s *site) heldImport(ctx context.Context) (string, error) {
	text, err := s.command(ctx, "lines", "imports", "--json")
	if err != nil {
		return "", err
	}
	for chunk := range strings.SplitSeq(text, "},") {
		if strings.Contains(chunk, `"held"`) {
			var id string
			for _, field := range []string{`"importId":`, `"id":`} {
				if _, after, found := strings.Cut(chunk, field); found && json.NewDecoder(strings.NewReader(after)).Decode(&id) == nil {
					return id, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no import is held: %s", text)
}

// guess sends requests with a wrong key until ctx ends.
func (s *site) guess(ctx context.Context) {
	for ctx.Err() == nil {
		_ = s.verify(ctx, "lp_live_0000000000000000000000000000000000000000", "+2348031234567")
		pause.For(ctx, 20*time.Millisecond)
	}
}
