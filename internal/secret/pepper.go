package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// minPepper is the minimum length of a pepper: that of the hash, below which HMAC is
// weaker than its hash function.
const minPepper = sha256.Size

// Peppers turn a secret into what is stored of it: its HMAC-SHA-256 under a key that
// is not in the database, so that guesses cannot be tried against a stolen database.
// New values are signed under the newest pepper; older peppers stay in the list until
// nothing signed under them is left.
type Peppers struct {
	// All are newest pepper first, and the pools are of hash.Hash.
	macs      []*sync.Pool
	passwords []*sync.Pool
	rows      []*sync.Pool
	versions  []string
}

// The texts from which a key or a version is derived of a pepper. They must never
// change: what is stored could not be verified any more. Each use has a key of its own,
// so that nothing that is signed for one is valid for another.
const (
	passwordLabel = "lineproof passwords, HMAC-SHA-256 before argon2id, 1"
	versionLabel  = "lineproof version of the pepper, 1"
)

// versionLen is the length of a version in bytes, before Base64.
const versionLen = 6

// NewPeppers takes the peppers, newest first. It returns every problem at once.
func NewPeppers(list []Text) (*Peppers, error) {
	var problems []error
	if len(list) == 0 {
		problems = append(problems, errors.New("secret: the list of peppers is empty"))
	}
	for i, pepper := range list {
		if len(pepper) < minPepper {
			problems = append(problems, fmt.Errorf("secret: pepper %d is shorter than %d bytes", i+1, minPepper))
		}
		if slices.Contains(list[:i], pepper) {
			// A rotation that changed nothing would look like one that did.
			problems = append(problems, fmt.Errorf("secret: pepper %d is in the list twice", i+1))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}

	p := &Peppers{}
	for i, pepper := range list {
		p.macs = append(p.macs, newMACs([]byte(pepper)))
		p.passwords = append(p.passwords, newMACs(sign(p.macs[i], passwordLabel)))
		p.rows = append(p.rows, newMACs(sign(p.macs[i], rowLabel)))
		p.versions = append(p.versions, base64.RawURLEncoding.EncodeToString(sign(p.macs[i], versionLabel)[:versionLen]))
	}
	return p, nil
}

func newMACs(key []byte) *sync.Pool {
	return &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}
}

// version returns the index of the pepper with a version, or -1. A version tells which
// pepper was used and reveals nothing of it.
func (p *Peppers) version(v string) int { return slices.Index(p.versions, v) }

// Sign returns what is stored of s: its HMAC under the newest pepper.
func (p *Peppers) Sign(s string) []byte { return sign(p.macs[0], s) }

// Candidates returns the HMACs of s under every pepper, newest first, for a query
// with = ANY.
func (p *Peppers) Candidates(s string) [][]byte {
	sums := make([][]byte, len(p.macs))
	for i, pool := range p.macs {
		sums[i] = sign(pool, s)
	}
	return sums
}

// sign uses a state from the pool, since setting up the two keyed states of an HMAC
// costs more than the sum of a short text.
func sign(pool *sync.Pool, s string) []byte {
	mac := pool.Get().(hash.Hash) //nolint:forcetypeassert // the pool holds nothing else
	defer pool.Put(mac)
	mac.Reset()
	mac.Write([]byte(s)) // a hash never returns an error
	return mac.Sum(nil)
}
