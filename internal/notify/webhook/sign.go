// This part of the package signs webhooks as Standard Webhooks 1.0.0 describes.
//
// The signature covers the id, the time and the body of a request, so that none of
// them can be changed, and an old request can be told from a new one. With Ed25519, the
// default, the receiver has only the public key: it can verify, it cannot sign, and it
// can show others what it was sent. HMAC is there for receivers whose language lacks
// Ed25519.

package webhook

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/values/secret"
)

// Algorithm is how a key signs. The values are stored and are part of the contract.
type Algorithm string

// The algorithms.
const (
	Ed25519 Algorithm = "ed25519"
	HMAC    Algorithm = "hmac"
)

// The headers of a signed request.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// The prefixes of keys in text.
const (
	sharedPrefix  = "whsec_" // for both sides, of HMAC
	privatePrefix = "whsk_"  // ours, of Ed25519
	publicPrefix  = "whpk_"  // the receiver's, of Ed25519
)

// keyBytes is the length of a shared key, and of the seed of a private key.
const keyBytes = 32

// errKey contains nothing of the key, because its text is logged.
var errKey = errors.New("webhook: this is no key to sign webhooks with")

// Key signs requests to one receiver.
type Key struct {
	private ed25519.PrivateKey // nil for HMAC
	shared  []byte             // nil for Ed25519
}

// NewKey creates a random key.
func NewKey(a Algorithm) Key {
	b := make([]byte, keyBytes)
	_, _ = rand.Read(b) // never fails: without randomness the process ends
	if a == HMAC {
		return Key{shared: b}
	}
	return Key{private: ed25519.NewKeyFromSeed(b)}
}

// ParseKey reads what [Key.Text] returned.
func ParseKey(t secret.Text) (Key, error) {
	prefix, text, _ := strings.Cut(t.Reveal(), "_")
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != keyBytes {
		return Key{}, errKey
	}
	switch prefix + "_" {
	case sharedPrefix:
		return Key{shared: b}, nil
	case privatePrefix:
		return Key{private: ed25519.NewKeyFromSeed(b)}, nil
	}
	return Key{}, errKey
}

// Text returns the key with which we sign. It is stored encrypted and shown to nobody.
func (k Key) Text() secret.Text {
	if k.private != nil {
		return secret.Text(privatePrefix + base64.StdEncoding.EncodeToString(k.private.Seed()))
	}
	return secret.Text(sharedPrefix + base64.StdEncoding.EncodeToString(k.shared))
}

// Algorithm returns how the key signs.
func (k Key) Algorithm() Algorithm {
	if k.private != nil {
		return Ed25519
	}
	return HMAC
}

// Receiver returns the key with which the receiver verifies: the public one, or for
// HMAC the shared one, which is a secret.
func (k Key) Receiver() secret.Text {
	if k.private == nil {
		return k.Text()
	}
	public, _ := k.private.Public().(ed25519.PublicKey)
	return secret.Text(publicPrefix + base64.StdEncoding.EncodeToString(public))
}

// Signed are the values of the headers of a signed request.
type Signed struct{ ID, Timestamp, Signature string }

// Sign signs a request with every key, so that a receiver that has one of them accepts
// it. The id must not contain a dot.
func Sign(id string, at time.Time, body []byte, keys ...Key) Signed {
	s := Signed{ID: id, Timestamp: strconv.FormatInt(at.Unix(), 10)}
	content := make([]byte, 0, len(id)+len(s.Timestamp)+len(body)+2)
	content = append(content, id+"."+s.Timestamp+"."...)
	content = append(content, body...)
	signatures := make([]string, len(keys))
	for i, k := range keys {
		signatures[i] = k.sign(content)
	}
	s.Signature = strings.Join(signatures, " ")
	return s
}

func (k Key) sign(content []byte) string {
	if k.private != nil {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(k.private, content))
	}
	mac := hmac.New(sha256.New, k.shared)
	mac.Write(content) // a hash never returns an error
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
