package operate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
)

// dataDirectory checks that the directory is writable. It does not create one:
// only the service should, as its own user.
func (r *report) dataDirectory(dir string) {
	const check = "data directory"
	at, missing := dir, false
	for {
		_, err := os.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			r.fail(check, err.Error(), "set LINEPROOF_DATA to a directory that is writable for the service")
			return
		}
		at, missing = filepath.Dir(at), true
	}
	f, err := os.CreateTemp(at, ".lineproof-doctor-*")
	if err != nil {
		r.fail(check, err.Error(), "set LINEPROOF_DATA to a directory that is writable for the service")
		return
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		r.fail(check, err.Error(), "check the file system")
		return
	}
	if missing {
		r.ok(check, dir+" does not exist yet and can be created")
		return
	}
	r.ok(check, dir+" is writable")
}

// pepper checks the secret keys with which credentials are hashed.
func (r *report) pepper(cfg config.Config) {
	const check = "pepper"
	if cfg.PepperList != "" {
		r.ok(check, "LINEPROOF_PEPPERS is set")
		return
	}
	const oneNode = "; this works for one node only: set LINEPROOF_PEPPERS on every node before adding a second one"
	path := filepath.Join(cfg.Data, "pepper")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		r.ok(check, "none is set; the service will create one in "+path+oneNode)
		return
	}
	if _, err := cfg.Peppers(); err != nil {
		r.fail(check, err.Error(), "make the file readable by the service only, or restore it")
		return
	}
	r.ok(check, "it is in "+path+oneNode)
}

// certificate checks the TLS files of the public listener.
func (r *report) certificate(cfg config.Config) {
	const check = "certificate"
	if cfg.TLSCert == "" {
		if cfg.PlainHTTP {
			r.ok(check, "none is set; a proxy in front of the service terminates TLS")
		} else {
			r.ok(check, "none is set; the service listens on this machine only")
		}
		return
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		r.fail(check, err.Error(), "set LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY to a matching pair of files that the service can read")
		return
	}
	until, now := pair.Leaf.NotAfter, time.Now()
	switch {
	case now.After(until):
		r.fail(check, "it expired at "+console.FormatTime(until), "renew it; the service reloads the files automatically")
	case now.Before(pair.Leaf.NotBefore):
		r.fail(check, "it is valid only from "+console.FormatTime(pair.Leaf.NotBefore), "check the clock, or get another certificate")
	case until.Sub(now) < server.ExpiresSoon:
		r.warn(check, "it expires at "+console.FormatTime(until), "renew it; the service reloads the files automatically")
	default:
		r.ok(check, "it is valid until "+console.FormatTime(until))
	}
	if info, err := os.Stat(cfg.TLSKey); err == nil && info.Mode().Perm()&0o007 != 0 {
		r.warn("private key", fmt.Sprintf("every user of this machine can access it (%s)", info.Mode().Perm()), "run chmod 600 on it")
	}
}
