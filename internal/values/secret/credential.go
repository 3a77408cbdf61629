package secret

import (
	"crypto/rand"
	"hash/crc32"
	"strings"
)

// Prefix identifies the kind of a credential to people, to code and to secret
// scanners.
type Prefix string

// The kinds of credential.
const (
	LiveKey      Prefix = "lp_live_" // an API key for real lines
	TestKey      Prefix = "lp_test_" // an API key for test numbers
	AccessToken  Prefix = "lp_tok_"  // issued by the token endpoint
	Session      Prefix = "lp_ses_"  // issued by a login over the API, which it is for
	PortalCookie Prefix = "lp_web_"  // issued by a login to the portal, which it is for
	ClientSecret Prefix = "lp_sec_"  // a client authenticates to the token endpoint with it
)

// prefixes lists every kind that Parse knows. None is a prefix of another.
var prefixes = [...]Prefix{LiveKey, TestKey, AccessToken, Session, PortalCookie, ClientSecret}

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	randomLen   = 32 // about 190 bits
	checksumLen = 6  // 62^6 is above 2^32
	previewLen  = 4  // shown at each end; more than 140 bits stay hidden
)

// New creates a credential of kind p: the prefix, 32 random characters and a
// checksum of both.
func New(p Prefix) Text {
	var b strings.Builder
	b.Grow(len(p) + randomLen + checksumLen)
	b.WriteString(string(p))
	writeRandom(&b)
	sum := checksum(b.String())
	b.Write(sum[:])
	return Text(b.String())
}

// Parse returns the kind of a credential. It returns false if the form, the prefix
// or the checksum is wrong, so that a typo needs no query. It does not allocate,
// because it runs for every authenticated request.
func Parse(s string) (Prefix, bool) {
	for _, p := range prefixes {
		if Is(p, s) {
			return p, true
		}
	}
	return "", false
}

// Is reports whether s has the form and the checksum of a credential of kind p, which may
// be one that Parse does not know.
func Is(p Prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, string(p))
	if !ok || len(rest) != randomLen+checksumLen || !isBase62(rest) {
		return false
	}
	signed := s[:len(s)-checksumLen]
	sum := checksum(signed)
	return s[len(signed):] == string(sum[:])
}

// Preview returns the part of a credential that a page may show, so that its owner
// can tell one from another. Of text that is no credential nothing is shown.
func Preview(t Text) string {
	p, ok := Parse(string(t))
	if !ok {
		return hidden
	}
	return string(t[:len(p)+previewLen]) + "…" + string(t[len(t)-previewLen:])
}

// writeRandom appends 32 random characters. Bytes above the largest multiple of 62
// are discarded: taking them modulo 62 would favour the first characters.
func writeRandom(b *strings.Builder) {
	const fair = 256 - 256%len(base62)
	var buf [randomLen]byte
	for missing := randomLen; missing > 0; {
		_, _ = rand.Read(buf[:]) // never fails: without randomness the process ends
		for _, c := range buf {
			if int(c) < fair && missing > 0 {
				b.WriteByte(base62[int(c)%len(base62)])
				missing--
			}
		}
	}
}

// checksum returns the CRC-32 (IEEE) of s in Base62, padded with zeros on the left.
// It has its own loop because hash/crc32 takes a slice, which would have to be
// allocated; a test compares the two.
func checksum(s string) [checksumLen]byte {
	crc := ^uint32(0)
	for i := range len(s) {
		crc = crc32.IEEETable[byte(crc&0xff)^s[i]] ^ crc>>8
	}
	crc = ^crc

	var sum [checksumLen]byte
	for i := checksumLen - 1; i >= 0; i-- {
		sum[i] = base62[crc%uint32(len(base62))]
		crc /= uint32(len(base62))
	}
	return sum
}

func isBase62(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		default:
			return false
		}
	}
	return true
}
