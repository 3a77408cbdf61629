package config

import "strings"

// checkPublic checks what a service that other machines reach cannot do without.
func (c *Config) checkPublic(found *problems) {
	if c.ReportURL != "" && (!strings.HasPrefix(c.ReportURL, "https://") || strings.ContainsAny(c.ReportURL, "\"\\ ;,") || !isPrintable(c.ReportURL, 500)) {
		found.add("LINEPROOF_REPORT_URL", "LINEPROOF_REPORT_URL is not an address: set it to one such as https://reports.regulator.example/csp")
	}
	if !found.none("LINEPROOF_LISTEN", "LINEPROOF_TLS_CERT", "LINEPROOF_TLS_KEY", "LINEPROOF_PLAIN_HTTP", "LINEPROOF_TRUSTED_PROXIES", "LINEPROOF_WEBHOOK_LOOPBACK_LIVE") || isLoopback(c.Listen) {
		return
	}
	if c.PublicURL == "" && found.none("LINEPROOF_PUBLIC_URL") {
		found.add("LINEPROOF_PUBLIC_URL", "LINEPROOF_LISTEN is not a loopback address, and LINEPROOF_PUBLIC_URL is not set: set it to the address that callers use, such as https://lineproof.regulator.example")
	}
	if found.none("LINEPROOF_ARGON2_MEMORY_KIB", "LINEPROOF_ARGON2_TIME") && c.WeakArgon2() {
		found.add("LINEPROOF_ARGON2_MEMORY_KIB", "LINEPROOF_ARGON2_MEMORY_KIB and LINEPROOF_ARGON2_TIME make passwords cheap to guess: set at least 19456 and 2, 12288 and 3, 9216 and 4, or 7168 and 5")
	}
}

// WeakArgon2 reports whether guessing a password costs less than the least that OWASP recommends.
func (c *Config) WeakArgon2() bool {
	for _, least := range [][2]uint32{{19456, 2}, {12288, 3}, {9216, 4}, {7168, 5}} {
		if c.Argon2MemoryKiB >= least[0] && c.Argon2Time >= least[1] {
			return false
		}
	}
	return true
}
