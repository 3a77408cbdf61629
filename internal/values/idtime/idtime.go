// Package idtime makes ids that carry a time, and reads it again: UUIDv7 (RFC 9562), of which
// the first 48 bits are milliseconds since 1970. An id that is signed or recorded so says when
// its thing was made, and nobody can move that.
package idtime

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// New returns a UUIDv7 that carries at, to the millisecond; the rest is random.
func New(at time.Time) (id uuid.UUID) {
	_, _ = rand.Read(id[:]) // never fails: the program ends if the system has no randomness
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id
}

// Of returns the time inside an id, and whether there is one.
func Of(id uuid.UUID) (at time.Time, ok bool) {
	if id.Version() != 7 {
		return time.Time{}, false
	}
	ms := int64(binary.BigEndian.Uint64(append([]byte{0, 0}, id[:6]...))) //nolint:gosec // 48 bits
	return time.UnixMilli(ms).UTC(), true
}
