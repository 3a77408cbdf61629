package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/receipt"
)

const (
	logOrigin    = "lineproof.example/log/0/2027"
	receiptRoute = verifiedRoute + "/receipt"
)

// withLog turns the public log on, unless it is, and returns its public key and a function
// that publishes it.
func (s *stack) withLog(t *testing.T) (key string, publish func()) {
	t.Helper()
	if s.publish != nil {
		return s.logKey, s.publish
	}
	log := &publiclog.Log{Pool: s.pool, Origin: logOrigin}
	if err := log.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	tiles, archive := must(blob.OpenDir(t.TempDir()))(t), must(blob.OpenDir(t.TempDir()))(t)
	opened := logtest.NewKey(t, logOrigin)
	s.Receipts = &logreceipt.Maker{Pool: s.pool, Archive: archive, Tiles: tiles, Origin: logOrigin}
	s.Verifier.Promises = must(logreceipt.NewSigner(t.Context(), opened, time.Now(), func(context.Context, string) error { return nil }))(t)
	publisher := publiclog.NewPublisher(log, tiles, opened)
	s.logKey, s.publish = opened.Verifier(), func() {
		t.Helper()
		must(log.Tick(t.Context()))(t)
		must(publisher.Publish(t.Context()))(t)
	}
	return s.logKey, s.publish
}

func receiptAnswers() map[string]answer {
	// asked verifies a number and returns the path of its receipt.
	asked := func(t *testing.T, s *stack) string {
		t.Helper()
		res := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`))
		return verifiedPath + field(t, res.Body.Bytes(), "data", "requestId") + "/receipt"
	}
	return map[string]answer{
		"verify_ok_receipt": {200, func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`","include":["receipt"],"externalId":"customer-4711"}`)
		}},
		"batch_ok_receipt": {200, func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","0803"],"include":["receipt"]}`)
		}},
		"verify_receipt_no_log": {400, func(_ *testing.T, s *stack) *http.Request {
			return post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`","include":["receipt"]}`)
		}},
		"receipt_ok": {200, func(t *testing.T, s *stack) *http.Request {
			_, publish := s.withLog(t)
			path := asked(t, s)
			publish()
			return get(path, s.key)
		}},
		"receipt_ok_tlog_proof": {200, func(t *testing.T, s *stack) *http.Request {
			_, publish := s.withLog(t)
			path := asked(t, s)
			publish()
			r := get(path, s.key)
			r.Header.Set("Accept", "text/plain")
			return r
		}},
		"receipt_bad_correlator": {400, func(_ *testing.T, s *stack) *http.Request {
			r := get(verifiedPath+"x/receipt", s.key)
			r.Header.Set("X-Correlator", "with space")
			return r
		}},
		"receipt_no_credential": {401, func(*testing.T, *stack) *http.Request { return get(verifiedPath+"x/receipt", "") }},
		"receipt_no_log":        {404, func(t *testing.T, s *stack) *http.Request { return get(asked(t, s), s.key) }},
		"receipt_no_id": {404, func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return get(verifiedPath+"x/receipt", s.key)
		}},
		"receipt_none": {404, func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return get(verifiedPath+"01a1d964-6e3b-7c41-8a00-5f0e6b1d9c20/receipt", s.key)
		}},
		"receipt_before_the_log": {404, func(t *testing.T, s *stack) *http.Request {
			path := asked(t, s)
			_, publish := s.withLog(t)
			publish()
			return get(path, s.key)
		}},
		"receipt_of_another": {404, func(t *testing.T, s *stack) *http.Request {
			_, publish := s.withLog(t)
			path := asked(t, s)
			publish()
			s.bank = must(s.Registry.CreateRelyingParty(t.Context(), "Another Bank", "RC 8", access.Operator, uuid.Nil))(t)
			return get(path, s.newKey(t))
		}},
		"receipt_panic": {500, func(t *testing.T, s *stack) *http.Request {
			s.Receipts = &logreceipt.Maker{}
			return get(asked(t, s), s.key)
		}},
		"receipt_pending": {503, func(t *testing.T, s *stack) *http.Request {
			s.withLog(t)
			return get(asked(t, s), s.key)
		}},
	}
}

// The receipt that the API sends verifies, and proves the answer that it sent before.
func TestReceiptOfTheAPIVerifies(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, publish := s.withLog(t)
	answer := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+swappedNumber+`","include":["signals"]}`)).Body.Bytes()
	publish()
	id := field(t, answer, "data", "requestId")
	sent := s.do(t, get(verifiedPath+id+"/receipt", s.key))
	r := must(receipt.Parse(sent.Body.Bytes()))(t)
	v := must(r.Verify(must(receipt.NewPolicy(key))(t)))(t)
	plain := get(verifiedPath+id+"/receipt", s.key)
	plain.Header.Set("Accept", "text/plain; charset=utf-8")
	form := must(receipt.Parse(s.do(t, plain).Body.Bytes()))(t)
	if same := must(form.Verify(must(receipt.NewPolicy(key))(t)))(t); !reflect.DeepEqual(same, v) {
		t.Errorf("as text it proves %+v", same)
	}
	if v.RequestID != id || v.Status != field(t, answer, "data", "status") || v.Entity != s.bank.ID.String() || v.PhoneNumber != swappedNumber || v.Extra == "" {
		t.Errorf("it proves %+v", v)
	}
}

// A receipt that comes with an answer promises this answer, and only what the proof proves
// later; the record has the word and not the receipt.
func TestPromiseComesWithTheAnswer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, publish := s.withLog(t)
	policy := must(receipt.NewPolicy(key))(t)
	type answered struct {
		RequestID string          `json:"requestId"`
		Status    string          `json:"status"`
		Receipt   json.RawMessage `json:"receipt"`
	}
	var one struct {
		Data answered `json:"data"`
	}
	var several struct {
		Data struct {
			Results []answered `json:"results"`
		} `json:"data"`
	}
	if err := json.Unmarshal(s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+swappedNumber+`","include":["receipt","signals"],"since":"2026-01-01"}`)).Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(s.do(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","`+swappedNumber+`"],"include":["receipt"]}`)).Body.Bytes(), &several); err != nil {
		t.Fatal(err)
	}
	publish()
	for i, a := range append(several.Data.Results, one.Data) {
		v, err := must(receipt.Parse(a.Receipt))(t).VerifyPromise(policy)
		if err != nil || v.RequestID != a.RequestID || v.Status != a.Status || v.Entity != s.bank.ID.String() || strings.Contains(v.Extra, "receipt") || (v.Extra == "") != (i < 2) {
			t.Errorf("it promises %+v, %v", v, err)
		}
		if want := []string{"include=receipt", "include=receipt", "since=2026-01-01T00:00:00Z include=receipt,signals"}[i]; !strings.HasSuffix(v.Options, want[len(want)-15:]) {
			t.Errorf("the options are %q, want %q", v.Options, want)
		}
		proof := must(receipt.Parse(s.do(t, get(verifiedPath+a.RequestID+"/receipt", s.key)).Body.Bytes()))(t)
		if proven := must(proof.Verify(policy))(t); !reflect.DeepEqual(proven.Record, v.Record) {
			t.Errorf("it promised %+v and proves %+v", v.Record, proven.Record)
		}
	}
}
