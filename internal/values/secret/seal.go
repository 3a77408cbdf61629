package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
)

// boxKeyLen is the length of a key of AES-256.
const boxKeyLen = 32

// ErrSealed contains nothing of what is sealed, because the text is logged.
var ErrSealed = errors.New("secret: a sealed value cannot be decrypted with any of the peppers: its row was changed outside the service, or its pepper was removed")

// Seal encrypts a text with AES-256-GCM under a key of the newest pepper. What it belongs to
// is authenticated with it: it opens only with the same context.
func (p *Peppers) Seal(box Box, text Text, context ...string) []byte {
	return p.all[0].boxes[box].Seal(nil, nil, []byte(text.Reveal()), joined(context)) //nolint:gosec // the box makes its own nonce
}

// Open decrypts what Seal encrypted under any of the peppers. Outdated means an older one
// than the newest.
func (p *Peppers) Open(box Box, sealed []byte, context ...string) (text Text, outdated bool, err error) {
	for i := range p.all {
		if plain, err := p.all[i].boxes[box].Open(nil, nil, sealed, joined(context)); err == nil {
			return Text(plain), i > 0, nil
		}
	}
	return "", false, ErrSealed
}

// newAEAD returns AES-256-GCM that puts a random nonce before what it encrypts.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has boxKeyLen bytes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size that GCM needs
	}
	return aead
}

// joined returns the parts, each after its length, so that no others have the same bytes.
func joined(parts []string) []byte {
	size := 0
	for _, part := range parts {
		size += binary.MaxVarintLen32 + len(part)
	}
	b := make([]byte, 0, size)
	for _, part := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	return b
}
