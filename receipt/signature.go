package receipt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
)

// The bytes that stand for an algorithm: Ed25519, of a log, and Ed25519 with a time, of a
// witness.
const (
	logAlgorithm     = 1
	witnessAlgorithm = 4
)

// strictSignatures reports whether the signatures of a note are written in the only way
// that every verifier reads: strict base64, names of printable ASCII, and no key twice.
// Package note is more lenient.
func strictSignatures(signed string) bool {
	_, after, ok := strings.CutLast(signed, "\n\n")
	if !ok {
		return false
	}
	seen := map[string]bool{}
	for line := range strings.Lines(after) {
		name, encoded, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "\u2014 "), " ")
		raw, err := checkpoint.Decode(encoded)
		if err != nil || len(raw) <= idSize || !isName(name) || seen[name+" "+string(raw[:idSize])] {
			return false
		}
		seen[name+" "+string(raw[:idSize])] = true
	}
	return true
}

// isName reports whether a name is printable ASCII without spaces and plus signs.
func isName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '+' })
}

// idSize is the length of the id of a key, before a signature.
const idSize = 4

var errKey = errors.New("it is not a key of this kind")

// parseKey reads a public key: its name, its id and the key, between plus signs.
func parseKey(text string, algorithm byte) (name string, id uint32, key ed25519.PublicKey, err error) {
	name, rest, _ := strings.Cut(text, "+")
	hexID, encoded, _ := strings.Cut(rest, "+")
	raw, err := checkpoint.Decode(encoded)
	if err != nil || !isName(name) || len(raw) != 1+ed25519.PublicKeySize || raw[0] != algorithm {
		return "", 0, nil, errKey
	}
	hash := sha256.Sum256(append([]byte(name+"\n"), raw...))
	id = binary.BigEndian.Uint32(hash[:])
	if fmt.Sprintf("%08x", id) != hexID {
		return "", 0, nil, errKey
	}
	return name, id, raw[1:], nil
}

func newLogVerifier(text string) (note.Verifier, error) {
	if _, _, _, err := parseKey(text, logAlgorithm); err != nil {
		return nil, err
	}
	return note.NewVerifier(text)
}

// witnessVerifier verifies cosignatures in the form of c2sp.org/tlog-cosignature.
type witnessVerifier struct {
	name string
	id   uint32
	key  ed25519.PublicKey
}

func newWitnessVerifier(text string) (note.Verifier, error) {
	name, id, key, err := parseKey(text, witnessAlgorithm)
	return &witnessVerifier{name, id, key}, err
}

// Name implements note.Verifier.
func (v *witnessVerifier) Name() string { return v.name }

// KeyHash implements note.Verifier.
func (v *witnessVerifier) KeyHash() uint32 { return v.id }

// timeSize is the length of the time before a cosignature.
const timeSize = 8

// Verify implements note.Verifier.
func (v *witnessVerifier) Verify(message, signature []byte) bool {
	if len(signature) != timeSize+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(signature)
	return at <= maxNumber && ed25519.Verify(v.key, CosignedMessage(at, message), signature[timeSize:])
}

// CosignedMessage returns the message that a witness signs when it has seen a checkpoint at a time, in
// seconds since 1970.
func CosignedMessage(at uint64, text []byte) []byte {
	return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", at), text...)
}

// cosignedAt returns the time in a verified cosignature.
func cosignedAt(encoded string) time.Time {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(raw) < idSize+timeSize {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[idSize:])), 0).UTC() //nolint:gosec // a time of the last decades
}
