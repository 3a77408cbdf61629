// Package checkpoint reads and writes the text of a log's checkpoint, as
// c2sp.org/tlog-checkpoint describes it: origin, size and root, one in each line. Numbers
// and base64 have one spelling, so that two readers never read different things.
package checkpoint

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrFormat reports a text that is not in the form that it should have.
var ErrFormat = errors.New("checkpoint: it is not in the form of c2sp.org/tlog-checkpoint")

// Format returns the text of a checkpoint, without signatures.
func Format(origin string, size int64, root []byte) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, base64.StdEncoding.EncodeToString(root))
}

// Parse reads the text of a checkpoint, with its signatures or without. It verifies
// nothing.
func Parse(text string) (origin string, tree tlog.Tree, err error) {
	const rest = 4 // what follows origin, size and root
	lines := strings.SplitN(text, "\n", rest)
	if len(lines) < rest {
		return "", tree, ErrFormat
	}
	if tree.N, err = ParseNumber(lines[1]); err != nil {
		return "", tree, err
	}
	tree.Hash, err = ParseHash(lines[2])
	return lines[0], tree, err
}

// ParseNumber reads a number that is not negative.
func ParseNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, ErrFormat
	}
	return n, nil
}

// ParseHash reads a hash in base64.
func ParseHash(text string) (tlog.Hash, error) {
	hash, err := Decode(text)
	if err != nil || len(hash) != tlog.HashSize {
		return tlog.Hash{}, ErrFormat
	}
	return tlog.Hash(hash), nil
}

// Decode reads base64. The decoder of Go skips line feeds, which others do not.
func Decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, ErrFormat
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, ErrFormat
	}
	return decoded, nil
}

// postQuantumSize is the length of a signature with ML-DSA-44 in a note: the id of the key,
// a time, and the signature.
const postQuantumSize = 4 + 8 + 2420

// WithoutPostQuantum returns a signed checkpoint without its signatures with ML-DSA-44.
func WithoutPostQuantum(signed string) string {
	at := strings.LastIndex(signed, "\n\n") + 2
	kept := []string{signed[:at]}
	for line := range strings.Lines(signed[at:]) {
		if base64.StdEncoding.DecodedLen(len(line)-strings.LastIndexByte(line, ' ')-2) < postQuantumSize {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
