package web

import (
	"errors"
	"io"
)

// BodyReader reads an upload and keeps the error with which reading failed. The
// caller of a function that reads the body can then tell a broken upload from an
// error of the service.
type BodyReader struct {
	io.Reader

	Err error // nil while the body arrives, and after it has arrived whole
}

func (b *BodyReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.Err = err
	}
	return n, err
}
