package journal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
)

// Entry is one record: the service committed to this answer. It does not prove
// that the caller received it.
type Entry struct {
	RequestID     uuid.UUID
	At            time.Time // whole milliseconds; the time inside RequestID
	Entity        uuid.UUID // the caller
	Key           uuid.UUID // the API key of the request
	Mode          string    // live or test
	Purpose       string    // of the key
	Correlator    string    // the header x-correlator, as sent
	Number        int64     // E.164 without the plus sign
	PhoneNumber   string    // as sent, byte for byte
	Options       string    // what the request asked for beyond the number
	Status        string    // as answered
	MobileNetwork string    // as answered
	Extra         string    // the rest of the answer, as one JSON object; empty if the request asked for nothing more
	LineVersion   int64
	PolicyVersion int32
	PlanVersion   int32
	Nonce         [16]byte // random: without it, the number could be found by hashing every number
}

// Every canonical encoding starts with its name. A change of the encoding gets a
// new name. Records without Extra have an encoding without that field.
const (
	plainEncoding    = "lineproof journal record 1\n"
	extendedEncoding = "lineproof journal record 2\n"
)

// Encode returns the canonical encoding that docs/reference/journal-record.md
// describes: the name of the encoding, then every field as a length of four
// bytes and its bytes; numbers and times are eight bytes, big-endian. Extra is
// included only if it is not empty, which the name of the encoding tells.
func (e *Entry) Encode() []byte { return e.appendTo(make([]byte, 0, 320+len(e.Extra))) }

func (e *Entry) appendTo(b []byte) []byte {
	if e.Extra == "" {
		b = append(b, plainEncoding...)
	} else {
		b = append(b, extendedEncoding...)
	}
	raw := func(p []byte) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...) }  //nolint:gosec // fields are short
	text := func(s string) { b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) } //nolint:gosec // fields are short
	number := func(n int64) {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(n)) //nolint:gosec // two's complement is the encoding
	}
	raw(e.RequestID[:])
	number(e.At.UnixMilli())
	raw(e.Entity[:])
	raw(e.Key[:])
	text(e.Mode)
	text(e.Purpose)
	text(e.Correlator)
	number(e.Number)
	text(e.PhoneNumber)
	text(e.Options)
	text(e.Status)
	text(e.MobileNetwork)
	if e.Extra != "" {
		text(e.Extra)
	}
	number(e.LineVersion)
	number(int64(e.PolicyVersion))
	number(int64(e.PlanVersion))
	raw(e.Nonce[:])
	return b
}

// Hash returns the SHA-256 of the canonical encoding.
func (e *Entry) Hash() [sha256.Size]byte { return sha256.Sum256(e.Encode()) }

// NewNonce returns sixteen random bytes.
func NewNonce() (n [16]byte) {
	_, _ = rand.Read(n[:]) // never fails: the program ends if the system has no randomness
	return n
}

// Root returns the Merkle root (RFC 6962) of the entries' hashes, in order. The
// hashing is done here because the library's own makes four allocations per hash.
func Root(hashes [][]byte) ([]byte, error) {
	r := (&compact.RangeFactory{Hash: hashChildren}).NewEmptyRange(0)
	leaf := make([]byte, 1+sha256.Size)
	leaf[0] = rfc6962.RFC6962LeafHashPrefix
	for _, h := range hashes {
		sum := sha256.Sum256(append(leaf[:1], h...))
		if err := r.Append(sum[:], nil); err != nil {
			return nil, fmt.Errorf("journal: merkle root: %w", err)
		}
	}
	root, err := r.GetRootHash(nil)
	if err != nil {
		return nil, fmt.Errorf("journal: merkle root: %w", err)
	}
	return root, nil
}

// hashChildren is the hash of an inner node.
func hashChildren(left, right []byte) []byte {
	var node [1 + 2*sha256.Size]byte
	node[0] = rfc6962.RFC6962NodeHashPrefix
	copy(node[1:], left)
	copy(node[1+sha256.Size:], right)
	sum := sha256.Sum256(node[:])
	return sum[:]
}

// cell identifies the database cluster of the number, for a future with more than
// one. It is the tenth byte of every request id.
const cell = 0

// NewRequestID returns a UUIDv7 that carries at, to the millisecond, and the
// cell; the rest is random.
func NewRequestID(at time.Time) (id uuid.UUID) {
	_, _ = rand.Read(id[:]) // never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	id[9] = cell
	return id
}

// TimeOf returns the time inside a request id.
func TimeOf(id uuid.UUID) (time.Time, error) {
	if id.Version() != 7 {
		return time.Time{}, ErrNotFound
	}
	ms := int64(binary.BigEndian.Uint64(append([]byte{0, 0}, id[:6]...))) //nolint:gosec // 48 bits
	return time.UnixMilli(ms).UTC(), nil
}
