package secret

import (
	"errors"

	"golang.org/x/crypto/argon2"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNoHashing reports that a password could not be hashed. It says nothing about
// whether the password is right.
var ErrNoHashing = fault.New(fault.Unavailable, "Passwords cannot be checked at the moment. Try again in a few seconds.")

// NoHashing returns ErrNoHashing with a cause and a time after which to try again.
func NoHashing(cause error) *fault.Error {
	e := ErrNoHashing.Because(cause)
	e.RetryAfter = retryAfter()
	return e
}

// Derivation is what argon2id needs to turn a password into a key. The password is a
// slice, so that every copy of it can be cleared.
type Derivation struct {
	Password []byte
	Salt     []byte
	Cost     Cost
	KeyLen   int
}

var errDerivation = errors.New("secret: the cost, the salt or the length of a key is out of bounds")

// Check reports a Derivation that no stored hash can need. It has the bounds of a
// stored hash, so that nobody can make one password take all memory or an hour.
func (d *Derivation) Check() error {
	c := d.Cost
	if c.Threads < 1 || c.Threads > maxThreads || c.Time < 1 || c.Time > maxTime ||
		c.MemoryKiB < minMemoryPerThreadKiB*uint32(c.Threads) || c.MemoryKiB > maxMemoryKiB ||
		len(d.Salt) < minBytes || len(d.Salt) > maxBytes || d.KeyLen < 2*minBytes || d.KeyLen > maxBytes {
		return errDerivation
	}
	return nil
}

// DeriveKey computes a key in this process.
func DeriveKey(d Derivation) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return argon2.IDKey(d.Password, d.Salt, d.Cost.Time, d.Cost.MemoryKiB, d.Cost.Threads, uint32(d.KeyLen)), nil //nolint:gosec // at most maxBytes
}
