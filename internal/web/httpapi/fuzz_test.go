package httpapi_test

import (
	"bytes"
	"encoding/json/jsontext"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// inEnvelope fails unless the response is in the envelope, is not a 500, and a
// 503 has Retry-After.
func inEnvelope(t *testing.T, res *httptest.ResponseRecorder) {
	t.Helper()
	if res.Code == http.StatusInternalServerError {
		t.Errorf("500: %s", res.Body)
	}
	if res.Code == http.StatusServiceUnavailable && res.Header().Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	if v := jsontext.Value(bytes.TrimSpace(res.Body.Bytes())); !v.IsValid() {
		t.Errorf("%d is not JSON: %s", res.Code, res.Body)
		return
	}
	if got := field(t, res.Body.Bytes(), "statusCode"); got != strconv.Itoa(res.Code) {
		t.Errorf("statusCode %q in an answer with status %d", got, res.Code)
	}
}

// Whatever the multipart body, the upload's response is in the envelope.
func FuzzUpload(f *testing.F) {
	s := newStack(f)
	_, email := s.onboarded(f, s.token(f))
	session := s.session(f, email)
	f.Add("multipart/form-data; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\nTAX_ID\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n"+pdf+"\r\n--b--\r\n"))
	f.Add("multipart/form-data; boundary=\"\"", []byte("--\r\n"))
	f.Add("multipart/form-data", []byte(""))
	f.Add("multipart/form-data; boundary=b", []byte("--b\r\nContent-Disposition: form-data; name=\"type\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=zz\r\n--b--"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r := post(uploadPath, session, string(body))
		r.Header.Set("Content-Type", contentType)
		inEnvelope(t, s.do(t, r))
	})
}

// Whatever the request, the handler's response is in the envelope.
func FuzzHandler(f *testing.F) {
	s := newStack(f)
	bearers := []string{"", s.key, s.token(f), "x"}
	f.Add("POST", "/api/v1/phone/api/phone-numbers/verify", "application/json", "", uint8(1), []byte(`{"phoneNumber":"08031234567"}`))
	f.Add("POST", "/api/auth/token", "application/x-www-form-urlencoded", "k", uint8(0), []byte("grant_type=client_credentials"))
	f.Add("POST", "/api/regulator/v1/onboard-entity", "application/json; charset=utf-8", "key", uint8(2), []byte(`{"cac":"RC1"}`))
	f.Add("POST", "/api/regulator/v1/login", "application/json", "", uint8(0), []byte(`{"email":"a@b.example","password":"x"}`))
	f.Add("GET", "/api/../docs", "", "", uint8(3), []byte(nil))
	f.Fuzz(func(t *testing.T, method, path, contentType, key string, credential uint8, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://lineproof.example/", bytes.NewReader(body))
		if err != nil || method == "" || path == "" || path[0] != '/' {
			t.Skip()
		}
		r.Method, r.URL.Path, r.RemoteAddr = method, path, "127.0.0.1:1"
		r.Header = http.Header{"Content-Type": {contentType}, "Idempotency-Key": {key}, "X-Correlator": {key}}
		r.Header.Set("Authorization", "Bearer "+bearers[int(credential)%len(bearers)])
		res := s.do(t, r)
		if len(path) >= 4 && (path[:4] == "/api") {
			inEnvelope(t, res)
		}
	})
}
