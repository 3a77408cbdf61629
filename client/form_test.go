package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/lineproof/lineproof/client"
)

// On a retry, content that can seek is sent again from its first position, not
// from its beginning. Content that cannot seek is sent once.
func TestUploadIsRepeatedFromTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := strings.NewReader("skip%PDF-1.7")
		if _, err := file.Seek(4, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		stored := example(uploadPath, "200 stored")
		s := &service{answers: []answer{{status: 503}, {status: 503}, stored}}
		if _, err := s.client().UploadDocument(t.Context(), accessToken, client.Document{Type: "OTHER", Content: file}); err != nil {
			t.Error(err)
		}
		if len(s.bodies) != 3 || !strings.Contains(s.bodies[0], "\r\n%PDF-1.7\r\n") || s.bodies[2] != s.bodies[0] {
			t.Errorf("sent were %q", s.bodies)
		}

		s = &service{answers: []answer{{status: 503}, stored}}
		_, err := s.client().UploadDocument(t.Context(), accessToken, client.Document{Type: "OTHER", Content: once{strings.NewReader("%PDF")}})
		if e := refused(t, err); e.StatusCode != http.StatusServiceUnavailable || len(s.bodies) != 1 {
			t.Errorf("sent were %q, and then %v", s.bodies, err)
		}
	})
}

// roundTrip makes a function a transport.
type roundTrip func(req *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func reply(req *http.Request, a answer) *http.Response {
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}
}

// Content that cannot seek is still complete while nothing of it was read, so
// the request is retried. A pipe is such content, although its type can seek.
func TestUntouchedContentIsSentAgain(t *testing.T) {
	t.Parallel()

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	_, _ = io.WriteString(w, "%PDF-1.7")
	_ = w.Close()

	attempts, sent := 0, ""
	c := &client.Client{BaseURL: "https://lineproof.example", HTTP: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		if attempts++; attempts == 1 {
			return reply(req, answer{status: 503}), req.Body.Close()
		}
		body, err := io.ReadAll(req.Body)
		sent = string(body)
		return reply(req, example(uploadPath, "200 stored")), err
	})}}
	if _, err := c.UploadDocument(t.Context(), accessToken, client.Document{Type: "OTHER", Content: r}); err != nil || !strings.Contains(sent, "%PDF-1.7") {
		t.Errorf("sent was %q, and %v", sent, err)
	}
}

// A transport may continue to read after its response. When the call has
// returned, the content is not used any more.
func TestContentIsLeftAloneAfterTheCall(t *testing.T) {
	t.Parallel()

	var body io.Reader
	c := &client.Client{BaseURL: "https://lineproof.example", HTTP: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		body = req.Body
		_, err := io.ReadFull(body, make([]byte, 10)) // of the form, before the content
		return reply(req, answer{status: 413}), err
	})}}
	file := strings.NewReader("%PDF-1.7")
	_, err := c.UploadDocument(t.Context(), accessToken, client.Document{Type: "OTHER", Content: file})
	_ = refused(t, err)
	if _, err := io.ReadAll(body); err == nil || file.Len() != 8 {
		t.Errorf("the content can still be read: %v, %d bytes left", err, file.Len())
	}
}

// If the content itself fails, its error is returned and the request is not
// retried, even if the content could be read again.
func TestContentThatFails(t *testing.T) {
	t.Parallel()

	var requests atomic.Int32
	torn := errors.New("torn paper")
	c := serve(t, func(r *http.Request) answer {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		return answer{status: http.StatusBadRequest}
	})
	paper := strings.NewReader(strings.Repeat("x", 1<<20))
	broken := struct {
		io.Reader
		io.Seeker
	}{io.MultiReader(io.LimitReader(paper, 1<<16), iotest.ErrReader(torn)), paper}
	_, err := c.UploadDocument(t.Context(), accessToken, client.Document{Type: "OTHER", Content: broken})
	if !errors.Is(err, torn) || requests.Load() > 1 {
		t.Errorf("%d requests and %v", requests.Load(), err)
	}
}

// A cancelled call returns even while reading the content blocks.
func TestUploadCanBeCancelled(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, func(r *http.Request) answer {
		_, _ = r.Body.Read(make([]byte, 1))
		cancel()
		_, _ = io.Copy(io.Discard, r.Body)
		return answer{status: http.StatusBadRequest}
	})
	never := readFunc(func([]byte) (int, error) { <-t.Context().Done(); return 0, io.EOF })
	begun := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<16)), never)
	_, err := c.UploadDocument(ctx, accessToken, client.Document{Type: "OTHER", Content: begun})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
