package web

import (
	"errors"
	"io"
	"net/http"
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

// maxDrain is how much of an unread body is read before the connection closes.
const maxDrain = 256 << 10

// DrainBody reads the rest of the body of a request with "Connection: close".
// net/http does it for all others: a connection that is closed while the client
// still sends is reset, and the reset can overtake the response.
func DrainBody(w http.ResponseWriter, r *http.Request) {
	if !r.Close || r.ContentLength == 0 || r.Header.Get("Expect") != "" { // a client that waits for 100 Continue has sent no body
		return
	}
	if http.NewResponseController(w).Flush() == nil {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrain) // the body is not used
	}
}
