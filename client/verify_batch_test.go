package client_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/lineproof/lineproof/client"
)

// Each number of a batch has its answer or its error, and a result about
// another number is an error of the whole call.
func TestBatchSeparatesAnswersFromErrors(t *testing.T) {
	t.Parallel()
	const body = `{"status":"Success","data":{"results":[
		{"phoneNumber":"+2348031234567","status":"SWAPPED","requestId":"01a1d964-6e3b-7f18-9a27-c6b5a4938276","mobileNetwork":"MTN","verificationTimestamp":"2026-11-14T09:30:00.123Z"},
		{"phoneNumber":"0803","error":{"code":"INVALID_ARGUMENT","message":"m","violations":[{"field":"phoneNumber","code":"INVALID_FORMAT","message":"x"}],"requestId":"r"}}
		]},"statusCode":"200"}`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	c := &client.Client{BaseURL: srv.URL, HTTP: srv.Client(), Retries: -1}
	got, err := c.VerifyBatch(t.Context(), accessToken, []string{"+2348031234567", "0803"}, client.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Err != nil || got[0].Status != client.StatusSwapped || got[1].Verification != nil || got[1].Err.Code != client.CodeInvalidArgument || len(got[1].Err.Violations) != 1 {
		t.Errorf("the results are %+v and %+v", got[0], got[1])
	}
	for name, numbers := range map[string][]string{"other numbers": {"0803", "+2348031234567"}, "another count": {"+2348031234567"}} {
		if _, err := c.VerifyBatch(t.Context(), accessToken, numbers, client.VerifyOptions{}); err == nil {
			t.Errorf("an answer about %s is believed", name)
		}
	}
	if _, err := c.VerifyBatch(t.Context(), accessToken, []string{"+2348031234567", "0803"}, client.VerifyOptions{Signals: true}); err == nil {
		t.Error("an answer that leaves a question open is believed")
	}
}

// A number with a date or an id of its own is sent as an object, and a result with
// another id is an error.
func TestBatchNumbersHaveDatesAndIDs(t *testing.T) {
	t.Parallel()
	s := &service{answers: []answer{{status: http.StatusOK, body: `{"status":"Success","data":{"results":[
		{"phoneNumber":"+2348031234567","externalId":"b","error":{"code":"UNAVAILABLE","message":"m","violations":[],"requestId":"r"}}
		]},"statusCode":"200"}`}}}
	for id, right := range map[string]bool{"b": true, "a": false, "": false} {
		got, err := s.client().VerifyNumbers(t.Context(), accessToken, []client.BatchNumber{{PhoneNumber: phoneNumber, Since: noon, ExternalID: id}}, client.VerifyOptions{})
		if (err == nil) != right {
			t.Errorf("the result of b for %q: %+v, %v", id, got, err)
		}
	}
	const want = `{"phoneNumbers":[{"externalId":"a","phoneNumber":"+2348031234567","since":"2026-11-14T12:00:00Z"}]}`
	if !slices.Contains(s.bodies, want) {
		t.Errorf("sent %s, want %s among them", s.bodies, want)
	}
}
