package pg

import (
	"encoding/binary"
	"time"
)

// BinaryArray returns an array in PostgreSQL's binary format: one dimension, no nulls, the
// OID of the elements, their number, the lower bound 1; then each element with its length.
func BinaryArray(oid uint32, elements int, element func(to []byte, i int) []byte) []byte {
	const typical = 24 // bytes of an element, with its length
	to := make([]byte, 0, 20+typical*elements)
	for _, field := range []uint32{1, 0, oid, uint32(elements), 1} { //nolint:gosec // far below 2^31
		to = binary.BigEndian.AppendUint32(to, field)
	}
	for i := range elements {
		at := len(to)
		to = element(append(to, 0, 0, 0, 0), i)
		binary.BigEndian.PutUint32(to[at:], uint32(len(to)-at-4)) //nolint:gosec // far below 2^31
	}
	return to
}

// epoch2000 is the zero of PostgreSQL's binary times.
var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// AppendBinaryTime appends a time in PostgreSQL's binary format.
func AppendBinaryTime(to []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(to, uint64(t.Sub(epoch2000).Microseconds())) //nolint:gosec // two's complement is the format
}
