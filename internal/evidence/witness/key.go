package witness

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/receipt"
)

// algorithm is the byte that stands for a cosignature with Ed25519 and a time.
const algorithm = 4

// Key signs in the name of a witness.
type Key struct {
	name string
	key  *logkey.Key
}

// NewKey returns a key under the name of a witness, such as witness.university.example.
func NewKey(k *logkey.Key) *Key { return &Key{k.Name(), k} }

// id returns the id of the key in notes.
func (k *Key) id() []byte {
	hash := sha256.Sum256(append([]byte(k.name+"\n"), k.raw()...))
	return hash[:4]
}

func (k *Key) raw() []byte { return append([]byte{algorithm}, k.key.Public()...) }

// Verifier returns the public key as a policy takes it.
func (k *Key) Verifier() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, binary.BigEndian.Uint32(k.id()), base64.StdEncoding.EncodeToString(k.raw()))
}

// cosign returns the line of a cosignature: this checkpoint was seen at that time.
func (k *Key) cosign(checkpoint string, at time.Time) (string, error) {
	seconds := uint64(at.Unix()) //nolint:gosec // after 1970
	signature, err := k.key.Sign(receipt.CosignedMessage(seconds, []byte(checkpoint)))
	if err != nil {
		return "", err
	}
	raw := binary.BigEndian.AppendUint64(k.id(), seconds)
	return fmt.Sprintf("\u2014 %s %s\n", k.name, base64.StdEncoding.EncodeToString(append(raw, signature[:ed25519.SignatureSize]...))), nil
}
