package client_test

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The client understands every documented response: a success is a value, and
// an error response is an Error with all its data.
func TestEveryDocumentedAnswerIsUnderstood(t *testing.T) {
	t.Parallel()

	for path, call := range calls {
		for _, a := range documented(path) {
			t.Run(path+" "+a.name, func(t *testing.T) {
				t.Parallel()

				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { a.write(w) }))
				t.Cleanup(srv.Close)
				c := &client.Client{BaseURL: srv.URL, HTTP: srv.Client(), Retries: -1}
				if path == verifyPath && a.status == http.StatusOK {
					checkVerification(t, c, a)
					return
				}
				checkAnswer(t, call(t.Context(), c), a)
			})
		}
	}
}

func checkVerification(t *testing.T, c *client.Client, a answer) {
	t.Helper()

	var want struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(a.body), &want); err != nil {
		t.Fatal(err)
	}
	number, _ := want.Data["phoneNumber"].(string)
	v, err := c.Verify(t.Context(), apiKey, number)
	if err != nil {
		t.Fatal(err)
	}
	// Encoded again, the value equals the response: nothing is lost.
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(regexp.MustCompile(`(:\d\d)(\.\d+)?Z"`).ReplaceAllFunc(written, threeDecimals), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(want.Data), got); diff != "" {
		t.Errorf("(-answered +understood):\n%s", diff)
	}
}

// threeDecimals formats the end of a time as the service does.
func threeDecimals(end []byte) []byte {
	seconds, fraction, _ := strings.Cut(strings.TrimSuffix(string(end), `Z"`), ".")
	return []byte(seconds + "." + (fraction + "000")[:3] + `Z"`)
}

// Each option is sent as in the contract, and an answer that lacks a requested
// part is an error and not a half-filled value.
func TestMissingRequestedPartsAreErrors(t *testing.T) {
	t.Parallel()

	since := time.Date(2026, 3, 1, 9, 30, 0, 5e8, time.FixedZone("WAT", 3600))
	for name, tc := range map[string]struct {
		ask  client.VerifyOptions
		sent string
	}{
		"since":    {client.VerifyOptions{Since: since}, `{"phoneNumber":"+2348031234567","since":"2026-03-01T08:30:00Z"}`},
		"signals":  {client.VerifyOptions{Signals: true}, `{"include":["signals"],"phoneNumber":"+2348031234567"}`},
		"coverage": {client.VerifyOptions{Coverage: true}, `{"include":["coverage"],"phoneNumber":"+2348031234567"}`},
		"id":       {client.VerifyOptions{ExternalID: "customer-4711", Signals: true}, `{"externalId":"customer-4711","include":["signals"],"phoneNumber":"+2348031234567"}`},
		"dates":    {client.VerifyOptions{Dates: true}, `{"include":["dates"],"phoneNumber":"+2348031234567"}`},
		"all": {
			client.VerifyOptions{Since: since, Signals: true, Coverage: true, Dates: true, OnBehalfOf: "Harbour Bank"},
			`{"include":["signals","coverage","dates"],"onBehalfOf":"Harbour Bank","phoneNumber":"+2348031234567","since":"2026-03-01T08:30:00Z"}`,
		},
	} {
		s := &service{answers: []answer{example(verifyPath, "200 more"), example(verifyPath, "200 normal")}}
		if _, err := s.client().VerifyWith(t.Context(), apiKey, phoneNumber, tc.ask); err != nil {
			t.Errorf("%s: a whole answer is refused: %v", name, err)
		}
		if s.bodies[0] != tc.sent {
			t.Errorf("%s: sent %s, want %s", name, s.bodies[0], tc.sent)
		}
		var body any
		if err := json.Unmarshal([]byte(s.bodies[0]), &body); err != nil {
			t.Fatal(err)
		}
		if err := contract().Paths.Value(verifyPath).Post.RequestBody.Value.Content["application/json"].Schema.Value.VisitJSON(body); err != nil {
			t.Errorf("%s: the contract does not take the question: %v", name, err)
		}
		if v, err := s.client().VerifyWith(t.Context(), apiKey, phoneNumber, tc.ask); err == nil {
			t.Errorf("%s: an answer that does not say is taken for %+v", name, v)
		}
	}
}

func checkAnswer(t *testing.T, err error, a answer) {
	t.Helper()

	if a.status == http.StatusOK {
		if err != nil {
			t.Errorf("a success is an error: %v", err)
		}
		return
	}
	var want struct{ Data client.Error }
	if err := json.Unmarshal([]byte(a.body), &want); err != nil {
		t.Fatal(err)
	}
	seconds, _ := strconv.Atoi(a.header.Get("Retry-After"))
	e := refused(t, err)
	if e.StatusCode != a.status || e.Code != want.Data.Code || e.Message != want.Data.Message ||
		!slices.Equal(e.Violations, want.Data.Violations) || e.RequestID != want.Data.RequestID ||
		e.RetryAfter != time.Duration(seconds)*time.Second {
		t.Errorf("got %+v of the answer %s", e, a.body)
	}
}

// The client's requests match the contract: the method, the content type, the
// credential, and for JSON every field.
func TestRequestsFitTheContract(t *testing.T) {
	t.Parallel()

	for path, call := range calls {
		t.Run(path, func(t *testing.T) {
			t.Parallel()

			var req *http.Request
			var sent []byte
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				req = r
				sent, _ = io.ReadAll(r.Body)
				w.WriteHeader(http.StatusTeapot)
			}))
			t.Cleanup(srv.Close)
			_ = refused(t, call(t.Context(), &client.Client{BaseURL: srv.URL + "/", HTTP: srv.Client()}))

			if req.Method != http.MethodPost || req.URL.Path != path || req.UserAgent() != "lineproof-go" {
				t.Errorf("the request is %s %s by %s", req.Method, req.URL, req.UserAgent())
			}
			kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
			media := contract().Paths.Value(path).Post.RequestBody.Value.Content[kind]
			if media == nil {
				t.Fatalf("the contract takes no %s", kind)
			}
			if kind == "application/json" {
				var body any
				if err := json.Unmarshal(sent, &body); err != nil {
					t.Fatal(err)
				}
				if err := media.Schema.Value.VisitJSON(body); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Every error code of the service has a constant.
func TestCodesAreThoseOfTheService(t *testing.T) {
	t.Parallel()

	ours := []client.Code{
		client.CodeInvalidArgument, client.CodeOutOfRange, client.CodeUnauthenticated, client.CodeSecondFactorRequired,
		client.CodePermissionDenied, client.CodeIncompleteAccount, client.CodePasswordRequired, client.CodeNotFound, client.CodeMethodNotAllowed, client.CodeAlreadyExists, client.CodeAborted,
		client.CodeIncompatibleState, client.CodeGone, client.CodePayloadTooLarge, client.CodeUnsupportedMediaType, client.CodeNotApplicable,
		client.CodeTooManyRequests, client.CodeQuotaExceeded, client.CodeScanSuspected, client.CodeInternal, client.CodeUnavailable,
	}
	for _, code := range fault.Codes {
		if !slices.Contains(ours, client.Code(code)) {
			t.Errorf("%s has no name", code)
		}
	}
	if len(ours) != len(fault.Codes) {
		t.Errorf("%d codes have a name, and the service has %d", len(ours), len(fault.Codes))
	}
}
