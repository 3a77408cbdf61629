package feed

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// A segment is encrypted in chunks, so that it need not fit into memory. The nonce of a
// chunk is its number and whether it is the last one: chunks can be neither moved nor left
// out, also not at the end. A key encrypts one file only.
const (
	keySize   = 32
	chunkSize = 64 << 10
)

var errSegmentSealed = errors.New("feed: the segment was altered, or its key is another one")

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("feed: create the cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

func nonceOf(size int, n uint64, last bool) []byte {
	nonce := binary.BigEndian.AppendUint64(make([]byte, 0, size), n)
	nonce = append(nonce, make([]byte, size-len(nonce))...)
	if last {
		nonce[size-1] = 1
	}
	return nonce
}

// sealer encrypts what is written to it. Close writes the last chunk, and does not close
// the writer below.
type sealer struct {
	to      io.Writer
	aead    cipher.AEAD
	context []byte
	n       uint64
	buffer  []byte
}

func newSealer(to io.Writer, key, context []byte) (*sealer, error) {
	aead, err := newAEAD(key)
	return &sealer{to: to, aead: aead, context: context}, err
}

// Write implements io.Writer.
func (s *sealer) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if len(s.buffer) == chunkSize { // not the last one, because more follows
			if err := s.flush(false); err != nil {
				return 0, err
			}
		}
		part := min(chunkSize-len(s.buffer), len(p))
		s.buffer, p = append(s.buffer, p[:part]...), p[part:]
	}
	return written, nil
}

func (s *sealer) flush(last bool) error {
	_, err := s.to.Write(s.aead.Seal(nil, nonceOf(s.aead.NonceSize(), s.n, last), s.buffer, s.context))
	s.n, s.buffer = s.n+1, s.buffer[:0]
	return fault.Wrap(err, "feed: write a segment")
}

// Close implements io.Closer.
func (s *sealer) Close() error { return s.flush(true) }

// opener decrypts what a sealer wrote. It ends with io.EOF only after the last chunk.
type opener struct {
	from    io.Reader
	aead    cipher.AEAD
	context []byte
	n       uint64
	chunk   []byte // encrypted, read ahead: it is the last one if nothing follows
	plain   []byte
	done    bool
}

func newOpener(from io.Reader, key, context []byte) (*opener, error) {
	aead, err := newAEAD(key)
	return &opener{from: from, aead: aead, context: context}, err
}

// Read implements io.Reader.
func (o *opener) Read(p []byte) (int, error) {
	for len(o.plain) == 0 {
		if o.done {
			return 0, io.EOF
		}
		if err := o.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, o.plain)
	o.plain = o.plain[n:]
	return n, nil
}

func (o *opener) next() error {
	read := func() ([]byte, error) {
		chunk := make([]byte, chunkSize+o.aead.Overhead())
		n, err := io.ReadFull(o.from, chunk)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("feed: read a segment: %w", err)
		}
		return chunk[:n], nil
	}
	if o.chunk == nil {
		first, err := read()
		if err != nil {
			return err
		}
		o.chunk = first
	}
	ahead, err := read()
	if err != nil {
		return err
	}
	o.done = len(ahead) == 0
	plain, err := o.aead.Open(nil, nonceOf(o.aead.NonceSize(), o.n, o.done), o.chunk, o.context)
	if err != nil {
		return errSegmentSealed
	}
	o.n, o.chunk, o.plain = o.n+1, ahead, plain
	return nil
}
