package logentry

import (
	"encoding/binary"
	"time"

	"github.com/lineproof/lineproof/internal/values/merkle"
)

// writer writes the fields of a body.
type writer struct{ bytes []byte }

func (w *writer) number(n int64) {
	w.bytes = binary.BigEndian.AppendUint64(w.bytes, uint64(n)) //nolint:gosec // two's complement is the format
}

func (w *writer) short(n int32) {
	w.bytes = binary.BigEndian.AppendUint32(w.bytes, uint32(n)) //nolint:gosec // as above
}

func (w *writer) time(t time.Time) { w.number(t.UnixMilli()) }

func (w *writer) hash(h merkle.Hash) { w.bytes = append(w.bytes, h[:]...) }

// text writes a text with its length before it.
func (w *writer) text(s string) {
	w.short(int32(len(s))) //nolint:gosec // a few bytes
	w.bytes = append(w.bytes, s...)
}

// reader reads the fields of a body. If one is missing, it and all after it are empty, and
// end returns an error.
type reader struct {
	bytes []byte
	cut   bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.bytes) {
		r.bytes, r.cut = nil, true
		return nil
	}
	taken := r.bytes[:n]
	r.bytes = r.bytes[n:]
	return taken
}

func (r *reader) number() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b)) //nolint:gosec // two's complement is the format
	}
	return 0
}

func (r *reader) short() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b)) //nolint:gosec // as above
	}
	return 0
}

func (r *reader) time() time.Time { return time.UnixMilli(r.number()).UTC() }

func (r *reader) hash() (h merkle.Hash) {
	copy(h[:], r.take(len(h)))
	return h
}

func (r *reader) text() string { return string(r.take(int(r.short()))) }

// end reports a body that was cut, or that has more than its fields.
func (r *reader) end() error {
	if r.cut || len(r.bytes) > 0 {
		return ErrFormat
	}
	return nil
}
