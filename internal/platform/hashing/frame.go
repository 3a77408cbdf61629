package hashing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// A frame is its length in 4 bytes, then as many bytes. All numbers are big-endian.
//
//	request: id 4, passes 4, memory 4, threads 1, length of the key 1, length of the salt 1, salt, password
//	answer:  id 4, key
//
// The first frame of the process has no id: it says which priority the process got.
const (
	lengthBytes   = 4
	idBytes       = 4
	requestHeader = idBytes + 4 + 4 + 3

	// maxFrame is more than any password that a request to the service can carry.
	maxFrame = 1 << 20
)

var errFrame = errors.New("hashing: a frame has an impossible length or content")

// writeFrame writes a frame in one call, so that frames of several writers do not mix
// as long as only one of them writes at a time. It clears its copy of the payload.
func writeFrame(w io.Writer, payload []byte) error {
	if len(payload) > maxFrame {
		return errFrame
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, lengthBytes+len(payload)), uint32(len(payload))) //nolint:gosec // at most maxFrame
	frame = append(frame, payload...)
	defer clear(frame)
	_, err := w.Write(frame)
	return fault.Wrap(err, "hashing: write")
}

// readFrame returns the payload of the next frame. The error is io.EOF only between
// frames.
func readFrame(r io.Reader) ([]byte, error) {
	var length [lengthBytes]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err //nolint:wrapcheck // io.EOF has a meaning
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, errFrame
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return nil, fmt.Errorf("hashing: read: %w", noEOF(err))
	}
	return payload, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func encodeRequest(id uint32, d *secret.Derivation) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, fmt.Errorf("hashing: %w", err)
	}
	if len(d.Password) > maxFrame-requestHeader-math.MaxUint8 {
		return nil, errFrame
	}
	b := make([]byte, 0, requestHeader+len(d.Salt)+len(d.Password)) // never grows: a copy would stay in memory
	b = binary.BigEndian.AppendUint32(b, id)
	b = binary.BigEndian.AppendUint32(b, d.Cost.Time)
	b = binary.BigEndian.AppendUint32(b, d.Cost.MemoryKiB)
	b = append(b, d.Cost.Threads, byte(d.KeyLen), byte(len(d.Salt))) //nolint:gosec // Check has bounded them
	b = append(b, d.Salt...)
	return append(b, d.Password...), nil
}

func decodeRequest(b []byte) (uint32, secret.Derivation, error) {
	if len(b) < requestHeader {
		return 0, secret.Derivation{}, errFrame
	}
	saltLen := int(b[requestHeader-1])
	if len(b) < requestHeader+saltLen {
		return 0, secret.Derivation{}, errFrame
	}
	d := secret.Derivation{
		Cost: secret.Cost{
			Time: binary.BigEndian.Uint32(b[idBytes:]), MemoryKiB: binary.BigEndian.Uint32(b[idBytes+4:]), Threads: b[idBytes+8],
		},
		KeyLen:   int(b[idBytes+9]),
		Salt:     b[requestHeader:][:saltLen],
		Password: b[requestHeader+saltLen:],
	}
	if err := d.Check(); err != nil {
		return 0, secret.Derivation{}, fmt.Errorf("hashing: %w", err)
	}
	return binary.BigEndian.Uint32(b), d, nil
}

func encodeAnswer(id uint32, key []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, id), key...)
}

func decodeAnswer(b []byte) (id uint32, key []byte, err error) {
	if len(b) < idBytes {
		return 0, nil, errFrame
	}
	return binary.BigEndian.Uint32(b), b[idBytes:], nil
}
