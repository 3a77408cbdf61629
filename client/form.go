package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"sync"
)

// form is a multipart body around content that is not in memory.
type form struct {
	head, tail []byte
	content    io.Reader
	start      int64 // the position of content at first
	size       int64 // of content; -1 if it cannot seek
	last       *formBody
}

func newForm(h http.Header, d Document) (*form, error) {
	f := &form{content: d.Content, size: -1}
	if s, ok := d.Content.(io.Seeker); ok {
		f.measure(s)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	h.Set("Content-Type", w.FormDataContentType())
	h.Set("Expect", "100-continue") // so that the service can refuse before the file is sent
	err := w.WriteField("type", d.Type)
	if err == nil && d.EntityUID != "" {
		err = w.WriteField("entityUid", d.EntityUID)
	}
	if err == nil {
		_, err = w.CreateFormFile("file", cmp.Or(d.FileName, "document"))
	}
	headLen := b.Len()
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	f.head, f.tail = b.Bytes()[:headLen], b.Bytes()[headLen:]
	return f, nil
}

// measure finds the position of content and its remaining size. A pipe that looks
// like a file fails here and is treated as readable once.
func (f *form) measure(s io.Seeker) {
	start, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return
	}
	if _, err = s.Seek(start, io.SeekStart); err == nil && end >= start {
		f.start, f.size = start, end-start
	}
}

// attach gives req the form as its body.
func (f *form) attach(req *http.Request) {
	b := &formBody{content: f.content, done: make(chan struct{})}
	b.parts = io.MultiReader(bytes.NewReader(f.head), contentReader{b}, bytes.NewReader(f.tail))
	b.out, b.in = io.Pipe()
	ctx := req.Context()
	b.unwatch = context.AfterFunc(ctx, func() { b.stop(context.Cause(ctx)) })
	f.last = b
	req.Body, req.GetBody, req.ContentLength = b, nil, -1
	if f.size >= 0 {
		req.ContentLength = int64(len(f.head)) + f.size + int64(len(f.tail))
	}
}

// settle ends the last attempt's use of content. It returns false if ctx ended
// first.
func (f *form) settle(ctx context.Context) bool {
	if f.last == nil {
		return true
	}
	f.last.unwatch()
	f.last.stop(io.ErrClosedPipe)
	select {
	case <-f.last.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// failure returns the error of content, if it was content that failed.
func (f *form) failure(ctx context.Context) error {
	if !f.settle(ctx) {
		return nil
	}
	return f.last.err
}

// rewind makes the form ready for another attempt, if it can be sent again.
func (f *form) rewind(ctx context.Context) bool {
	if !f.settle(ctx) {
		return false
	}
	if !f.last.touched {
		return true
	}
	s, ok := f.content.(io.Seeker)
	if !ok || f.size < 0 {
		return false
	}
	_, err := s.Seek(f.start, io.SeekStart)
	return err == nil
}

// formBody is the form for one attempt. Its own goroutine reads the content,
// because a Read that blocks must not delay the end of a cancelled request, which
// net/http would allow, nor that of a refused one.
type formBody struct {
	parts   io.Reader
	content io.Reader
	out     *io.PipeReader
	in      *io.PipeWriter
	unwatch func() bool // stops watching the request's context

	mu            sync.Mutex
	begun, closed bool

	done    chan struct{} // closed when content is no longer used; then the fields below may be read
	touched bool          // content was read
	err     error         // the error of content
}

// Read starts to read the content only when the transport reads the body: until
// then the request can be retried with any kind of content.
func (b *formBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if !b.begun && !b.closed {
		b.begun = true
		go func() {
			defer close(b.done)
			_, err := io.Copy(b.in, b.parts)
			_ = b.in.CloseWithError(err)
		}()
	}
	b.mu.Unlock()
	return b.out.Read(p)
}

// Close does not wait for the content: the transport closes a body to abandon the
// request.
func (b *formBody) Close() error {
	b.stop(io.ErrClosedPipe)
	return nil
}

// stop ends the transport's Read with cause, and the goroutine that reads the
// content after its current Read.
func (b *formBody) stop(cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun && !b.closed {
		close(b.done)
	}
	b.closed = true
	_ = b.in.CloseWithError(cause) // it never fails
}

// contentReader reads the content of a form and keeps its error.
type contentReader struct{ *formBody }

func (c contentReader) Read(p []byte) (int, error) {
	c.touched = true
	n, err := c.content.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
