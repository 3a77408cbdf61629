package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

const (
	batchPath     = "/api/v1/phone/api/phone-numbers/verify-batch"
	verifiedPath  = "/api/v1/phone/api/phone-numbers/verifications/"
	verifiedRoute = "GET " + verifiedPath + "{requestId}"
)

func batchAnswers() map[string]answer {
	ask := func(body string) asker {
		return func(_ *testing.T, s *stack) *http.Request { return post(batchPath, s.key, body) }
	}
	return map[string]answer{
		"batch_ok":            {200, ask(`{"phoneNumbers":["` + knownNumber + `","0803-123 45.67","` + swappedNumber + `","+2348039999999"]}`)},
		"batch_ok_and_wrong":  {200, ask(`{"phoneNumbers":["0803","` + knownNumber + `","+447400123456",""]}`)},
		"batch_ok_all_wrong":  {200, ask(`{"phoneNumbers":["0803","x"]}`)},
		"batch_ok_everything": {200, ask(`{"phoneNumbers":["` + knownNumber + `"],"include":["coverage","dates","signals"],"since":"2026-01-02"}`)},
		"batch_ok_objects": {200, ask(`{"phoneNumbers":[{"phoneNumber":"` + knownNumber + `","since":"2026-01-02","externalId":"customer-1"},"` + swappedNumber + `",` +
			`{"externalId":"Ünïcode \u4e2d \"7\"","phoneNumber":"0803"},{"phoneNumber":"` + swappedNumber + `"}],"since":"2026-02-03T04:05:06Z"}`)},
		"batch_ok_on_behalf_of": {200, func(t *testing.T, s *stack) *http.Request {
			s.mandate(t, "Harbour Bank")
			return post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","0803"],"onBehalfOf":"Harbour Bank"}`)
		}},
		"batch_no_mandate": {403, ask(`{"phoneNumbers":["` + knownNumber + `"],"onBehalfOf":"Harbour Bank"}`)},
		"batch_wrong_objects": {400, ask(`{"phoneNumbers":["0803",{"since":"2999-01-01"},{"phoneNumber":7,"externalId":""},{"phoneNumber":"` + knownNumber + `","since":"soon","colour":"red"},` +
			`{"phoneNumber":"` + knownNumber + `","externalId":"` + strings.Repeat("x", 65) + `"},null,{"phoneNumber":"1","phoneNumber":"2","externalId":"a\u0007","since":"1969-12-31"}],"since":"soon"}`)},
		"batch_objects_too_large": {413, ask(`{"phoneNumbers":[{"phoneNumber":"` + strings.Repeat("0", 257<<10) + `"}]}`)},
		"batch_empty":             {400, ask(`{"phoneNumbers":[]}`)},
		"batch_missing":           {400, ask(`{}`)},
		"batch_too_many":          {400, ask(`{"phoneNumbers":[` + strings.Repeat(`"1",`, 1000) + `"1"]}`)},
		"batch_wrong_types":       {400, ask(`{"phoneNumbers":[8031234567],"since":"2999-01-01","include":["x"]}`)},
		"batch_no_credential":     {401, func(*testing.T, *stack) *http.Request { return post(batchPath, "", `{}`) }},
		"batch_too_large":         {413, ask(`{"phoneNumbers":["` + strings.Repeat("0", 65<<10) + `"]}`)},
		"batch_media_type": {415, func(_ *testing.T, s *stack) *http.Request {
			r := post(batchPath, s.key, `{}`)
			r.Header.Del("Content-Type")
			return r
		}},
		"batch_panic": {500, func(_ *testing.T, s *stack) *http.Request {
			s.Verifier = nil
			return post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`"]}`)
		}},
		"batch_busy": {503, func(_ *testing.T, s *stack) *http.Request {
			s.Verifier.MaxQueue = 0
			return post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","`+knownNumber+`"]}`)
		}},
	}
}

func verifiedAnswers() map[string]answer {
	// asked verifies a number and returns the id of the answer.
	asked := func(t *testing.T, s *stack, body string) string {
		t.Helper()
		res := s.do(t, post(verifyPath, s.key, body))
		return field(t, res.Body.Bytes(), "data", "requestId")
	}
	return map[string]answer{
		"verified_ok": {200, func(t *testing.T, s *stack) *http.Request {
			return get(verifiedPath+asked(t, s, `{"phoneNumber":"0803-123 45.67"}`), s.key)
		}},
		"verified_ok_everything": {200, func(t *testing.T, s *stack) *http.Request {
			return get(verifiedPath+asked(t, s, `{"phoneNumber":"`+flaggedNumber+`","include":["coverage","dates","signals"],"since":"2026-01-02"}`), s.key)
		}},
		"verified_bad_correlator": {400, func(_ *testing.T, s *stack) *http.Request {
			r := get(verifiedPath+"x", s.key)
			r.Header.Set("X-Correlator", "with space")
			return r
		}},
		"verified_no_credential": {401, func(*testing.T, *stack) *http.Request { return get(verifiedPath+"x", "") }},
		"verified_none": {404, func(_ *testing.T, s *stack) *http.Request {
			return get(verifiedPath+"01a1d964-6e3b-7c41-8a00-5f0e6b1d9c20", s.key)
		}},
		"verified_no_id": {404, func(_ *testing.T, s *stack) *http.Request { return get(verifiedPath+"x", s.key) }},
		"verified_of_another": {404, func(t *testing.T, s *stack) *http.Request {
			id := asked(t, s, `{"phoneNumber":"`+knownNumber+`"}`)
			s.bank = must(s.Registry.CreateRelyingParty(t.Context(), "Another Bank", "RC 8", access.Operator, uuid.Nil))(t)
			return get(verifiedPath+id, s.newKey(t))
		}},
		"verified_panic": {500, func(t *testing.T, s *stack) *http.Request {
			id := asked(t, s, `{"phoneNumber":"`+knownNumber+`"}`)
			s.Record = nil
			return get(verifiedPath+id, s.key)
		}},
		"verified_unavailable": {503, func(t *testing.T, s *stack) *http.Request {
			id := asked(t, s, `{"phoneNumber":"`+knownNumber+`"}`)
			s.pool.Close()
			return get(verifiedPath+id, s.key)
		}},
	}
}

// One request verifies a thousand numbers, each with its own record, which the
// caller can get later, unchanged.
func TestBatchOfAThousandHasAThousandRecords(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	numbers := make([]string, 1000)
	for i := range numbers {
		numbers[i] = `"+234803` + strconv.Itoa(1_000_000+i) + `"`
	}
	res := s.do(t, post(batchPath, s.key, `{"phoneNumbers":[`+strings.Join(numbers, ",")+`]}`))
	var body struct {
		Data struct{ Results []map[string]any }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	ids := make(map[any]bool)
	for i, r := range body.Data.Results {
		ids[r["requestId"]] = true
		if got := `"` + r["phoneNumber"].(string) + `"`; got != numbers[i] { //nolint:forcetypeassert // the contract's
			t.Fatalf("result %d is about %s, want %s", i, got, numbers[i])
		}
	}
	if len(body.Data.Results) != 1000 || len(ids) != 1000 || ids[nil] {
		t.Errorf("%d results with %d different ids, want a thousand", len(body.Data.Results), len(ids))
	}
	var records int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(DISTINCT request_id) FROM journal_entry`).Scan(&records); err != nil || records != 1000 {
		t.Errorf("%d records, %v; want a thousand", records, err)
	}
	last := body.Data.Results[999]
	shown := s.do(t, get(verifiedPath+last["requestId"].(string), s.key)) //nolint:forcetypeassert // the contract's
	if got := field(t, shown.Body.Bytes(), "data", "verificationTimestamp"); got != last["verificationTimestamp"] {
		t.Errorf("shown again it is of %s, and was of %s", got, last["verificationTimestamp"])
	}
}
