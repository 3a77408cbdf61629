package portal

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

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
	return base64.RawURLEncoding.EncodeToString(p.People.Peppers.Seal(secret.SignIns, secret.Text(text)))
}

func (p *Portal) openPending(sealed string) (email string, password secret.Text, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", "", false
	}
	text, _, err := p.People.Peppers.Open(secret.SignIns, raw)
	if err != nil {
		return "", "", false
	}
	var found pendingSignIn
	if json.Unmarshal([]byte(text), &found) != nil || !p.Now().Before(found.Until) {
		return "", "", false
	}
	return found.Email, secret.Text(found.Password), true
}
