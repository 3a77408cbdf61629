package secret

import (
	"crypto/cipher"
	"crypto/hkdf"
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
//
// A pepper itself signs nothing. Every [Purpose] and every [Box] has a key that HKDF
// derives from the pepper, so whoever chooses what is signed for one learns nothing about
// the keys of the others.
type Peppers struct{ all []pepper } // newest first

// pepper has the keys that are derived from one pepper.
type pepper struct {
	version string
	macs    [purposes]*sync.Pool // of hash.Hash
	boxes   [boxes]cipher.AEAD
}

// versionLen is the length of a version in bytes, before Base64.
const versionLen = 6

// NewPeppers takes the peppers, newest first. It returns every problem at once.
func NewPeppers(list []Text) (*Peppers, error) {
	var problems []error
	if len(list) == 0 {
		problems = append(problems, errors.New("secret: the list of peppers is empty"))
	}
	for i, text := range list {
		if len(text) < minPepper {
			problems = append(problems, fmt.Errorf("secret: pepper %d is shorter than %d bytes", i+1, minPepper))
		}
		if slices.Contains(list[:i], text) {
			// A rotation that changed nothing would look like one that did.
			problems = append(problems, fmt.Errorf("secret: pepper %d is in the list twice", i+1))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	p := &Peppers{}
	for _, text := range list {
		p.all = append(p.all, newPepper([]byte(text)))
	}
	return p, nil
}

func newPepper(text []byte) pepper {
	p := pepper{version: base64.RawURLEncoding.EncodeToString(derive(text, versionInfo, versionLen))}
	for i, info := range purposeInfo {
		key := derive(text, info, sha256.Size)
		p.macs[i] = &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}
	}
	for i, info := range boxInfo {
		p.boxes[i] = newAEAD(derive(text, info, boxKeyLen))
	}
	return p
}

func derive(pepper []byte, info string, length int) []byte {
	key, err := hkdf.Key(sha256.New, pepper, nil, info, length)
	if err != nil {
		panic(err) // the lengths above are possible with any pepper
	}
	return key
}

// version returns the index of the pepper with a version, or -1. A version tells which
// pepper was used and reveals nothing of it.
func (p *Peppers) version(v string) int {
	return slices.IndexFunc(p.all, func(one pepper) bool { return one.version == v })
}

// Rotating reports whether there are older peppers, under which something may be stored.
func (p *Peppers) Rotating() bool { return len(p.all) > 1 }

// Sign returns what is stored of the parts: their HMAC for a purpose under the newest
// pepper. The length of each part is signed with it, so no other parts have the same sum.
func (p *Peppers) Sign(purpose Purpose, parts ...string) []byte {
	return p.all[0].sign(purpose, parts...)
}

// Candidates returns the sums of Sign under every pepper, newest first, for a query
// with = ANY.
func (p *Peppers) Candidates(purpose Purpose, parts ...string) [][]byte {
	sums := make([][]byte, len(p.all))
	for i := range p.all {
		sums[i] = p.all[i].sign(purpose, parts...)
	}
	return sums
}

// sign uses a state from the pool, since setting up the two keyed states of an HMAC
// costs more than the sum of a short text.
func (p *pepper) sign(purpose Purpose, parts ...string) []byte {
	mac := p.macs[purpose].Get().(hash.Hash) //nolint:forcetypeassert // the pool holds nothing else
	defer p.macs[purpose].Put(mac)
	mac.Reset()
	mac.Write(joined(parts)) // a hash never returns an error
	return mac.Sum(nil)
}
