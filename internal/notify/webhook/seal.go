package webhook

import (
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// context returns the fields that are authenticated with the key: where the events go, and
// whose they are. A row in which any of it was changed has no key.
func (e *Endpoint) context() []string {
	return []string{e.ID.String(), e.entity.String(), e.Mode, e.URL}
}

// encryptKey encrypts a key under the newest pepper.
func (s *Service) encryptKey(e *Endpoint, key Key) []byte {
	return s.Peppers.Seal(secret.WebhookKeys, key.Text(), e.context()...)
}

// decryptKey decrypts what encryptKey encrypted under any of the peppers. Outdated means an older one
// than the newest.
func (s *Service) decryptKey(e *Endpoint, encrypted []byte) (key Key, outdated bool, err error) {
	text, outdated, err := s.Peppers.Open(secret.WebhookKeys, encrypted, e.context()...)
	if err != nil {
		return Key{}, false, fmt.Errorf("webhook: open the key of an endpoint: %w", err)
	}
	key, err = ParseKey(text)
	return key, outdated, err
}

// keys returns the keys that sign now: the newest first, and the one before while it is
// still valid and can be decrypted.
func (s *Service) keys(e *Endpoint, now time.Time) ([]Key, error) {
	key, _, err := s.decryptKey(e, e.encryptedKey)
	if err != nil {
		return nil, err
	}
	keys := []Key{key}
	if e.previousEncryptedKey != nil && now.Before(e.PreviousUntil) {
		if previous, _, err := s.decryptKey(e, e.previousEncryptedKey); err == nil {
			keys = append(keys, previous)
		}
	}
	return keys, nil
}

// PublicKey returns the key with which the receiver verifies, or "" if it is a secret or
// cannot be read.
func (s *Service) PublicKey(e *Endpoint) string {
	if e.Algorithm != Ed25519 {
		return ""
	}
	key, _, err := s.decryptKey(e, e.encryptedKey)
	if err != nil {
		return ""
	}
	return key.Receiver().Reveal()
}
