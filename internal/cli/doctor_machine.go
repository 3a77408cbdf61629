package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/server"
)

// dataDirectory checks that the directory can be written. It makes none: only
// the service should, as its own user.
func (c *checkup) dataDirectory(dir string) {
	const check = "data directory"
	at, missing := dir, false
	for {
		_, err := os.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			c.fail(check, err.Error(), "set LINEPROOF_DATA to a directory that the service may write")
			return
		}
		at, missing = filepath.Dir(at), true
	}
	f, err := os.CreateTemp(at, ".lineproof-doctor-*")
	if err != nil {
		c.fail(check, err.Error(), "set LINEPROOF_DATA to a directory that the service may write")
		return
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		c.fail(check, err.Error(), "see what is wrong with the file system")
		return
	}
	if missing {
		c.ok(check, dir+" is not there yet and can be made")
		return
	}
	c.ok(check, dir+" can be written")
}

// pepper checks the keys under which credentials are hashed.
func (c *checkup) pepper(cfg config.Config) {
	const check = "pepper"
	if cfg.PepperList != "" {
		c.ok(check, "LINEPROOF_PEPPERS is set")
		return
	}
	const oneNode = "; that is right for one node only: set LINEPROOF_PEPPERS on every node before a second one is added"
	path := filepath.Join(cfg.Data, "pepper")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		c.ok(check, "none is set; one will be made in "+path+oneNode)
		return
	}
	if _, err := cfg.Peppers(); err != nil {
		c.fail(check, err.Error(), "make the file readable for the service alone, or restore it")
		return
	}
	c.ok(check, "it lies in "+path+oneNode)
}

// certificate checks the files of the public listener.
func (c *checkup) certificate(cfg config.Config) {
	const check = "certificate"
	if cfg.TLSCert == "" {
		if cfg.PlainHTTP {
			c.ok(check, "none is set; a proxy ends TLS in front of the service")
		} else {
			c.ok(check, "none is set; the service is reached from this machine only")
		}
		return
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		c.fail(check, err.Error(), "set LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY to files that fit each other and that the service may read")
		return
	}
	until, now := pair.Leaf.NotAfter, time.Now()
	switch {
	case now.After(until):
		c.fail(check, "it expired at "+moment(until), "renew it; the service reads the new files by itself")
	case now.Before(pair.Leaf.NotBefore):
		c.fail(check, "it is valid only from "+moment(pair.Leaf.NotBefore), "see that the clock is right, or get another certificate")
	case until.Sub(now) < server.ExpiresSoon:
		c.warn(check, "it expires at "+moment(until), "renew it; the service reads the new files by itself")
	default:
		c.ok(check, "it is valid until "+moment(until))
	}
	if info, err := os.Stat(cfg.TLSKey); err == nil && info.Mode().Perm()&0o007 != 0 {
		c.warn("private key", fmt.Sprintf("every user of this machine can reach it (%s)", info.Mode().Perm()), "run chmod 600 on it")
	}
}
