package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/telemetry"
)

// recheck is how often the files are looked at, at most.
const recheck = time.Second

// certificates serves the certificate in two files and reads them again when
// they change. A pair that does not fit, as in the middle of a renewal, leaves
// the old one in force.
type certificates struct {
	certFile, keyFile string
	metrics           *telemetry.Metrics
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	looked  time.Time
	stamp   [2]time.Time
}

func newCertificates(ctx context.Context, certFile, keyFile string, metrics *telemetry.Metrics, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, metrics: metrics, log: log}
	if err := c.load(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// ExpiresSoon is how long before its end a certificate is worth a warning.
const ExpiresSoon = 14 * 24 * time.Hour

func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.get(hello.Context()), nil
		},
	}
}

func (c *certificates) get(ctx context.Context) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < recheck {
		return c.current
	}
	c.looked = time.Now()
	if stamp, err := c.stampOf(); err != nil || stamp != c.stamp {
		if err := c.load(ctx); err != nil {
			c.log.LogAttrs(ctx, slog.LevelError, "the certificate was not renewed; the old one stays", slog.String("error", err.Error()))
		} else {
			c.log.LogAttrs(ctx, slog.LevelInfo, "the certificate was renewed", slog.Time("not_after", c.current.Leaf.NotAfter))
		}
	}
	return c.current
}

// load reads the files. Whoever calls it holds mu, or is alone.
func (c *certificates) load(ctx context.Context) error {
	stamp, err := c.stampOf()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("server: LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY are no certificate and its key: %w", err)
	}
	c.current, c.stamp = &pair, stamp
	c.metrics.CertificateExpires(pair.Leaf.NotAfter)
	if time.Until(pair.Leaf.NotAfter) < ExpiresSoon {
		c.log.LogAttrs(ctx, slog.LevelWarn, "the certificate expires soon, or has expired; renew it", slog.Time("not_after", pair.Leaf.NotAfter))
	}
	return nil
}

func (c *certificates) stampOf() (stamp [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamp, fmt.Errorf("server: look at LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY: %w", err)
		}
		stamp[i] = info.ModTime()
	}
	return stamp, nil
}
