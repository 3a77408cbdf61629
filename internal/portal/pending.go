package portal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/lineproof/lineproof/internal/secret"
)

// pendingLabel derives the encryption key from a pepper.
const pendingLabel = "lineproof sign-in that waits for its second factor, sealed with AES-256-GCM, 1"

// pendingLifetime is how long a person may take to enter the code.
const pendingLifetime = 5 * time.Minute

// pendingSignIn is a sign-in with a correct password that still lacks the code of
// the second factor. It travels in the form of the code page, encrypted, so that
// any node can finish the sign-in and none has to store it. The password is
// checked again together with the code, so the encrypted value alone signs nobody
// in.
type pendingSignIn struct {
	Email    string    `json:"e"`
	Password string    `json:"p"`
	Until    time.Time `json:"u"`
}

func (p *Portal) sealPending(email string, password secret.Text) string {
	text, err := json.Marshal(pendingSignIn{Email: email, Password: password.Reveal(), Until: p.Now().Add(pendingLifetime)})
	if err != nil {
		panic(err) // a struct of strings
	}
	box := newAEAD(p.People.Peppers.Sign(pendingLabel))
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // never fails: the process ends if there is no randomness
	return base64.RawURLEncoding.EncodeToString(box.Seal(nonce, nonce, text, nil))
}

func (p *Portal) openPending(sealed string) (email string, password secret.Text, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", "", false
	}
	for _, key := range p.People.Peppers.Candidates(pendingLabel) {
		box := newAEAD(key)
		if len(raw) < box.NonceSize() {
			return "", "", false
		}
		text, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], nil)
		if err != nil {
			continue
		}
		var found pendingSignIn
		if json.Unmarshal(text, &found) != nil || !p.Now().Before(found.Until) {
			return "", "", false
		}
		return found.Email, secret.Text(found.Password), true
	}
	return "", "", false
}

func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the HMAC is 32 bytes long
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block size that GCM needs
	}
	return box
}
