package config

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/peer"
)

// checkPeers checks how the service reaches the programs that it depends on.
func (c *Config) checkPeers(found *problems) {
	const unverified = "LINEPROOF_UNVERIFIED_PEERS"
	if slices.ContainsFunc(c.UnverifiedPeers, func(name string) bool { return !slices.Contains(peer.Parts(), name) }) {
		found.add(unverified, "%s lists something else: set it to any of %s, separated by commas", unverified, strings.Join(peer.Parts(), ", "))
	}
	if c.RedisURL != "" && found.none("LINEPROOF_REDIS_URL") && !isRedisURL(c.RedisURL.Reveal()) {
		found.add("LINEPROOF_REDIS_URL", "LINEPROOF_REDIS_URL is not the address of a Redis: set it to a URL such as redis://127.0.0.1:6379/0, or rediss:// for TLS")
	}
	if path, socket := strings.CutPrefix(c.ClamdAddr, "unix:"); c.ClamdAddr != "" && (socket && !strings.HasPrefix(path, "/") || !socket && !isHostPort(c.ClamdAddr)) {
		found.add("LINEPROOF_CLAMD_ADDR", "LINEPROOF_CLAMD_ADDR is not the address of a scanner: set it to a socket such as unix:/run/clamav/clamd.ctl, or to host:port")
	}
	const database = "add sslmode=verify-full and, unless a public authority signed the certificate, sslrootcert with the file of its authority"
	for _, p := range []struct {
		name, value, part string
		check             func(string) error
		do                string
	}{
		{"LINEPROOF_DATABASE_URL", c.DatabaseURL.Reveal(), peer.Database, peer.CheckDatabase, database},
		{"LINEPROOF_READ_DATABASE_URL", c.ReadDatabaseURL.Reveal(), peer.Database, peer.CheckDatabase, database},
		{"LINEPROOF_REDIS_URL", c.RedisURL.Reveal(), peer.Redis, peer.CheckRedis, "begin it with rediss://, without skip_verify"},
		{"LINEPROOF_CLAMD_ADDR", c.ClamdAddr, peer.Scanner, peer.CheckScanner, "run clamd on this machine, or set it to the end of a TLS tunnel on this machine"},
		{"LINEPROOF_TRACES_ENDPOINT", c.TracesEndpoint, peer.Traces, peer.CheckHTTP, "begin it with https://"},
	} {
		if p.value == "" || !found.none(p.name, unverified) {
			continue
		}
		switch err := p.check(p.value); {
		case errors.Is(err, peer.ErrUnverified) && !c.AllowsUnverified(p.part):
			found.add(p.name, "%s names another machine, and not by TLS that verifies it, so who is between the machines reads and changes everything: %s; "+
				"or, where nobody can be, add %s to %s", p.name, p.do, p.part, unverified)
		case err != nil && !errors.Is(err, peer.ErrUnverified):
			found.add(p.name, "%s: %v: correct it", p.name, err)
		}
	}
}

// AllowsUnverified reports whether the operator lets a part of [peer.Parts] be reached on other
// machines without verified TLS.
func (c *Config) AllowsUnverified(part string) bool { return slices.Contains(c.UnverifiedPeers, part) }

// UnverifiedDatabase is AllowsUnverified for PostgreSQL.
func (c *Config) UnverifiedDatabase() bool { return c.AllowsUnverified(peer.Database) }

// isHostPort reports whether s is an address to connect to.
func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != "0" && isAddress(s)
}

func isRedisURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "unix" && u.Path != "" || (u.Scheme == "redis" || u.Scheme == "rediss") && u.Host != "")
}
