// Package logentry defines the entries of the public log, to the byte. An entry says
// that something exists, when, and under which hash; it never says anything about a
// person, an organisation or a number. docs/reference/public-log.md describes the format.
package logentry

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/lineproof/lineproof/internal/merkle"
)

// prefix starts every entry. Another format would have another number.
const prefix = "lineproof log entry 1\n"

// Kind says what an entry is about.
type Kind byte

// The kinds.
const (
	Answers Kind = 1 // a batch of the journal
)

// Batch is an entry about a batch of the journal: so many answers were given at that
// time, and their records have that root.
type Batch struct {
	At       time.Time // whole milliseconds
	Epoch, N int64     // with which the journal identifies the batch
	Count    int32
	Root     merkle.Hash
}

// headSize is the length of what all entries begin with: prefix, kind and time.
const headSize = len(prefix) + 1 + 8

// BatchSize is the length of an entry about a batch.
const BatchSize = headSize + 8 + 8 + 4 + len(merkle.Hash{})

// Encode returns the bytes of the entry.
func (b *Batch) Encode() []byte {
	to := make([]byte, 0, BatchSize)
	to = appendHead(to, Answers, b.At)
	to = binary.BigEndian.AppendUint64(to, uint64(b.Epoch)) //nolint:gosec // two's complement is the format
	to = binary.BigEndian.AppendUint64(to, uint64(b.N))     //nolint:gosec // as above
	to = binary.BigEndian.AppendUint32(to, uint32(b.Count)) //nolint:gosec // as above
	return append(to, b.Root[:]...)
}

func appendHead(to []byte, kind Kind, at time.Time) []byte {
	to = append(to, prefix...)
	to = append(to, byte(kind))
	return binary.BigEndian.AppendUint64(to, uint64(at.UnixMilli()))
}

// ErrFormat reports bytes that are not an entry.
var ErrFormat = errors.New("logentry: this is not an entry of the public log")

// KindOf returns the kind of an entry.
func KindOf(entry []byte) (Kind, error) {
	if len(entry) < headSize || string(entry[:len(prefix)]) != prefix {
		return 0, ErrFormat
	}
	return Kind(entry[len(prefix)]), nil
}

// DecodeBatch reads an entry about a batch.
func DecodeBatch(entry []byte) (b Batch, err error) {
	if kind, err := KindOf(entry); err != nil || kind != Answers || len(entry) != BatchSize {
		return b, ErrFormat
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint64(entry[at:])) } //nolint:gosec // two's complement is the format
	b.At = time.UnixMilli(number(len(prefix) + 1)).UTC()
	b.Epoch, b.N = number(headSize), number(headSize+8)
	b.Count = int32(binary.BigEndian.Uint32(entry[headSize+16:])) //nolint:gosec // as above
	b.Root = merkle.Hash(entry[headSize+20:])
	return b, nil
}
