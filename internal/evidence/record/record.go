// Package record defines the record of an answer: its fields, their canonical encoding
// and its hash. docs/reference/journal-record.md describes
// every byte.
package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/idtime"
)

// Entry is one record: the service committed to this answer. It does not prove
// that the caller received it.
type Entry struct {
	RequestID     uuid.UUID
	At            time.Time // whole milliseconds; the time inside RequestID
	Type          string    // of the question: number
	Entity        uuid.UUID // the caller
	Key           uuid.UUID // the API key of the request
	Mode          string    // live or test
	Purpose       string    // of the key: a code of the policy
	PurposeText   string    // of the key, in its own words; may be empty
	Status        string    // as answered
	Reason        string    // why the status is UNALLOCATED or UNKNOWN; otherwise empty
	MobileNetwork string    // as answered
	LineVersion   int64
	PolicyVersion int32
	PlanVersion   int32
	Rules         int32    // version of the rules of lines
	Coverage      Coverage // of the supply that decided the answer

	Personal

	Nonce [16]byte // random: without it, the number could be found by hashing every number
	// Inner is the hash of the personal part and the nonce. It is set only in an erased
	// record, which has neither.
	Inner [sha256.Size]byte
}

// Personal is the part of a record that can be erased.
type Personal struct {
	Number      int64  // E.164 without the plus sign
	PhoneNumber string // as sent, byte for byte
	Correlator  string // the header x-correlator, as sent
	ExternalID  string // the caller's own id of the question, as sent
	OnBehalfOf  string // for whom an agent asked
	Options     string // what the request asked for beyond the number
	Extra       string // the rest of the answer, as one JSON object; empty if the request asked for nothing more
}

// Coverage is the coverage of the supply, by topic. This package only stores it.
type Coverage [39]byte

// Every canonical encoding starts with its name. A change of the encoding gets a new
// name.
const (
	recordEncoding   = "lineproof record 1\n"
	personalEncoding = "lineproof personal part 1\n"
)

// Erased reports whether the personal part was erased.
func (e *Entry) Erased() bool { return e.Inner != [sha256.Size]byte{} }

// StoredNonce returns the nonce as it is stored: in its place, an erased record has the
// hash of what was erased.
func (e *Entry) StoredNonce() []byte {
	if e.Erased() {
		return e.Inner[:]
	}
	return e.Nonce[:]
}

// SetStoredNonce is the reverse of StoredNonce.
func (e *Entry) SetStoredNonce(stored []byte) {
	if len(stored) == len(e.Inner) {
		copy(e.Inner[:], stored)
	} else {
		copy(e.Nonce[:], stored)
	}
}

// Hash returns the hash of the record: SHA-256 of its public part and of
// [Entry.InnerHash].
func (e *Entry) Hash() [sha256.Size]byte {
	hash, _ := e.HashWith(nil)
	return hash
}

// HashWith is Hash with memory that is used again, and returned.
func (e *Entry) HashWith(scratch []byte) ([sha256.Size]byte, []byte) {
	inner := e.Inner
	if !e.Erased() {
		scratch = append(e.AppendPersonal(scratch[:0]), e.Nonce[:]...)
		inner = sha256.Sum256(scratch)
	}
	scratch = append(e.AppendPublic(scratch[:0]), inner[:]...)
	return sha256.Sum256(scratch), scratch
}

// InnerHash returns SHA-256 of the personal part and the nonce. Without the nonce it
// says nothing about the personal part.
func (e *Entry) InnerHash() [sha256.Size]byte {
	if e.Erased() {
		return e.Inner
	}
	return sha256.Sum256(append(e.EncodePersonal(), e.Nonce[:]...))
}

// EncodePublic returns the canonical encoding of the public part that
// docs/reference/journal-record.md describes: the name of the encoding, then every
// field as a length of four bytes and its bytes; numbers and times are eight bytes,
// big-endian.
func (e *Entry) EncodePublic() []byte { return e.AppendPublic(make([]byte, 0, 320)) }

// EncodePersonal returns the canonical encoding of the personal part, in the same form.
func (p *Personal) EncodePersonal() []byte {
	return p.AppendPersonal(make([]byte, 0, 192+len(p.Extra)))
}

// AppendPublic appends what EncodePublic returns.
func (e *Entry) AppendPublic(b []byte) []byte {
	b = append(b, recordEncoding...)
	b = appendText(b, e.RequestID[:])
	b = appendNumber(b, e.At.UnixMilli())
	b = appendText(b, e.Type)
	b = appendText(b, e.Entity[:])
	b = appendText(b, e.Key[:])
	for _, text := range [...]string{e.Mode, e.Purpose, e.PurposeText, e.Status, e.Reason, e.MobileNetwork} {
		b = appendText(b, text)
	}
	for _, number := range [...]int64{e.LineVersion, int64(e.PolicyVersion), int64(e.PlanVersion), int64(e.Rules)} {
		b = appendNumber(b, number)
	}
	return appendText(b, e.Coverage[:])
}

// AppendPersonal appends what EncodePersonal returns.
func (p *Personal) AppendPersonal(b []byte) []byte {
	b = appendNumber(append(b, personalEncoding...), p.Number)
	for _, text := range [...]string{p.PhoneNumber, p.Correlator, p.ExternalID, p.OnBehalfOf, p.Options, p.Extra} {
		b = appendText(b, text)
	}
	return b
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...) //nolint:gosec // fields are short
}

func appendNumber(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(n)) //nolint:gosec // two's complement is the encoding
}

// NewNonce returns sixteen random bytes.
func NewNonce() (n [16]byte) {
	_, _ = rand.Read(n[:]) // never fails: the program ends if the system has no randomness
	return n
}

// cell identifies the database cluster of the number, for a future with more than
// one. It is the tenth byte of every request id.
const cell = 0

// NewRequestID returns a UUIDv7 that carries at, to the millisecond, and the
// cell; the rest is random.
func NewRequestID(at time.Time) uuid.UUID {
	id := idtime.New(at)
	id[9] = cell
	return id
}

// TimeOf returns the time inside a request id, and whether there is one.
func TimeOf(id uuid.UUID) (at time.Time, ok bool) { return idtime.Of(id) }
