// Package logkey opens the key with which the public log is signed, and signs checkpoints
// with it. The key is Ed25519, from a file or from an ssh-agent, behind which it may be in
// hardware.
package logkey

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// algorithm is the byte that stands for Ed25519 in a signed note.
const algorithm = 1

// Key signs in the name of a log. It implements [note.Signer].
type Key struct {
	name   string
	signer crypto.Signer
	public ed25519.PublicKey
	close  func() error

	next        *Key         // signs, too; see [Key.SignWith]
	postQuantum *PostQuantum // signs checkpoints, too
}

// agentPrefix starts the address of an ssh-agent.
const agentPrefix = "ssh-agent:"

// Open opens a key: a file with an Ed25519 key in PKCS #8 (PEM), or ssh-agent: and the
// path of the socket of an agent that has exactly one Ed25519 key. The name is the origin
// of the log.
func Open(ctx context.Context, from, name string) (*Key, error) {
	k := &Key{name: name, close: func() error { return nil }}
	var err error
	if socket, ok := strings.CutPrefix(from, agentPrefix); ok {
		k.signer, k.close, err = openAgent(ctx, socket)
	} else {
		k.signer, err = openFile(from)
	}
	if err != nil {
		return nil, err
	}
	public, ok := k.signer.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.Join(errors.New("logkey: the key is not an Ed25519 key"), k.close())
	}
	k.public = public
	return k, nil
}

// othersMay are the permissions of a file that only its owner may read.
const othersMay = 0o077

func openFile(path string) (crypto.Signer, error) {
	der, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, errors.New("logkey: the file of the key has no private key in PKCS #8; lineproof log key creates one")
	}
	signer, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("logkey: the key is not an Ed25519 key; lineproof log key creates one")
	}
	return signer, nil
}

// Create writes a new key into a file that must not exist.
func Create(path string) error {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("logkey: create a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("logkey: create a key: %w", err)
	}
	return writePEM(path, der)
}

// UnlessThere calls create for a file that may exist, and reports whether it was created.
func UnlessThere(path string, create func(path string) error) (created bool, err error) {
	err = create(path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// Close releases the connection to an agent.
func (k *Key) Close() error { return k.close() }

// SignWith makes other keys sign, too, from now on: the next Ed25519 key of the log, and one
// that withstands quantum computers and signs checkpoints only. Either may be nil.
func (k *Key) SignWith(next *Key, postQuantum *PostQuantum) {
	k.next, k.postQuantum = next, postQuantum
}

// SignNote returns a signed note with that text.
func (k *Key) SignNote(text string) (string, error) { return sign(text, k.signers()) }

func (k *Key) signers() []note.Signer {
	if k.next == nil {
		return []note.Signer{k}
	}
	return []note.Signer{k, k.next}
}

func sign(text string, by []note.Signer) (string, error) {
	signed, err := note.Sign(&note.Note{Text: text}, by...)
	if err != nil {
		return "", fmt.Errorf("logkey: sign: %w", err)
	}
	return string(signed), nil
}

// Public returns the public key.
func (k *Key) Public() ed25519.PublicKey { return k.public }

// Name implements [note.Signer].
func (k *Key) Name() string { return k.name }

// KeyHash implements [note.Signer].
func (k *Key) KeyHash() uint32 {
	hash := sha256.Sum256(append([]byte(k.name+"\n"+string(rune(algorithm))), k.public...))
	return binary.BigEndian.Uint32(hash[:])
}

// Sign implements [note.Signer].
func (k *Key) Sign(message []byte) ([]byte, error) {
	signature, err := k.signer.Sign(rand.Reader, message, crypto.Hash(0))
	if err != nil {
		return nil, fmt.Errorf("logkey: sign: %w", err)
	}
	// An agent is another program, and a wrong signature would be published.
	if !ed25519.Verify(k.public, message, signature) {
		return nil, errors.New("logkey: the signature that was made is wrong")
	}
	return signature, nil
}

// Verifier returns the text that others need to verify signatures: name, key id and key.
func (k *Key) Verifier() string {
	return fmt.Sprintf("%s+%08x+%s", k.name, k.KeyHash(), base64.StdEncoding.EncodeToString(append([]byte{algorithm}, k.public...)))
}

// SignCheckpoint returns the signed checkpoint of a log of that size and root.
func (k *Key) SignCheckpoint(size int64, root []byte) (string, error) {
	by := k.signers()
	if k.postQuantum != nil {
		by = append(by, k.postQuantum)
	}
	return sign(checkpoint.Format(k.name, size, root), by)
}
