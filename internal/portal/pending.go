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

// pendingLabel makes the key that seals from a pepper.
const pendingLabel = "lineproof sign-in that waits for its second factor, sealed with AES-256-GCM, 1"

// pendingTime is how long somebody may take to find the code.
const pendingTime = 5 * time.Minute

// pending is somebody who has shown the password and not yet the second factor.
// It travels through the page of the code, sealed, so that any node can go on
// and none has to remember it. Checking both again at the end keeps one way to
// log in: what was sealed lets nobody in by itself.
type pending struct {
	Email    string    `json:"e"`
	Password string    `json:"p"`
	Until    time.Time `json:"u"`
}

func (p *Portal) sealPending(email string, password secret.Text) string {
	text, err := json.Marshal(pending{Email: email, Password: password.Reveal(), Until: p.Now().Add(pendingTime)})
	if err != nil {
		panic(err) // a struct of strings
	}
	box := boxOf(p.People.Peppers.Sign(pendingLabel))
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // never fails: without randomness the process ends
	return base64.RawURLEncoding.EncodeToString(box.Seal(nonce, nonce, text, nil))
}

func (p *Portal) openPending(sealed string) (email string, password secret.Text, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", "", false
	}
	for _, key := range p.People.Peppers.Candidates(pendingLabel) {
		box := boxOf(key)
		if len(raw) < box.NonceSize() {
			return "", "", false
		}
		text, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], nil)
		if err != nil {
			continue
		}
		var found pending
		if json.Unmarshal(text, &found) != nil || !p.Now().Before(found.Until) {
			return "", "", false
		}
		return found.Email, secret.Text(found.Password), true
	}
	return "", "", false
}

func boxOf(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the HMAC is 32 bytes long
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the block that GCM needs
	}
	return box
}
