package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheck is how often the files are looked at, at most.
const recheck = time.Second

// certificates serves the certificate in two files and reads them again when
// they change. A pair that does not fit, as in the middle of a renewal, leaves
// the old one in force.
type certificates struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	looked  time.Time
	stamp   [2]time.Time
}

func newCertificates(certFile, keyFile string, log *slog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

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
		if err := c.loadLocked(); err != nil {
			c.log.LogAttrs(ctx, slog.LevelError, "the certificate was not renewed; the old one stays", slog.String("error", err.Error()))
		} else {
			c.log.LogAttrs(ctx, slog.LevelInfo, "the certificate was renewed", slog.Time("not_after", c.current.Leaf.NotAfter))
		}
	}
	return c.current
}

func (c *certificates) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loadLocked()
}

func (c *certificates) loadLocked() error {
	stamp, err := c.stampOf()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("server: read the certificate and its key: %w", err)
	}
	c.current, c.stamp = &pair, stamp
	return nil
}

func (c *certificates) stampOf() (stamp [2]time.Time, err error) {
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return stamp, fmt.Errorf("server: look at the certificate: %w", err)
		}
		stamp[i] = info.ModTime()
	}
	return stamp, nil
}
