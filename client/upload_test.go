package client_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
)

// once hides everything of a reader but Read.
type once struct{ io.Reader }

// serve starts a service that shows the test each upload before it responds.
func serve(t *testing.T, handle func(r *http.Request) answer) *client.Client {
	t.Helper()

	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(r).write(w) }))
	t.Cleanup(srv.Close)
	return &client.Client{BaseURL: srv.URL}
}

// The form has the parts of the contract, an empty part is left out, and
// Content-Length is set if the size of the content is known.
func TestUploadForm(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name     string
		document client.Document
		parts    map[string]string
		file     string
		measured bool
	}{
		{"everything", client.Document{Type: "TAX_ID", FileName: `a "b".pdf`, EntityUID: "01a1", Content: strings.NewReader("%PDF")}, map[string]string{"type": "TAX_ID", "entityUid": "01a1"}, `a "b".pdf`, true},
		{"little", client.Document{Type: "Anything", Content: once{strings.NewReader("%PDF")}}, map[string]string{"type": "Anything"}, "document", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			c := serve(t, func(r *http.Request) answer {
				if err := r.ParseMultipartForm(1 << 20); err != nil {
					t.Error(err)
					return answer{status: http.StatusBadRequest}
				}
				for name, want := range tt.parts {
					if got := r.FormValue(name); got != want {
						t.Errorf("%s is %q", name, got)
					}
				}
				file := r.MultipartForm.File["file"][0]
				if len(r.MultipartForm.Value) != len(tt.parts) || file.Filename != tt.file || content(t, file) != "%PDF" {
					t.Errorf("the form is %+v", r.MultipartForm)
				}
				if (r.ContentLength > 0) != tt.measured {
					t.Errorf("the length is %d", r.ContentLength)
				}
				return example(uploadPath, "200 stored")
			})
			id, err := c.UploadDocument(t.Context(), accessToken, tt.document)
			if err != nil || id != "01a1d964-6e3b-7e07-b6d5-4f3e2d1c0b9a" {
				t.Errorf("got %q and %v", id, err)
			}
		})
	}
}

func content(t *testing.T, file *multipart.FileHeader) string {
	t.Helper()

	f, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The content is sent while it is read: its second half is available only when
// the service has the first. A client that reads it completely first would wait
// for ever.
func TestUploadStreams(t *testing.T) {
	t.Parallel()

	const half = 1 << 20
	arrived := make(chan struct{})
	c := serve(t, func(r *http.Request) answer {
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
		}
		for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
			if part.FormName() != "file" {
				continue
			}
			if _, err := io.CopyN(io.Discard, part, half); err != nil {
				t.Error(err)
			}
			close(arrived)
			if n, err := io.Copy(io.Discard, part); n != 2*half || err != nil {
				t.Errorf("%d bytes and %v follow", n, err)
			}
		}
		return example(uploadPath, "200 stored")
	})
	zeros := func(n int) io.Reader { return bytes.NewReader(make([]byte, n)) }
	// Both sides buffer a little, so more than the service waits for must be
	// sent.
	rest := io.MultiReader(readFunc(func([]byte) (int, error) { <-arrived; return 0, io.EOF }), zeros(half))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := c.UploadDocument(ctx, accessToken, client.Document{Type: "OTHER", Content: io.MultiReader(zeros(2*half), rest)}); err != nil {
		t.Error(err)
	}
}

// readFunc makes a function a reader.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
