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

// sealLabel derives the encryption key from a pepper. It must never change: stored
// secrets could not be decrypted any more.
const sealLabel = "lineproof second factor, sealed with AES-256-GCM, 1"

// errSealed contains nothing of the secret, because the text is logged.
var errSealed = errors.New("people: a second factor cannot be decrypted with any of the peppers; it was encrypted under one that was removed, or is damaged")

// seal encrypts a secret of an account under a key derived from the newest
// pepper. The account id is authenticated with it, so that it cannot be decrypted
// for another account.
func (p *People) seal(account uuid.UUID, text secret.Text) ([]byte, error) {
	aead, err := newAEAD(p.Peppers.Sign(sealLabel))
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails: without randomness the process ends
	return aead.Seal(nonce, nonce, []byte(text.Reveal()), account[:]), nil
}

// open decrypts what seal encrypted under any of the peppers.
func (p *People) open(account uuid.UUID, sealed []byte) (secret.Text, error) {
	for _, key := range p.Peppers.Candidates(sealLabel) {
		aead, err := newAEAD(key)
		if err != nil {
			return "", err
		}
		if len(sealed) < aead.NonceSize() {
			return "", errSealed
		}
		text, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], account[:])
		if err == nil {
			return secret.Text(text), nil
		}
	}
	return "", errSealed
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("people: create the cipher: %w", err)
	}
	return cipher.NewGCM(block)
}
