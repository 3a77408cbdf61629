package registry

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxEmail     = 254
	maxLocalPart = 64
)

// EmailKey returns the canonical form by which an e-mail address is unique: the
// local part in lower case and the domain in the ASCII form of IDNA. Nothing else
// is normalised: an address with a tag or another dot is another address, because
// only the receiving server knows whether both lead to the same mailbox.
//
// The local part must be ASCII. Other addresses exist, but two that look the same
// to a person could be two accounts.
func EmailKey(s string) (string, bool) {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || !utf8.ValidString(s) || len(s) > maxEmail || local == "" || len(local) > maxLocalPart {
		return "", false
	}
	for label := range strings.SplitSeq(local, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool { return !isAtext(r) }) {
			return "", false
		}
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || !strings.Contains(ascii, ".") || slices.Contains(strings.Split(ascii, "."), "") {
		return "", false
	}
	// A domain whose ASCII form does not convert to itself is rejected, even if IDNA
	// accepts it.
	if again, err := idna.Lookup.ToASCII(ascii); err != nil || again != ascii {
		return "", false
	}
	return strings.ToLower(local) + "@" + strings.ToLower(ascii), true
}

// isAtext reports whether r is allowed in an unquoted local part (RFC 5322).
func isAtext(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}
