package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/hooksign"
	"github.com/lineproof/lineproof/internal/secret"
)

// sealLabel derives the encryption key from a pepper. It must never change: stored keys
// could not be decrypted any more.
const sealLabel = "lineproof webhook keys, sealed with AES-256-GCM, 1"

// errSealed contains nothing of the key, because the text is logged.
var errSealed = errors.New("webhook: the key of an endpoint cannot be decrypted with any of the peppers: its row was changed outside the service, or the pepper was removed")

// context returns what is authenticated with the key: where the events go, and whose they
// are. A row in which any of it was changed has no key.
func (e *Endpoint) context() []byte {
	return []byte(e.ID.String() + "\x00" + e.entity.String() + "\x00" + e.Mode + "\x00" + e.URL)
}

// seal encrypts a key under a key derived from the newest pepper.
func (s *Service) seal(e *Endpoint, key hooksign.Key) ([]byte, error) {
	aead, err := newAEAD(s.Peppers.Sign(sealLabel))
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails: without randomness the process ends
	return aead.Seal(nonce, nonce, []byte(key.Text().Reveal()), e.context()), nil
}

// open decrypts what seal encrypted under any of the peppers.
func (s *Service) open(e *Endpoint, sealed []byte) (hooksign.Key, error) {
	key, _, err := s.openWith(e, sealed)
	return key, err
}

// openWith is open, and returns which pepper it was; 0 is the newest.
func (s *Service) openWith(e *Endpoint, sealed []byte) (key hooksign.Key, pepper int, err error) {
	for i, derived := range s.Peppers.Candidates(sealLabel) {
		aead, err := newAEAD(derived)
		if err != nil {
			return hooksign.Key{}, 0, err
		}
		if len(sealed) < aead.NonceSize() {
			return hooksign.Key{}, 0, errSealed
		}
		text, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], e.context())
		if err == nil {
			key, err = hooksign.Parse(secret.Text(text))
			return key, i, err
		}
	}
	return hooksign.Key{}, 0, errSealed
}

// keys returns the keys that sign now: the newest first, and the one before while it is
// still valid and can be decrypted.
func (s *Service) keys(e *Endpoint, now time.Time) ([]hooksign.Key, error) {
	key, err := s.open(e, e.sealed)
	if err != nil {
		return nil, err
	}
	keys := []hooksign.Key{key}
	if e.previousSealed != nil && now.Before(e.PreviousUntil) {
		if previous, err := s.open(e, e.previousSealed); err == nil {
			keys = append(keys, previous)
		}
	}
	return keys, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("webhook: create the cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// PublicKey returns the key with which the receiver verifies, or "" if it is a secret or
// cannot be read.
func (s *Service) PublicKey(e *Endpoint) string {
	if e.Algorithm != hooksign.Ed25519 {
		return ""
	}
	key, err := s.open(e, e.sealed)
	if err != nil {
		return ""
	}
	return key.Receiver().Reveal()
}
