package httpapi_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// endless is a body that counts what is read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

// A body that is larger than its operation allows is refused with 413: before a byte of it
// is read if its length is known, and one byte above the limit if not.
func TestSizeOfEveryBodyIsLimitedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	limits, known, doc := s.BodyLimits(), effects(), loadContract(t).doc
	for route := range limits {
		if !slices.Contains(s.Operations(), route) {
			t.Errorf("there is a limit for %s, which is no operation", route)
		}
	}
	for _, route := range slices.Sorted(maps.Keys(known)) {
		limit := limits[route]
		for name, length := range map[string]int64{"with its length": limit + 1, "without a length": -1} {
			body := &endless{}
			r := validRequest(t, s, route, creds[known[route].credential], entity)
			path := strings.TrimPrefix(route, r.Method+" ")
			reads := doc.Paths.Value(path).GetOperation(r.Method).RequestBody != nil
			r.Body, r.ContentLength = io.NopCloser(body), length
			if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF-1.4\n"), body))
				r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			}
			res := s.do(t, r)
			if res.Code != http.StatusRequestEntityTooLarge && (length > 0 || reads) {
				t.Errorf("%s, %s: %d, want 413: %s", route, name, res.Code, res.Body)
			}
			if allowed := limit + 1; body.read > allowed || length > 0 && body.read > 0 {
				t.Errorf("%s, %s: %d bytes of the body were read, of which %d are allowed", route, name, body.read, limit)
			}
		}
	}
}

// No operation takes an encoded body: it is refused as what it is, and not as broken JSON.
func TestEncodedBodyOfEveryOperationIsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	known, doc := effects(), loadContract(t).doc
	for _, route := range slices.Sorted(maps.Keys(known)) {
		r := validRequest(t, s, route, creds[known[route].credential], entity)
		if doc.Paths.Value(strings.TrimPrefix(route, r.Method+" ")).GetOperation(r.Method).RequestBody == nil {
			continue
		}
		r.Header.Set("Content-Encoding", "gzip")
		if res := s.do(t, r); res.Code != http.StatusUnsupportedMediaType || !strings.Contains(res.Body.String(), "without Content-Encoding") {
			t.Errorf("%s: %d, want 415: %s", route, res.Code, res.Body)
		}
	}
}
