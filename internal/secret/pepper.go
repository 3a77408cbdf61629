package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// minPepper is the shortest pepper: as long as the hash, below which HMAC is weaker
// than its hash function.
const minPepper = sha256.Size

// Peppers turn a secret into what is stored of it: HMAC-SHA-256 under a key that is
// not in the database, so that a stolen database holds nothing to try guesses
// against. New values are signed under the newest pepper; older peppers stay in the
// list until nothing signed under them is left.
type Peppers struct {
	macs []*sync.Pool // of hash.Hash, newest pepper first
}

// NewPeppers takes the peppers, newest first. It returns every complaint at once.
func NewPeppers(list []Text) (*Peppers, error) {
	var complaints []error
	if len(list) == 0 {
		complaints = append(complaints, errors.New("secret: the list of peppers is empty"))
	}
	for i, pepper := range list {
		if len(pepper) < minPepper {
			complaints = append(complaints, fmt.Errorf("secret: pepper %d is shorter than %d bytes", i+1, minPepper))
		}
		if slices.Contains(list[:i], pepper) {
			// A rotation that changed nothing would pass for one that did.
			complaints = append(complaints, fmt.Errorf("secret: pepper %d stands in the list before", i+1))
		}
	}
	if len(complaints) > 0 {
		return nil, errors.Join(complaints...)
	}

	p := &Peppers{macs: make([]*sync.Pool, len(list))}
	for i, pepper := range list {
		key := []byte(pepper)
		p.macs[i] = &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}
	}
	return p, nil
}

// Sign returns what is stored of s: its HMAC under the newest pepper.
func (p *Peppers) Sign(s string) []byte { return sign(p.macs[0], s) }

// Candidates returns what may be stored of s, newest pepper first, for a look-up
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
