package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lineproof/lineproof/client"
)

const (
	importID  = "01a1d964-6e3b-7b55-8d44-3c2b1a0f9e8d"
	requestID = "01a1d964-6e3b-7f18-9a27-c6b5a4938271"
)

var noon = time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC)

// lineCalls has one call of each operation on lines, and of those about several
// or past answers, by method and path.
var lineCalls = map[string]func(ctx context.Context, c *client.Client) error{
	"POST /api/v1/phone/api/phone-numbers/verify-batch": func(ctx context.Context, c *client.Client) error {
		_, err := c.VerifyBatch(ctx, accessToken, []string{phoneNumber, "0803"}, client.VerifyOptions{})
		return err
	},
	"GET /api/v1/phone/api/phone-numbers/verifications/{requestId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Verification(ctx, accessToken, requestID)
		return err
	},
	"GET /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt": func(ctx context.Context, c *client.Client) error {
		return c.Receipt(ctx, accessToken, requestID, io.Discard)
	},
	"GET /api/v1/budgets": func(ctx context.Context, c *client.Client) error {
		left, err := c.Budgets(ctx, accessToken)
		if err == nil && (left.Rates[0].Remaining != 57 || left.Budgets[0].Limit != nil || *left.Budgets[2].Remaining != 79_583 || left.Sizes.BatchNumbers != 1000) {
			return fmt.Errorf("the budgets are %+v", left)
		}
		return err
	},
	"GET /api/v1/test/clock": func(ctx context.Context, c *client.Client) error {
		clock, err := c.TestClock(ctx, accessToken)
		if err == nil && (clock.Day != 20 || clock.Lives[0].Next.Answer != "RECYCLED") {
			return fmt.Errorf("the clock is %+v", clock)
		}
		return err
	},
	"POST /api/v1/test/clock": func(ctx context.Context, c *client.Client) error {
		_, err := c.MoveTestClock(ctx, accessToken, client.ClockMove{Reset: true, Advance: 200 * 24 * time.Hour})
		return err
	},
	"POST /api/v1/lines/events": func(ctx context.Context, c *client.Client) error {
		_, err := c.ReportEvents(ctx, accessToken, []client.LineEvent{
			{ID: "swap-1", PhoneNumber: phoneNumber, Type: client.EventSIMChanged, EffectiveAt: noon},
			{ID: "notice-1", PhoneNumber: phoneNumber, Type: client.EventChurnNotice, EffectiveAt: noon, ChurnAt: noon.AddDate(0, 1, 0), Note: "By letter"},
			{ID: "new-1", PhoneNumber: phoneNumber, Type: client.EventAssigned, EffectiveAt: noon, Day: true, FirstHolder: true},
		}, noon)
		return err
	},
	"POST /api/v1/lines/orders": func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateOrder(ctx, accessToken, client.Order{PhoneNumber: phoneNumber, Action: client.OrderBar, Reason: "COURT", Scope: client.BarNumber, Note: "Suit 12", EffectiveAt: noon})
		return err
	},
	"POST /api/v1/lines/imports": func(ctx context.Context, c *client.Client) error {
		_, err := c.SendLines(ctx, accessToken, client.LinesFile{Kind: client.ImportSnapshot, AsOf: noon, DryRun: true, Content: strings.NewReader("number\n"), ContentType: "text/csv"})
		return err
	},
	"GET /api/v1/lines/imports": func(ctx context.Context, c *client.Client) error {
		_, err := c.Imports(ctx, accessToken)
		return err
	},
	"GET /api/v1/lines/imports/{importId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Import(ctx, accessToken, importID)
		return err
	},
	"POST /api/v1/lines/imports/{importId}/cancel": func(ctx context.Context, c *client.Client) error {
		_, err := c.CancelImport(ctx, accessToken, importID)
		return err
	},
	"GET /api/v1/lines/imports/{importId}/refused": func(ctx context.Context, c *client.Client) error {
		return c.RefusedRows(ctx, accessToken, importID, io.Discard)
	},
	"GET /api/v1/lines/imports/{importId}/receipt": func(ctx context.Context, c *client.Client) error {
		return c.ImportReceipt(ctx, accessToken, importID, io.Discard)
	},
	"GET /api/v1/lines/supply": func(ctx context.Context, c *client.Client) error {
		_, err := c.Supply(ctx, accessToken)
		return err
	},
	"GET /api/v1/lines/conflicts": func(ctx context.Context, c *client.Client) error {
		_, err := c.Conflicts(ctx, accessToken, client.ConflictsQuery{Network: "MTN", Held: true, Cursor: "1-2", Limit: 10})
		return err
	},
	"POST /api/v1/lines/history": func(ctx context.Context, c *client.Client) error {
		_, err := c.History(ctx, accessToken, client.HistoryQuery{PhoneNumber: phoneNumber, AsOf: noon, KnownAt: noon, Reason: "Complaint 12 of 2026"})
		return err
	},
}

// exampleCalls are the calls whose responses are examples that no call of lineCalls
// would get.
var exampleCalls = map[string]func(ctx context.Context, c *client.Client) error{
	"POST /api/v1/phone/api/phone-numbers/verify-batch 200 dates": func(ctx context.Context, c *client.Client) error {
		got, err := c.VerifyNumbers(ctx, accessToken, []client.BatchNumber{
			{PhoneNumber: phoneNumber, Since: noon.AddDate(0, -8, 0), ExternalID: "customer-4711"}, {PhoneNumber: "08031234568"},
		}, client.VerifyOptions{})
		if err == nil && (got[0].ExternalID != "customer-4711" || got[0].ChangedSince != client.ChangedNo || got[0].KnownThrough.IsZero()) {
			return errors.New("the first result lacks a part")
		}
		return err
	},
}

// otherCalls are the calls of all operations that the specification does not
// have.
var otherCalls = func() map[string]func(ctx context.Context, c *client.Client) error {
	all := maps.Clone(lineCalls)
	maps.Copy(all, documentCalls)
	return all
}()

func operationOf(name string) *openapi3.Operation {
	method, path, _ := strings.Cut(name, " ")
	return contract().Paths.Value(path).GetOperation(method)
}

// Every operation on numbers, on lines, on documents and on the test clock that the contract has can be called.
func TestEveryOperationOnNumbersLinesAndDocumentsCanBeCalled(t *testing.T) {
	t.Parallel()

	for path, item := range contract().Paths.Map() {
		for method := range item.Operations() {
			ours := slices.ContainsFunc([]string{"/api/v1/phone/", "/api/v1/test/", "/api/v1/lines/", "/api/regulator/v1/documents"}, func(prefix string) bool {
				return strings.HasPrefix(path, prefix)
			})
			if name := method + " " + path; ours && otherCalls[name] == nil && calls[path] == nil {
				t.Errorf("%s has no call", name)
			}
		}
	}
}

// The client understands every documented response about lines and documents.
func TestEveryDocumentedAnswerOnLinesAndDocumentsIsUnderstood(t *testing.T) {
	t.Parallel()

	for name, call := range otherCalls {
		for status, response := range operationOf(name).Responses.Map() {
			for kind, media := range response.Value.Content {
				for which, example := range media.Examples {
					t.Run(name+" "+status+" "+which, func(t *testing.T) {
						t.Parallel()

						a := answer{header: http.Header{"Content-Type": {kind}}}
						a.status, _ = strconv.Atoi(status)
						for h, v := range response.Value.Headers {
							a.header.Set(h, fmt.Sprint(v.Value.Example))
						}
						if text, ok := example.Value.Value.(string); ok {
							a.body = text
						} else if body, err := json.Marshal(example.Value.Value); err == nil {
							a.body = string(body)
						}
						srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { a.write(w) }))
						t.Cleanup(srv.Close)
						call := call
						if special := exampleCalls[name+" "+status+" "+which]; special != nil {
							call = special
						}
						err := call(t.Context(), &client.Client{BaseURL: srv.URL, HTTP: srv.Client(), Retries: -1})
						if a.status == http.StatusAccepted {
							a.status = http.StatusOK
						}
						checkAnswer(t, err, a)
					})
				}
			}
		}
	}
}

// The client's requests about lines and documents match the contract.
func TestRequestsOnLinesAndDocumentsFitTheContract(t *testing.T) {
	t.Parallel()

	for name, call := range otherCalls {
		t.Run(name, func(t *testing.T) {
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

			if got := req.Method + " " + strings.NewReplacer(importID, "{importId}", requestID, "{requestId}", documentID, "{documentId}").Replace(req.URL.Path); got != name || req.Header.Get("Authorization") != "Bearer "+accessToken {
				t.Errorf("the request is %s", got)
			}
			if strings.Contains(req.URL.String(), "803") {
				t.Errorf("a number stands in the address: %s", req.URL)
			}
			op := operationOf(name)
			for parameter := range req.URL.Query() {
				if op.Parameters.GetByInAndName("query", parameter) == nil {
					t.Errorf("the contract has no parameter %s", parameter)
				}
			}
			if op.RequestBody == nil {
				if len(sent) > 0 {
					t.Errorf("the request has a body: %s", sent)
				}
				return
			}
			kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
			media := op.RequestBody.Value.Content[kind]
			if media == nil {
				t.Fatalf("the contract takes no %s", kind)
			}
			var body any = string(sent)
			if kind == "application/json" {
				if err := json.Unmarshal(sent, &body); err != nil {
					t.Fatal(err)
				}
			}
			if err := media.Schema.Value.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Requests on lines and documents are retried after failures, except a
// decision: each has an idempotency key or ids, or changes nothing. No error
// repeats what was sent, and an incomplete response is never a value.
func TestRequestsOnLinesAndDocumentsAreRetriedAndKeepSecrets(t *testing.T) {
	t.Parallel()

	everything := accessToken + " " + phoneNumber
	for _, tc := range []struct {
		answer
		asked int
	}{
		{answer{name: "503", status: 503, body: everything}, 4},
		{answer{name: "500", status: 500, body: everything}, 4},
		{answer{name: "a broken line", err: io.ErrUnexpectedEOF}, 4},
		{answer{name: "403", status: 403, body: everything}, 1},
		{answer{name: "nothing", status: 200, body: `{"data":{}}`}, 1},
		{answer{name: "an echo", status: 200, body: `{"data":"` + everything + `"}`}, 1},
	} {
		for name, call := range otherCalls {
			if tc.status == http.StatusOK && (strings.HasSuffix(name, "/refused") || strings.HasSuffix(name, "/receipt")) {
				continue // a file is what it is
			}
			asked := tc.asked
			if (strings.HasSuffix(name, "/review") || strings.HasSuffix(name, "/cancel")) && tc.status != http.StatusServiceUnavailable {
				asked = 1
			}
			t.Run(tc.name+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := &service{answers: []answer{tc.answer}}
					checkSilent(t, call(t.Context(), s.client()))
					if len(s.asked) != asked {
						t.Errorf("the service was asked %d times, want %d", len(s.asked), asked)
					}
				})
			})
		}
	}
}

// A download that breaks off is an error, and is not retried after a part was
// written.
func TestInterruptedRefusedRowsAreAnError(t *testing.T) {
	t.Parallel()

	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "line,column,reason\n")
	}))
	t.Cleanup(srv.Close)
	c := &client.Client{BaseURL: srv.URL, HTTP: srv.Client()}
	if err := c.RefusedRows(t.Context(), accessToken, importID, io.Discard); err == nil || asked.Load() != 1 {
		t.Errorf("the error is %v after %d requests", err, asked.Load())
	}
}

// Each topic has its time, and a date is sent as a date.
func TestTopicsAndDatesAreSent(t *testing.T) {
	t.Parallel()

	s := &service{answers: []answer{{status: 200}}}
	_, _ = s.client().ReportEventsByTopic(t.Context(), accessToken, []client.LineEvent{
		{ID: "a", PhoneNumber: phoneNumber, Type: client.EventTransferred, EffectiveAt: noon, Day: true},
	}, map[string]time.Time{client.TopicSIM: noon})
	const want = `{"events":[{"effectiveAt":"2026-11-14","id":"a","phoneNumber":"+2348031234567","type":"TRANSFERRED"}],"suppliedThrough":{"SIM":"2026-11-14T12:00:00Z"}}`
	if len(s.bodies) == 0 || s.bodies[0] != want {
		t.Errorf("sent %s, want %s", s.bodies, want)
	}
}

// Text that the encoder would change is refused before it is sent.
func TestEventsThatAreNotUTF8AreNotSent(t *testing.T) {
	t.Parallel()

	s := &service{answers: []answer{{status: 200}}}
	_, err := s.client().ReportEvents(t.Context(), accessToken, []client.LineEvent{{ID: "\xff"}}, noon)
	if err == nil || len(s.asked) != 0 {
		t.Errorf("the error is %v after %d requests", err, len(s.asked))
	}
}
