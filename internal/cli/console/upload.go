package console

import (
	"fmt"
	"io"
	"sync"
)

// OpenUpload opens the file of this name, or standard input for -, that is sent to the
// service. While it is read, a display shows how much of it was. End ends the display and
// closes the file; a second call does nothing. A file can be read again, and so sent again.
func (c *Console) OpenUpload(name string) (content io.Reader, end func(), err error) {
	in, size, err := c.OpenInput(name)
	if err != nil {
		return nil, nil, fmt.Errorf("open the file: %w", err)
	}
	u := &upload{in: in, size: size, display: c.NewCounter()}
	if s, ok := in.(io.Seeker); ok && size >= 0 {
		return &fileUpload{upload: u, seeker: s}, u.end, nil
	}
	return u, u.end, nil
}

// upload is content that is sent.
type upload struct {
	in   io.ReadCloser
	size int64 // -1 if it is not known

	mu      sync.Mutex // a connection that was given up may still read
	at      int64
	display *Progress // nil when it has ended
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	n, err := u.in.Read(p)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at += int64(n); u.display != nil {
		u.display.Bytes("sent", u.at, u.size)
	}
	return n, err //nolint:wrapcheck // io.EOF is compared with ==
}

func (u *upload) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.display != nil {
		u.display.End()
		u.display = nil
		_ = u.in.Close() // nothing was written
	}
}

// fileUpload is an upload that can be sent again.
type fileUpload struct {
	*upload

	seeker io.Seeker
}

// Seek implements io.Seeker. The display follows when it is read again.
func (u *fileUpload) Seek(offset int64, whence int) (int64, error) {
	at, err := u.seeker.Seek(offset, whence)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		u.at = at
	}
	return at, err //nolint:wrapcheck // a wrapper of the file
}
