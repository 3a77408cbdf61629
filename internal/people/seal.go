package people

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/secret"
)

// sealLabel makes the key that seals from a pepper. It never changes: what was
// sealed could not be opened again.
const sealLabel = "lineproof second factor, sealed with AES-256-GCM, 1"

// errSealed says nothing of what is in it, for the text goes to the log.
var errSealed = errors.New("people: a second factor cannot be opened with any of the peppers; it was sealed under one that is gone, or is damaged")

// seal encrypts a secret of an account under a key derived from the newest
// pepper. It opens for no other account.
func (p *People) seal(account uuid.UUID, text secret.Text) ([]byte, error) {
	box, err := boxOf(p.Peppers.Sign(sealLabel))
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // never fails: without randomness the process ends
	return box.Seal(nonce, nonce, []byte(text.Reveal()), account[:]), nil
}

// open decrypts what seal made under any of the peppers.
func (p *People) open(account uuid.UUID, sealed []byte) (secret.Text, error) {
	for _, key := range p.Peppers.Candidates(sealLabel) {
		box, err := boxOf(key)
		if err != nil {
			return "", err
		}
		if len(sealed) < box.NonceSize() {
			return "", errSealed
		}
		text, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], account[:])
		if err == nil {
			return secret.Text(text), nil
		}
	}
	return "", errSealed
}

func boxOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("people: the key that seals: %w", err)
	}
	return cipher.NewGCM(block)
}
