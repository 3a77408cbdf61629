// Package peer says which connections to other programs are safe. What stays on this
// machine is; what goes to another machine is only with TLS in which this side verifies the
// certificate and the name of the other one. A fallback without that counts as none: who sits
// between two machines chooses it.
package peer

import (
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrUnverified is returned for a connection to another machine without TLS that verifies it.
var ErrUnverified = errors.New("it would connect to another machine without TLS that verifies that machine")

// ErrMalformed is returned for an address of a database that the driver cannot use. It has no
// details, because they could contain a password.
var ErrMalformed = errors.New("it is malformed, or names a file that cannot be read, such as sslrootcert")

// Parts are the other programs to which an operator may allow connections that are not safe.
const (
	Database = "database"
	Redis    = "redis"
	Scanner  = "scanner"
	Traces   = "traces"
)

// Parts returns all of them.
func Parts() []string { return []string{Database, Redis, Scanner, Traces} }

// CheckDatabase checks every way in which the driver would connect with a url of PostgreSQL,
// with the variables and files that the driver reads.
func CheckDatabase(url string) error {
	c, err := pgconn.ParseConfig(url)
	if err != nil {
		return ErrMalformed
	}
	return CheckConnection(c)
}

// CheckConnection is [CheckDatabase] for a url that was parsed.
func CheckConnection(c *pgconn.Config) error {
	ways := append([]*pgconn.FallbackConfig{{Host: c.Host, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	for _, way := range ways {
		if !IsLocal(way.Host) && !verifies(way.TLSConfig, way.Host) {
			return ErrUnverified
		}
	}
	return nil
}

// verifies reports whether TLS with these settings ends at the host of this name. Both
// sslmode=require and verify-ca leave the check of the name out.
func verifies(c *tls.Config, host string) bool {
	return c != nil && !c.InsecureSkipVerify && strings.EqualFold(c.ServerName, host)
}

// CheckRedis checks the URL of a Redis.
func CheckRedis(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return ErrMalformed
	}
	skips := slices.ContainsFunc(u.Query()["skip_verify"], func(v string) bool { return v != "false" && v != "0" })
	if u.Scheme == "unix" || u.Scheme == "rediss" && !skips || IsLocal(u.Hostname()) {
		return nil
	}
	return ErrUnverified
}

// CheckScanner checks the address of clamd, which knows no TLS.
func CheckScanner(address string) error {
	host, _, err := net.SplitHostPort(address)
	if strings.HasPrefix(address, "unix:") || err == nil && IsLocal(host) {
		return nil
	}
	return ErrUnverified
}

// CheckHTTP checks the address of a server that is sent something over HTTP.
func CheckHTTP(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return ErrMalformed
	}
	if u.Scheme == "https" || IsLocal(u.Hostname()) {
		return nil
	}
	return ErrUnverified
}

// IsLocal reports whether a host is this machine: a directory with a socket, or a loopback address. A
// name other than localhost may resolve to anything, so it does not count.
func IsLocal(host string) bool {
	if strings.HasPrefix(host, "/") || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
