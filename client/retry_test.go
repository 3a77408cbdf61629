package client_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/lineproof/lineproof/client"
)

// A request is retried three times where that is safe, and never where it is
// not.
func TestRequestsAreRepeatedOnlyWhereSafe(t *testing.T) {
	t.Parallel()

	const (
		never       = ""
		always      = "token onboard upload login verify list ack job"
		notForLogin = "token onboard upload verify list ack job"
		withKey     = "onboard upload list job"
	)
	names := map[string]string{tokenPath: "token", onboardPath: "onboard", uploadPath: "upload", loginPath: "login", verifyPath: "verify", "/api/v1/watch-lists": "list", "/api/v1/feed/acknowledgements": "ack", "/api/v1/jobs": "job"}
	for _, outcome := range []struct {
		answer
		repeated string
	}{
		{answer{name: "503", status: 503, body: coded(client.CodeUnavailable)}, always},
		{answer{name: "503 of a proxy", status: 503, body: "<html>"}, always},
		{answer{name: "503 broken off", status: 503, body: brokenOff}, always},
		{answer{name: "429", status: 429, body: coded(client.CodeTooManyRequests)}, always},
		{answer{name: "no connection", err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, always},
		{answer{name: "no connection to the proxy", err: &net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}}, always},
		{answer{name: "a connection that broke", err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, notForLogin},
		{answer{name: "200 broken off", status: 200, body: `{"status":"Succ` + brokenOff}, notForLogin},
		{answer{name: "500", status: 500, body: coded(client.CodeInternal)}, notForLogin},
		{answer{name: "502", status: 502}, notForLogin},
		{answer{name: "504", status: 504}, notForLogin},
		{answer{name: "409 aborted", status: 409, body: coded(client.CodeAborted)}, withKey},
		{answer{name: "409 taken", status: 409, body: coded(client.CodeAlreadyExists)}, never},
		{answer{name: "409 another body", status: 409, body: coded(client.CodeIncompatibleState)}, never},
		{answer{name: "400", status: 400, body: coded(client.CodeInvalidArgument)}, never},
		{answer{name: "401", status: 401, body: coded(client.CodeUnauthenticated)}, never},
		{answer{name: "403", status: 403, body: coded(client.CodePermissionDenied)}, never},
		{answer{name: "404", status: 404, body: coded(client.CodeNotFound)}, never},
		{answer{name: "405", status: 405, body: coded(client.CodeMethodNotAllowed)}, never},
		{answer{name: "413", status: 413, body: coded(client.CodePayloadTooLarge)}, never},
		{answer{name: "415", status: 415, body: coded(client.CodeUnsupportedMediaType)}, never},
		{answer{name: "422", status: 422, body: coded(client.CodeNotApplicable)}, never},
		{answer{name: "a redirect", status: 307, header: http.Header{"Location": {"https://elsewhere.example"}}}, never},
		{answer{name: "a certificate of somebody else", err: &tls.CertificateVerificationError{Err: io.EOF}}, never},
		{answer{name: "an answer that is no JSON", status: 200, body: "<html>"}, never},
		{answer{name: "an answer that is empty", status: 200, body: `{"data":{}}`}, never},
		{answer{name: "an answer that is too large", status: 200, body: `{"data":"` + strings.Repeat("x", 1<<20) + `"}`}, never},
	} {
		for path, call := range calls {
			t.Run(outcome.name+" "+names[path], func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []answer{outcome.answer}}
					if err := call(t.Context(), s.client()); err == nil {
						t.Error("there is no error")
					}
					want := 1
					if strings.Contains(outcome.repeated, names[path]) {
						want = 4
					}
					if len(s.asked) != want {
						t.Errorf("the service was asked %d times, want %d", len(s.asked), want)
					}
				})
			})
		}
	}
}

// A request that succeeds on a retry is a success, and every attempt is the
// same request: key, correlator and body.
func TestEveryAttemptIsTheSameRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, path := range []string{onboardPath, uploadPath, "/api/v1/jobs", "/api/v1/watch-lists"} {
			s := &service{answers: []answer{{status: 503}, {err: io.ErrUnexpectedEOF}, documented(path)[0]}}
			c := s.client()
			names := 0
			c.Correlator = func(context.Context) string { names++; return "order-5521" }
			c.UserAgent = "bank/1.0"
			for range 2 {
				if err := calls[path](t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.asked) != 4 || names != 2 {
				t.Fatalf("%s: the service was asked %d times and the correlator %d times", path, len(s.asked), names)
			}
			first := s.headers[0].Get("Idempotency-Key")
			for i, h := range s.headers[:3] {
				if first == "" || h.Get("Idempotency-Key") != first || s.bodies[i] != s.bodies[0] ||
					h.Get("X-Correlator") != "order-5521" || h.Get("User-Agent") != "bank/1.0" {
					t.Errorf("%s: attempt %d is another request: %v", path, i, h)
				}
			}
			if s.headers[3].Get("Idempotency-Key") == first {
				t.Errorf("%s: two calls have the same key", path)
			}
		}
	})
}

// The caller's own key is sent.
func TestOwnIdempotencyKeyIsSent(t *testing.T) {
	t.Parallel()

	s := &service{answers: []answer{{status: 400}}}
	_, err := s.client().Onboard(t.Context(), accessToken, client.Application{IdempotencyKey: "application 17"})
	_ = refused(t, err)
	_, err = s.client().UploadDocument(t.Context(), accessToken, client.Document{IdempotencyKey: "file 18", Content: strings.NewReader("")})
	_ = refused(t, err)
	if a, b := s.headers[0].Get("Idempotency-Key"), s.headers[1].Get("Idempotency-Key"); a != "application 17" || b != "file 18" {
		t.Errorf("the keys are %q and %q", a, b)
	}
}
