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

// EmailKey returns the form of an e-mail address by which it is unique: the
// local part in lower case and the domain as IDNA writes it. Nothing else is
// folded: a tag or a dot makes another address, because only the receiving
// server knows that it does not.
//
// The local part must be plain ASCII. Addresses beyond that exist, but two that
// look the same to a person would be two accounts.
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
	// A domain that does not read back as itself is none, whatever IDNA makes of it.
	if again, err := idna.Lookup.ToASCII(ascii); err != nil || again != ascii {
		return "", false
	}
	return strings.ToLower(local) + "@" + strings.ToLower(ascii), true
}

// isAtext reports whether r may stand in an unquoted local part (RFC 5322).
func isAtext(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
}
