package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// minCheckInterval is the least time between two checks of the files.
const minCheckInterval = time.Second

// certificates serves the certificate from two files and reloads them when they
// change. If the two do not match, as in the middle of a renewal, the old
// certificate stays in use.
type certificates struct {
	certFile, keyFile string
	metrics           *telemetry.Metrics
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	checked time.Time    // when the files were last checked
	modTime [2]time.Time // of the loaded files
}

// openCertificates loads the certificate before the node listens: with a wrong pair of files
// it must not start.
func (s *service) openCertificates(ctx context.Context) (err error) {
	if s.cfg.TLSCert != "" {
		s.certs, err = newCertificates(ctx, s.cfg.TLSCert, s.cfg.TLSKey, s.metrics, s.log)
	}
	return err
}

func newCertificates(ctx context.Context, certFile, keyFile string, metrics *telemetry.Metrics, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, metrics: metrics, log: log}
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// ExpiresSoon is how long before a certificate expires the warnings start.
const ExpiresSoon = 14 * 24 * time.Hour

// suites are the cipher suites of TLS 1.2 that encrypt and authenticate in one step
// (AEAD). The others, with CBC, have a history of padding attacks. TLS 1.3 has no
// others.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: suites,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.get(hello.Context()), nil
		},
	}
}

func (c *certificates) get(ctx context.Context) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) < minCheckInterval {
		return c.current
	}
	c.checked = time.Now()
	if modTime, err := c.readModTime(); err != nil || modTime != c.modTime {
		if err := c.load(ctx); err != nil {
			c.log.LogAttrs(ctx, slog.LevelError, "the changed certificate files could not be loaded; the old certificate stays in use", slog.String("error", err.Error()))
		} else {
			c.log.LogAttrs(ctx, slog.LevelInfo, "the new certificate was loaded", slog.Time("not_after", c.current.Leaf.NotAfter))
		}
	}
	return c.current
}

// load reads the files. The caller holds mu, unless no other goroutine has c yet.
func (c *certificates) load(ctx context.Context) error {
	modTime, err := c.readModTime()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("server: LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY are not a certificate and its key: %w", err)
	}
	c.current, c.modTime = &pair, modTime
	c.metrics.CertificateExpires(pair.Leaf.NotAfter)
	if time.Until(pair.Leaf.NotAfter) < ExpiresSoon {
		c.log.LogAttrs(ctx, slog.LevelWarn, "the certificate expires soon, or has expired; renew it", slog.Time("not_after", pair.Leaf.NotAfter))
	}
	return nil
}

func (c *certificates) readModTime() (modTime [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return modTime, fmt.Errorf("server: read LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY: %w", err)
		}
		modTime[i] = info.ModTime()
	}
	return modTime, nil
}
