package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/phone"
)

// check adds what the tags cannot say: the form of texts, and settings that
// contradict each other.
func (c *Config) check(wrong *complaints) {
	c.checkAddresses(wrong)
	c.checkTransport(wrong)
	c.checkDatabase(wrong)
	c.checkTexts(wrong)
	c.checkMail(wrong)
	c.checkBucket(wrong)
	c.checkDocuments(wrong)
	if c.RedisURL != "" && wrong.none("LINEPROOF_REDIS_URL") && !isRedisURL(c.RedisURL.Reveal()) {
		wrong.about("LINEPROOF_REDIS_URL", "LINEPROOF_REDIS_URL is not the address of a Redis: set it to a URL such as redis://127.0.0.1:6379/0, or rediss:// for TLS")
	}
	if path, socket := strings.CutPrefix(c.ClamdAddr, "unix:"); c.ClamdAddr != "" && (socket && !strings.HasPrefix(path, "/") || !socket && !isPeer(c.ClamdAddr)) {
		wrong.about("LINEPROOF_CLAMD_ADDR", "LINEPROOF_CLAMD_ADDR is not the address of a scanner: set it to a socket such as unix:/run/clamav/clamd.ctl, or to host:port")
	}
	if c.PepperList != "" && wrong.none("LINEPROOF_PEPPERS") {
		if _, err := parsePeppers(c.PepperList); err != nil {
			wrong.about("LINEPROOF_PEPPERS", "LINEPROOF_PEPPERS: %v", err)
		}
	}
	if wrong.none("LINEPROOF_SESSION_IDLE", "LINEPROOF_SESSION_LIFETIME") && c.SessionIdle > c.SessionLifetime {
		wrong.about("LINEPROOF_SESSION_IDLE", "LINEPROOF_SESSION_IDLE is longer than LINEPROOF_SESSION_LIFETIME: lower the one or raise the other")
	}
	if wrong.none("LINEPROOF_VERIFY_TIMEOUT", "LINEPROOF_REQUEST_TIMEOUT") && c.VerifyTimeout > c.RequestTimeout {
		wrong.about("LINEPROOF_VERIFY_TIMEOUT", "LINEPROOF_VERIFY_TIMEOUT is longer than LINEPROOF_REQUEST_TIMEOUT: lower the one or raise the other")
	}
}

func (c *Config) checkAddresses(wrong *complaints) {
	const form = "set it to host:port, for example 127.0.0.1:8080; an IPv6 address stands in brackets, and a host left out means every address"
	if !isAddress(c.Listen) {
		wrong.about("LINEPROOF_LISTEN", "LINEPROOF_LISTEN is not an address: %s", form)
	}
	if !isAddress(c.PrivateListen) {
		wrong.about("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_PRIVATE_LISTEN is not an address: %s", form)
	}
	if c.Listen == c.PrivateListen && !strings.HasSuffix(c.Listen, ":0") {
		wrong.about("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_LISTEN and LINEPROOF_PRIVATE_LISTEN are the same address: give one of them another port")
	}
	for _, p := range c.TrustedProxies {
		// A stray comma decodes to the zero prefix.
		if !p.IsValid() && wrong.none("LINEPROOF_TRUSTED_PROXIES") {
			wrong.about("LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_TRUSTED_PROXIES has an empty entry: remove the comma that is too many")
		}
	}
}

// checkTransport keeps credentials off the wire in the clear.
func (c *Config) checkTransport(wrong *complaints) {
	tls := c.TLSCert != "" && c.TLSKey != ""
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		wrong.about("LINEPROOF_TLS_KEY", "LINEPROOF_TLS_CERT is set without LINEPROOF_TLS_KEY: set both, or neither")
	case c.TLSKey != "" && c.TLSCert == "":
		wrong.about("LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY is set without LINEPROOF_TLS_CERT: set both, or neither")
	}
	if !wrong.none("LINEPROOF_LISTEN", "LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY", "LINEPROOF_PLAIN_HTTP", "LINEPROOF_TRUSTED_PROXIES") {
		return
	}
	switch {
	case tls && c.PlainHTTP:
		wrong.about("LINEPROOF_PLAIN_HTTP", "LINEPROOF_PLAIN_HTTP is true although a certificate is set: set it to false, or remove LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY")
	case tls || isLoopback(c.Listen):
	case !c.PlainHTTP:
		wrong.about("LINEPROOF_LISTEN", "LINEPROOF_LISTEN is not a loopback address and would speak plain HTTP: set LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY, "+
			"or, behind a proxy that ends TLS, LINEPROOF_PLAIN_HTTP=true and LINEPROOF_TRUSTED_PROXIES")
	case len(c.TrustedProxies) == 0:
		wrong.about("LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_PLAIN_HTTP needs LINEPROOF_TRUSTED_PROXIES: list the networks of the proxies that end TLS in front of the service")
	}
}

func (c *Config) checkDatabase(wrong *complaints) {
	if wrong.none("LINEPROOF_DATABASE_URL") && !isConnString(c.DatabaseURL.Reveal()) {
		wrong.about("LINEPROOF_DATABASE_URL", "LINEPROOF_DATABASE_URL is not a connection string: set it to a URL such as postgres://user@host:5432/lineproof "+
			"or to pairs such as host=/run/postgresql dbname=lineproof")
	}
	if len(c.DatabaseRole) > 63 || strings.ContainsFunc(c.DatabaseRole, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) {
		wrong.about("LINEPROOF_DATABASE_ROLE", "LINEPROOF_DATABASE_ROLE is not the name of a role: use at most 63 letters, digits, underscores and dashes")
	}
}

func (c *Config) checkTexts(wrong *complaints) {
	if wrong.none("LINEPROOF_NODE") && !isPrintable(c.Node, 64) {
		wrong.about("LINEPROOF_NODE", "LINEPROOF_NODE (or the host name that stands in for it) is not a name: set it to 1 to 64 printable ASCII characters without spaces at the ends")
	}
	if !isPrintable(c.RegulatorCode, 32) {
		wrong.about("LINEPROOF_REGULATOR_CODE", "LINEPROOF_REGULATOR_CODE is not a code: set it to 1 to 32 printable ASCII characters without spaces at the ends")
	}
	if _, err := phone.NewRegion(c.Region); err != nil {
		wrong.about("LINEPROOF_REGION", "LINEPROOF_REGION is not a country: set it to two capital letters of ISO 3166, for example NG")
	}
	if c.TracesEndpoint == "" {
		return
	}
	u, err := url.Parse(c.TracesEndpoint)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		wrong.about("LINEPROOF_TRACES_ENDPOINT", "LINEPROOF_TRACES_ENDPOINT is not a URL: set it to one such as http://127.0.0.1:4318")
	case u.User != nil:
		wrong.about("LINEPROOF_TRACES_ENDPOINT", "LINEPROOF_TRACES_ENDPOINT carries a user name or password: put the credential into OTEL_EXPORTER_OTLP_HEADERS")
	}
}

// isPeer says whether s is an address that can be called: host and port.
func isPeer(s string) bool {
	host, port, err := net.SplitHostPort(s)
	return err == nil && host != "" && port != "0" && isAddress(s)
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only this machine can reach the address. A host
// name other than localhost may resolve to anything, so it does not count.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

func isConnString(s string) bool {
	if strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://") {
		// A list of hosts is legal for PostgreSQL and not for url.Parse, so only the rest of the form is left to the driver.
		return !strings.ContainsAny(s, " \t\r\n\x00")
	}
	return strings.Contains(s, "=") && !strings.Contains(s, "://")
}

func isRedisURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "unix" && u.Path != "" || (u.Scheme == "redis" || u.Scheme == "rediss") && u.Host != "")
}

func isPrintable(s string, longest int) bool {
	return s != "" && len(s) <= longest && s == strings.TrimSpace(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}
