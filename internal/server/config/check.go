package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/lineproof/lineproof/internal/platform/peer"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// check checks what the tags cannot express: the format of texts, and settings that
// contradict each other.
func (c *Config) check(found *problems) {
	c.checkAddresses(found)
	c.checkTransport(found)
	c.checkDatabase(found)
	c.checkTexts(found)
	c.checkMail(found)
	c.checkBucket(found)
	c.checkDocuments(found)
	c.checkPeers(found)
	c.checkPublic(found)
	if c.PepperList != "" && found.none("LINEPROOF_PEPPERS") {
		if _, err := parsePeppers(c.PepperList); err != nil {
			found.add("LINEPROOF_PEPPERS", "LINEPROOF_PEPPERS: %v", err)
		}
	}
	if found.none("LINEPROOF_SESSION_IDLE", "LINEPROOF_SESSION_LIFETIME") && c.SessionIdle > c.SessionLifetime {
		found.add("LINEPROOF_SESSION_IDLE", "LINEPROOF_SESSION_IDLE is longer than LINEPROOF_SESSION_LIFETIME: lower the one or raise the other")
	}
	if found.none("LINEPROOF_VERIFY_TIMEOUT", "LINEPROOF_REQUEST_TIMEOUT") && c.VerifyTimeout > c.RequestTimeout {
		found.add("LINEPROOF_VERIFY_TIMEOUT", "LINEPROOF_VERIFY_TIMEOUT is longer than LINEPROOF_REQUEST_TIMEOUT: lower the one or raise the other")
	}
}

func (c *Config) checkAddresses(found *problems) {
	const format = "set it to host:port, for example 127.0.0.1:8080; write an IPv6 address in brackets, and omit the host to listen on every address"
	if !isAddress(c.Listen) {
		found.add("LINEPROOF_LISTEN", "LINEPROOF_LISTEN is not an address: %s", format)
	}
	if !isAddress(c.PrivateListen) {
		found.add("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_PRIVATE_LISTEN is not an address: %s", format)
	}
	if c.Listen == c.PrivateListen && !strings.HasSuffix(c.Listen, ":0") {
		found.add("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_LISTEN and LINEPROOF_PRIVATE_LISTEN are the same address: give one of them another port")
	}
	if found.none("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_PRIVATE_REMOTE") && !c.PrivateRemote && !isLoopback(c.PrivateListen) {
		found.add("LINEPROOF_PRIVATE_LISTEN", "LINEPROOF_PRIVATE_LISTEN is not a loopback address, and metrics, health and profiles need no credential: "+
			"set it to an address such as 127.0.0.1:8081, or, where only your own machines can reach it, set LINEPROOF_PRIVATE_REMOTE=true")
	}
	if c.WebhookLoopbackLive && found.none("LINEPROOF_LISTEN") && (!c.WebhookLoopback || !isLoopback(c.Listen)) {
		found.add("LINEPROOF_WEBHOOK_LOOPBACK_LIVE", "LINEPROOF_WEBHOOK_LOOPBACK_LIVE is for a demonstration on one machine: set LINEPROOF_WEBHOOK_LOOPBACK=true and LINEPROOF_LISTEN to an address such as 127.0.0.1:8080, or remove it")
	}
	for _, p := range c.TrustedProxies {
		// An extra comma decodes to the zero prefix.
		if !p.IsValid() && found.none("LINEPROOF_TRUSTED_PROXIES") {
			found.add("LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_TRUSTED_PROXIES has an empty entry: remove the extra comma")
		}
	}
}

// checkTransport prevents that credentials are sent unencrypted.
func (c *Config) checkTransport(found *problems) {
	tls := c.TLSCert != "" && c.TLSKey != ""
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		found.add("LINEPROOF_TLS_KEY", "LINEPROOF_TLS_CERT is set without LINEPROOF_TLS_KEY: set both, or neither")
	case c.TLSKey != "" && c.TLSCert == "":
		found.add("LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY is set without LINEPROOF_TLS_CERT: set both, or neither")
	}
	if !found.none("LINEPROOF_LISTEN", "LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY", "LINEPROOF_PLAIN_HTTP", "LINEPROOF_TRUSTED_PROXIES") {
		return
	}
	switch {
	case tls && c.PlainHTTP:
		found.add("LINEPROOF_PLAIN_HTTP", "LINEPROOF_PLAIN_HTTP is true although a certificate is set: set it to false, or remove LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY")
	case tls || isLoopback(c.Listen):
	case !c.PlainHTTP:
		found.add("LINEPROOF_LISTEN", "LINEPROOF_LISTEN is not a loopback address and would serve plain HTTP: set LINEPROOF_TLS_CERT and LINEPROOF_TLS_KEY, "+
			"or, behind a proxy that terminates TLS, LINEPROOF_PLAIN_HTTP=true and LINEPROOF_TRUSTED_PROXIES")
	case len(c.TrustedProxies) == 0:
		found.add("LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_PLAIN_HTTP needs LINEPROOF_TRUSTED_PROXIES: list the networks of the proxies that terminate TLS in front of the service")
	}
}

func (c *Config) checkDatabase(found *problems) {
	if found.none("LINEPROOF_DATABASE_URL") && !isConnString(c.DatabaseURL.Reveal()) {
		found.add("LINEPROOF_DATABASE_URL", "LINEPROOF_DATABASE_URL is not a connection string: set it to a URL such as postgres://user@host:5432/lineproof "+
			"or to pairs such as host=/run/postgresql dbname=lineproof")
	}
	if c.ReadDatabaseURL != "" && found.none("LINEPROOF_READ_DATABASE_URL") && !isConnString(c.ReadDatabaseURL.Reveal()) {
		found.add("LINEPROOF_READ_DATABASE_URL", "LINEPROOF_READ_DATABASE_URL is not a connection string: set it to a URL such as postgres://user@standby:5432/lineproof, or remove it")
	}
	if len(c.DatabaseRole) > 63 || strings.ContainsFunc(c.DatabaseRole, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) {
		found.add("LINEPROOF_DATABASE_ROLE", "LINEPROOF_DATABASE_ROLE is not the name of a role: use at most 63 letters, digits, underscores and dashes")
	}
}

func (c *Config) checkTexts(found *problems) {
	if found.none("LINEPROOF_NODE") && !isPrintable(c.Node, 64) {
		found.add("LINEPROOF_NODE", "LINEPROOF_NODE (or the host name, its default) is not a name: set it to 1 to 64 printable ASCII characters without spaces at the ends")
	}
	if !isPrintable(c.RegulatorCode, 32) {
		found.add("LINEPROOF_REGULATOR_CODE", "LINEPROOF_REGULATOR_CODE is not a code: set it to 1 to 32 printable ASCII characters without spaces at the ends")
	}
	if _, err := phone.NewRegion(c.Region); err != nil {
		found.add("LINEPROOF_REGION", "LINEPROOF_REGION is not a country: set it to two capital letters of ISO 3166, for example NG")
	}
	if c.LogOrigin != "" && !isLogOrigin(c.LogOrigin) {
		found.add("LINEPROOF_LOG_ORIGIN", "LINEPROOF_LOG_ORIGIN is not the name of a log: set it to a host name and a path without a scheme, such as lineproof.example/log/0/2027")
	}
	if c.LogKey != "" && c.LogOrigin == "" {
		found.add("LINEPROOF_LOG_KEY", "LINEPROOF_LOG_KEY is set without LINEPROOF_LOG_ORIGIN: set the name of the public log, or remove the key")
	}
	if c.LogNextKey != "" && c.LogKey == "" {
		found.add("LINEPROOF_LOG_NEXT_KEY", "LINEPROOF_LOG_NEXT_KEY is set without LINEPROOF_LOG_KEY: it signs beside that key, so set both, or neither")
	}
	if c.LogPostQuantumKey != "" && c.LogKey == "" {
		found.add("LINEPROOF_LOG_POST_QUANTUM_KEY", "LINEPROOF_LOG_POST_QUANTUM_KEY is set without LINEPROOF_LOG_KEY: it signs beside that key, so set both, or neither")
	}
	if c.LogPolicy != "" && c.LogKey == "" {
		found.add("LINEPROOF_LOG_POLICY", "LINEPROOF_LOG_POLICY is set without LINEPROOF_LOG_KEY: witnesses sign what the key has signed, so set both, or neither")
	}
	if c.TracesEndpoint == "" {
		return
	}
	u, err := url.Parse(c.TracesEndpoint)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		found.add("LINEPROOF_TRACES_ENDPOINT", "LINEPROOF_TRACES_ENDPOINT is not a URL: set it to one such as http://127.0.0.1:4318")
	case u.User != nil:
		found.add("LINEPROOF_TRACES_ENDPOINT", "LINEPROOF_TRACES_ENDPOINT contains a user name or password: put the credential into OTEL_EXPORTER_OTLP_HEADERS")
	}
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only this machine can reach the address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && peer.IsLocal(host)
}

func isConnString(s string) bool {
	if strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://") {
		// PostgreSQL accepts a list of hosts and url.Parse does not, so the rest is left to the driver.
		return !strings.ContainsAny(s, " \t\r\n\x00")
	}
	return strings.Contains(s, "=") && !strings.Contains(s, "://")
}

func isPrintable(s string, maxLength int) bool {
	return s != "" && len(s) <= maxLength && s == strings.TrimSpace(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// isLogOrigin reports whether a text can be the first line of a signed checkpoint: witnesses
// and monitors expect a URL without a scheme.
func isLogOrigin(s string) bool {
	host, path, found := strings.Cut(s, "/")
	return found && isPrintable(s, 200) && strings.Contains(host, ".") && path != "" && !strings.HasSuffix(s, "/") && !strings.ContainsAny(s, " +:?#\\")
}
