package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The bounds of a stored hash. An attacker who can write one row must not be able to
// make a login take all memory or an hour.
const (
	maxMemoryKiB          = 256 * 1024
	minMemoryPerThreadKiB = 8 // below it argon2 is not defined
	maxTime               = 16
	maxThreads            = 16
	minBytes              = 8 // of salt; the key has twice that
	maxBytes              = 64
)

// errHash contains nothing of the hash, because the text is logged.
var errHash = errors.New("secret: a stored password hash cannot be read")

// phc is a password hash in the form of the Password Hashing Competition:
// $argon2id$v=19$m=19456,t=2,p=1,keyid=version$salt$key.
type phc struct {
	cost   Cost
	pepper string // the version of the pepper
	salt   []byte
	key    []byte
}

// String returns the PHC string.
func (h phc) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d,keyid=%s$%s$%s",
		argon2.Version, h.cost.MemoryKiB, h.cost.Time, h.cost.Threads, h.pepper, b64(h.salt), b64(h.key))
}

// parsePHC parses exactly what String writes.
func parsePHC(s string) (phc, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v="+strconv.Itoa(argon2.Version) {
		return phc{}, errHash
	}
	text, pepper, peppered := strings.Cut(parts[3], ",keyid=")
	cost, ok := parseCost(text)
	if !ok || !peppered || pepper == "" {
		return phc{}, errHash
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	key, keyErr := b64.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil ||
		len(salt) < minBytes || len(salt) > maxBytes || len(key) < 2*minBytes || len(key) > maxBytes {
		return phc{}, errHash
	}
	return phc{cost: cost, pepper: pepper, salt: salt, key: key}, nil
}

// parseCost parses m=19456,t=2,p=1 and rejects values out of bounds.
func parseCost(s string) (Cost, bool) {
	fields := strings.Split(s, ",")
	if len(fields) != 3 {
		return Cost{}, false
	}
	threads, ok1 := parseField(fields[2], "p=", 1, maxThreads)
	passes, ok2 := parseField(fields[1], "t=", 1, maxTime)
	memory, ok3 := parseField(fields[0], "m=", minMemoryPerThreadKiB*threads, maxMemoryKiB)
	return Cost{MemoryKiB: memory, Time: passes, Threads: uint8(threads)}, ok1 && ok2 && ok3 //nolint:gosec // at most maxThreads
}

func parseField(s, name string, minValue, maxValue uint32) (uint32, bool) {
	digits, ok := strings.CutPrefix(s, name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || uint32(n) < minValue || uint32(n) > maxValue {
		return 0, false
	}
	return uint32(n), true
}
