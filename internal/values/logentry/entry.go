// Package logentry defines the entries of the public log, to the byte. An entry says
// that something exists, when, and under which hash; it never says anything about a
// person, an organisation or a number. docs/reference/public-log.md describes the format.
package logentry

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// prefix starts every entry. Another format would have another number.
const prefix = "lineproof log entry 1\n"

// Kind says what an entry is about.
type Kind byte

// The kinds.
const (
	Answers  Kind = 1 // a batch of the journal
	Supply   Kind = 2 // a file of an operator, which only that operator can recognise
	Rules    Kind = 3 // a version of the policy or of the numbering plan
	Audit    Kind = 4 // an hour of the audit trail
	Keys     Kind = 5 // a key of the log, or its policy of witnesses
	Archives Kind = 6 // an archived day of the journal
	Restores Kind = 7 // what a restore of the database has lost
	Erasures Kind = 8 // the erasures of a month
)

// headSize is the length of what all entries begin with: prefix, kind and time.
const headSize = len(prefix) + 1 + 8

// Entry is an entry of any kind.
type Entry struct {
	Kind Kind
	At   time.Time // whole milliseconds
	Body []byte
}

// Encode returns the bytes of the entry.
func (e *Entry) Encode() []byte {
	to := make([]byte, 0, headSize+len(e.Body))
	to = append(to, prefix...)
	to = append(to, byte(e.Kind))
	to = binary.BigEndian.AppendUint64(to, uint64(e.At.UnixMilli()))
	return append(to, e.Body...)
}

// ErrFormat reports bytes that are not an entry.
var ErrFormat = errors.New("logentry: this is not an entry of the public log")

// Decode is the reverse of [Entry.Encode]. It does not look at the body.
func Decode(entry []byte) (e Entry, err error) {
	if len(entry) < headSize || string(entry[:len(prefix)]) != prefix {
		return e, ErrFormat
	}
	at := int64(binary.BigEndian.Uint64(entry[len(prefix)+1:])) //nolint:gosec // two's complement is the format
	return Entry{Kind(entry[len(prefix)]), time.UnixMilli(at).UTC(), entry[headSize:]}, nil
}

// Batch is an entry about a batch of the journal: so many answers were given at that
// time, and their records have that root.
type Batch struct {
	At       time.Time // whole milliseconds
	Epoch, N int64     // with which the journal identifies the batch
	Count    int32
	Root     merkle.Hash
}

// BatchSize is the length of an entry about a batch.
const BatchSize = headSize + 8 + 8 + 4 + len(merkle.Hash{})

// CommitmentSize is the length of an entry about a file of an operator.
const CommitmentSize = headSize + len(merkle.Hash{})

// Encode returns the bytes of the entry.
func (b *Batch) Encode() []byte {
	to := writer{make([]byte, 0, BatchSize-headSize)}
	to.number(b.Epoch)
	to.number(b.N)
	to.short(b.Count)
	to.hash(b.Root)
	return (&Entry{Answers, b.At, to.bytes}).Encode()
}

// DecodeBatch reads an entry about a batch.
func DecodeBatch(entry []byte) (b Batch, err error) {
	e, err := Decode(entry)
	if err != nil || e.Kind != Answers {
		return b, ErrFormat
	}
	from := reader{bytes: e.Body}
	b = Batch{At: e.At, Epoch: from.number(), N: from.number(), Count: from.short(), Root: from.hash()}
	return b, from.end()
}
