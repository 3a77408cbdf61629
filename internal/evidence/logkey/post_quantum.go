package logkey

import (
	"crypto/mldsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// postQuantum is the byte that stands for ML-DSA-44 with a time in a signed note.
const postQuantum = 6

// PostQuantum signs checkpoints with ML-DSA-44, which withstands quantum computers, in the
// form of c2sp.org/tlog-cosignature. It implements [note.Signer].
type PostQuantum struct {
	name string
	key  *mldsa.PrivateKey
	now  func() time.Time
}

// OpenPostQuantum opens a file with an ML-DSA-44 key in PKCS #8 (PEM).
func OpenPostQuantum(path, name string) (*PostQuantum, error) {
	der, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	key, ok := parsed.(*mldsa.PrivateKey)
	if err != nil || !ok || key.PublicKey().Parameters() != mldsa.MLDSA44() {
		return nil, errors.New("logkey: the file has no ML-DSA-44 key in PKCS #8; lineproof log key --post-quantum creates one")
	}
	return &PostQuantum{name, key, time.Now}, nil
}

// CreatePostQuantum writes a new key into a file that must not exist.
func CreatePostQuantum(path string) error {
	key, err := mldsa.GenerateKey(mldsa.MLDSA44())
	if err != nil {
		return fmt.Errorf("logkey: create a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("logkey: create a key: %w", err)
	}
	return writePEM(path, der)
}

// Name implements [note.Signer].
func (k *PostQuantum) Name() string { return k.name }

func (k *PostQuantum) public() []byte {
	return append([]byte{postQuantum}, k.key.PublicKey().Bytes()...)
}

// KeyHash implements [note.Signer].
func (k *PostQuantum) KeyHash() uint32 {
	hash := sha256.Sum256(append([]byte(k.name+"\n"), k.public()...))
	return binary.BigEndian.Uint32(hash[:])
}

// Verifier returns the text that others need to verify signatures: name, key id and key.
func (k *PostQuantum) Verifier() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(k.public()))
}

// Sign implements [note.Signer]. The text must be the text of a checkpoint.
func (k *PostQuantum) Sign(text []byte) ([]byte, error) {
	origin, tree, err := checkpoint.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("logkey: sign: %w", err)
	}
	at := uint64(k.now().Unix()) //nolint:gosec // after 1970
	message := postQuantumMessage(k.name, at, origin, tree.N, tree.Hash[:])
	signature, err := k.key.Sign(nil, message, nil)
	if err != nil {
		return nil, fmt.Errorf("logkey: sign: %w", err)
	}
	if err := mldsa.Verify(k.key.PublicKey(), message, signature, nil); err != nil {
		return nil, fmt.Errorf("logkey: the signature that was made is wrong: %w", err)
	}
	return append(binary.BigEndian.AppendUint64(nil, at), signature...), nil
}

// postQuantumMessage returns the message that is signed: the subtree of all entries.
func postQuantumMessage(name string, at uint64, origin string, size int64, root []byte) []byte {
	m := append([]byte("subtree/v1\n\x00"), byte(len(name))) //nolint:gosec // a name of a key is short
	m = append(m, name...)
	m = binary.BigEndian.AppendUint64(m, at)
	m = append(append(m, byte(len(origin))), origin...) //nolint:gosec // so is the name of a log
	m = binary.BigEndian.AppendUint64(m, 0)
	m = binary.BigEndian.AppendUint64(m, uint64(size)) //nolint:gosec // never negative
	return append(m, root...)
}

// readPEM returns the content of a PEM file that only its owner may read.
func readPEM(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("logkey: open the key: %w", err)
	}
	if info.Mode().Perm()&othersMay != 0 {
		return nil, fmt.Errorf("logkey: others can read the file of the key; run: chmod 600 %s", path)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the path comes from the settings
	if err != nil {
		return nil, fmt.Errorf("logkey: open the key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("logkey: the file of the key is not PEM; lineproof log key creates one")
	}
	return block.Bytes, nil
}

// writePEM writes a private key into a file that must not exist.
func writePEM(path string, der []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("logkey: create a key: %w", err)
	}
	err = pem.Encode(f, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return fault.Wrap(errors.Join(err, f.Sync(), f.Close()), "logkey: create a key")
}
