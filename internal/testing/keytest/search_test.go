package keytest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/keytest"
)

// recorder is a test that notes that it failed.
type recorder struct {
	testing.TB

	failed int
}

func (*recorder) Helper()             {}
func (*recorder) Logf(string, ...any) {}
func (r *recorder) Error(...any)      { r.failed++ }
func (r *recorder) Errorf(string, ...any) {
	r.failed++
}

// A key is found in any form, in the midst of other bytes; the sum of a label under the bare
// pepper is one.
func TestPlantedKeyIsFound(t *testing.T) {
	t.Parallel()
	const pepper = "a pepper of this test, which is long enough"
	mac := hmac.New(sha256.New, []byte(pepper))
	mac.Write([]byte(keytest.Labels(t)[0]))
	key := mac.Sum(nil)
	for name, planted := range map[string]string{
		"raw": string(key), "hex": hex.EncodeToString(key), "Base64": base64.RawURLEncoding.EncodeToString(key), "the pepper": pepper,
	} {
		s, r := keytest.New(t, pepper), &recorder{TB: t}
		s.Look("here", []byte("before"+planted+"after"))
		if s.Report(r, 1); r.failed != 1 {
			t.Errorf("%s: reported %d times", name, r.failed)
		}
	}
	s, r := keytest.New(t, pepper), &recorder{TB: t}
	s.Look("here", []byte("nothing"))
	if s.Report(r, 1); r.failed != 0 {
		t.Error("reported what is no key")
	}
	if s.Report(r, 100); r.failed != 1 {
		t.Error("a search of nearly nothing passed")
	}
}

// Every text of a request is replaced once: in its path, query, headers and body.
func TestEveryTextOfARequestIsReplaced(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/a/1/b?x=1&y=2", strings.NewReader(`{"a":"1","b":["2",{"c":"3"}],"d":4}`))
	r.Header.Set("Content-Type", "application/json")
	const headers = 3
	if got := len(keytest.Fill(t, r, "/a/{id}/b", "label")); got != headers+1+2+3 {
		t.Errorf("%d requests", got)
	}
	form := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("a=1&b=2"))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := len(keytest.Fill(t, form, "/", "label")); got != headers+2 {
		t.Errorf("%d forms", got)
	}
	parts := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name=b\r\n\r\n2\r\n--x--\r\n"))
	parts.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if got := len(keytest.Fill(t, parts, "/", "label")); got != headers+2 {
		t.Errorf("%d requests with parts", got)
	}
}
