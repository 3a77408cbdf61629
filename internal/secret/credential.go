package secret

import (
	"crypto/rand"
	"hash/crc32"
	"strings"
)

// Prefix says what kind of credential a text is, to people, to the code and to
// scanners that look for leaks.
type Prefix string

// The kinds of credential.
const (
	LiveKey      Prefix = "lp_live_" // an API key that asks about real lines
	TestKey      Prefix = "lp_test_" // an API key that asks about test numbers
	AccessToken  Prefix = "lp_tok_"  // what the token endpoint gives
	Session      Prefix = "lp_ses_"  // what a login gives
	ClientSecret Prefix = "lp_sec_"  // what a client shows to the token endpoint
)

// prefixes is every kind that Parse knows. None is the beginning of another.
var prefixes = [...]Prefix{LiveKey, TestKey, AccessToken, Session, ClientSecret}

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

	randomLen   = 32 // about 190 bits
	checksumLen = 6  // 62^6 is above 2^32
	previewLen  = 4  // shown at either end; more than 140 bits stay hidden
)

// New makes a credential of kind p: the prefix, 32 random characters and a
// checksum of all of them.
func New(p Prefix) Text {
	var b strings.Builder
	b.Grow(len(p) + randomLen + checksumLen)
	b.WriteString(string(p))
	writeRandom(&b)
	sum := checksum(b.String())
	b.Write(sum[:])
	return Text(b.String())
}

// Parse reports which kind of credential s is. It is false when the form, the
// prefix or the checksum is not right, so that a typo needs no look-up. It does not
// allocate: it runs before every authenticated request.
func Parse(s string) (Prefix, bool) {
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(s, string(p))
		if !ok {
			continue
		}
		if len(rest) != randomLen+checksumLen || !isBase62(rest) {
			return "", false
		}
		signed := s[:len(s)-checksumLen]
		sum := checksum(signed)
		if s[len(signed):] != string(sum[:]) {
			return "", false
		}
		return p, true
	}
	return "", false
}

// Preview returns what a page may show of a credential, so that its owner can tell
// one from another. Text that is no credential shows nothing.
func Preview(t Text) string {
	p, ok := Parse(string(t))
	if !ok {
		return hidden
	}
	return string(t[:len(p)+previewLen]) + "…" + string(t[len(t)-previewLen:])
}

// writeRandom appends 32 random characters. Bytes above the largest multiple of 62
// are thrown away: taking them modulo 62 would favour the first characters.
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

// checksum is the CRC-32 (IEEE) of s in Base62, padded with zeros on the left. The
// loop stands here because hash/crc32 wants a slice, which would have to be
// allocated; a test holds the two to each other.
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
