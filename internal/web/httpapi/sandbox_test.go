package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	clockPath  = "/api/v1/test/clock"
	testNumber = "+2347290000000" // NORMAL
	testLife   = "+2347290000090"
)

func (s *stack) testKey(t testing.TB) string {
	t.Helper()
	key := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "pipeline", Mode: access.Test, Purpose: "trial"}, access.Operator, uuid.Nil))(t)
	return key.Text.Reveal()
}

func clockAnswers() map[string]answer {
	move := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(clockPath, s.testKey(t), body) }
	}
	show := func(t *testing.T, s *stack) *http.Request { t.Helper(); return get(clockPath, s.testKey(t)) }
	all := map[string]answer{
		"clock_ok_untouched": {200, show},
		"clock_ok_moved": {200, func(t *testing.T, s *stack) *http.Request {
			key := s.testKey(t)
			s.do(t, post(clockPath, key, `{"advance":"P20D"}`))
			s.do(t, post(clockPath, s.testKey(t), `{"advance":"P99D"}`)) // another key's
			return get(clockPath, key)
		}},
		"clock_live": {403, func(_ *testing.T, s *stack) *http.Request { return get(clockPath, s.key) }},
		"clock_panic": {500, func(t *testing.T, s *stack) *http.Request {
			s.Bank.Sandbox.Simulator = nil
			return show(t, s)
		}},
		"clock_move_ok":          {200, move(`{"advance":"P1W1DT12H"}`)},
		"clock_move_ok_reset":    {200, move(`{"reset":true}`)},
		"clock_move_ok_end":      {200, move(`{"reset":true,"advance":"P500D"}`)},
		"clock_move_empty":       {400, move(`{}`)},
		"clock_move_no_reset":    {400, move(`{"reset":false}`)},
		"clock_move_backwards":   {400, move(`{"advance":"-P1D"}`)},
		"clock_move_nothing":     {400, move(`{"advance":"P0D","reset":true}`)},
		"clock_move_too_far":     {400, move(`{"advance":"P3651D"}`)},
		"clock_move_wrong_types": {400, move(`{"advance":30,"reset":"yes","to":"P1D"}`)},
		"clock_move_null":        {400, move(`null`)},
		"clock_move_live":        {403, func(_ *testing.T, s *stack) *http.Request { return post(clockPath, s.key, `{"reset":true}`) }},
		"clock_move_too_large":   {413, move(`{"advance":"` + strings.Repeat("1", 17<<10) + `"}`)},
		"clock_move_media_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := move(`{}`)(t, s)
			r.Header.Del("Content-Type")
			return r
		}},
		"clock_move_panic": {500, func(t *testing.T, s *stack) *http.Request {
			s.Bank.Sandbox.Simulator = nil
			return move(`{"reset":true}`)(t, s)
		}},
	}
	for name, ask := range map[string]asker{"clock": show, "clock_move": move(`{"reset":true}`)} {
		all[name+"_no_credential"] = answer{401, func(t *testing.T, s *stack) *http.Request { r := ask(t, s); r.Header.Del("Authorization"); return r }}
		all[name+"_unavailable"] = answer{503, func(t *testing.T, s *stack) *http.Request { r := ask(t, s); s.pool.Close(); return r }}
		all[name+"_bad_correlator"] = answer{400, func(t *testing.T, s *stack) *http.Request {
			r := ask(t, s)
			r.Header.Set("X-Correlator", "with space")
			return r
		}}
	}
	return all
}

// testNumberAnswers are the responses of verify to a test key.
func testNumberAnswers() map[string]answer {
	ask := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(verifyPath, s.testKey(t), body) }
	}
	of := func(digits int) asker { return ask(fmt.Sprintf(`{"phoneNumber":"+23472900000%02d"}`, digits)) }
	return map[string]answer{
		"test_number_ok": {200, of(0)},
		"test_number_ok_everything": {200, func(t *testing.T, s *stack) *http.Request {
			key := s.testKey(t)
			s.do(t, post(clockPath, key, `{"advance":"P25D"}`))
			since := time.Now().AddDate(0, 0, 10).UTC().Format(time.RFC3339) // of the test clock's past
			return post(verifyPath, key, `{"phoneNumber":"`+testLife+`","include":["signals","coverage"],"since":"`+since+`"}`)
		}},
		"test_number_of_a_line":  {422, ask(`{"phoneNumber":"` + knownNumber + `"}`)},
		"test_number_not_played": {422, of(77)},
		"test_number_live_key": {200, func(_ *testing.T, s *stack) *http.Request {
			return post(verifyPath, s.key, `{"phoneNumber":"`+testNumber+`"}`)
		}},
		"test_number_422":   {422, of(40)},
		"test_number_rate":  {429, of(41)},
		"test_number_quota": {429, of(42)},
		"test_number_503":   {503, of(43)},
		"test_number_too_slow": {503, func(t *testing.T, s *stack) *http.Request {
			s.Verifier.Timeout = 500 * time.Millisecond
			return of(52)(t, s)
		}},
		"test_number_batch": {200, func(t *testing.T, s *stack) *http.Request {
			return post(batchPath, s.testKey(t), `{"phoneNumbers":["`+testNumber+`","`+knownNumber+`","+2347290000050","+2347290000041","0803","+2347290000031"]}`)
		}},
		"test_number_batch_no_answer": {200, func(t *testing.T, s *stack) *http.Request {
			return post(batchPath, s.testKey(t), `{"phoneNumbers":["`+knownNumber+`","+2347290000043"]}`)
		}},
		"test_number_of_the_past": {404, func(t *testing.T, s *stack) *http.Request {
			asked := s.do(t, post(verifyPath, s.key, `{"phoneNumber":"`+knownNumber+`"}`))
			return get(verifiedPath+field(t, asked.Body.Bytes(), "data", "requestId"), s.testKey(t))
		}},
		"test_number_outage": {503, func(t *testing.T, s *stack) *http.Request {
			key := s.testKey(t)
			s.do(t, post(clockPath, key, `{"advance":"P100D"}`))
			return post(verifyPath, key, `{"phoneNumber":"+2347290000093"}`)
		}},
	}
}

// An integrator tests a year in a minute: each month has the documented answer,
// and each answer has its record, with the mode of the key and without a line
// version.
func TestTestClockSimulatesAYear(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.testKey(t)
	s.do(t, post(clockPath, key, `{"reset":true}`))
	var got []string
	for range 13 {
		res := s.do(t, post(verifyPath, key, `{"phoneNumber":"`+testLife+`"}`))
		if res.Code != http.StatusOK {
			t.Fatalf("%d: %s", res.Code, res.Body)
		}
		got = append(got, field(t, res.Body.Bytes(), "data", "status"))
		s.do(t, post(clockPath, key, `{"advance":"P30D"}`))
	}
	const recycled, normal, quarantined = "RECYCLED", "NORMAL", "QUARANTINED"
	want := []string{
		recycled, recycled, recycled, normal, normal, normal, normal, "INACTIVE", quarantined, quarantined, quarantined, recycled, recycled,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the year (-written +rehearsed):\n%s", diff)
	}
	var records int
	err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry WHERE mode = 'test' AND purpose = 'other' AND purpose_text = 'trial' AND line_version = 0
		AND plan_version = 0 AND policy_version = 1 AND number = 2347290000090`).Scan(&records)
	if err != nil || records != 13 {
		t.Errorf("%d records, %v; want 13", records, err)
	}
}

// Only answers are recorded: errors of test numbers are not in the journal, nor
// is a real number that a test key sends.
func TestErrorsOfTestNumbersAreNotRecorded(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.testKey(t)
	for _, number := range []string{"+2347290000040", "+2347290000041", "+2347290000042", "+2347290000043", "+2347290000077", knownNumber} {
		if res := s.do(t, post(verifyPath, key, `{"phoneNumber":"`+number+`"}`)); res.Code < 400 {
			t.Errorf("%s: %d", number, res.Code)
		}
	}
	var records int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_entry`).Scan(&records); err != nil || records != 0 {
		t.Errorf("%d records, %v; want none", records, err)
	}
}

// /docs describes what each test number simulates.
func TestDocumentListsTheTestNumbers(t *testing.T) {
	t.Parallel()
	stage, p := sandbox.NewSimulator("NG"), policy.Defaults()
	for _, r := range stage.TestNumbers() {
		part, _ := stage.Simulate(r.Number, sandbox.Clock{}, time.Now(), &p)
		answer := "slow"
		switch {
		case r.IsScenario:
			answer = "a life"
		case part.Fault != nil:
			answer = "`" + string(fault.CodeOf(part.Fault)) + "`"
		case part.Delay == 0:
			v := part.Lookup.View(part.At)
			if answer = "`" + string(v.Status) + "`"; v.Reason != "" {
				answer += ", `" + string(v.Reason) + "`"
			}
		}
		row := fmt.Sprintf("| `%02d` | %s | %s |\n", r.Number.Int()%100, answer, r.Title)
		if !strings.Contains(string(api.OpenAPI), row) {
			t.Errorf("api/openapi.yaml does not have the row\n%s", row)
		}
	}
}

// A live key that asks about a test number is told in a header what to do, also where the
// number is one of a batch. A test key is not, nor is a live key that asks about others.
func TestLiveKeyIsToldOfTestNumbers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	single := func(key, number string) *http.Request { return post(verifyPath, key, `{"phoneNumber":"`+number+`"}`) }
	batch := func(key string, numbers ...string) *http.Request {
		return post(batchPath, key, `{"phoneNumbers":["`+strings.Join(numbers, `","`)+`"]}`)
	}
	const other = "+2347290000199"
	for name, tc := range map[string]struct {
		request *http.Request
		hint    string
	}{
		"a live key":                      {single(s.key, testNumber), sandbox.LiveHint},
		"a live key and another number":   {single(s.key, other), ""},
		"a test key":                      {single(s.testKey(t), testNumber), ""},
		"a batch":                         {batch(s.key, "0803", other, testNumber), sandbox.LiveBatchHint},
		"a batch without one":             {batch(s.key, "0803", other), ""},
		"a batch of a test key":           {batch(s.testKey(t), testNumber), ""},
		"a batch of which nothing is one": {batch(s.key, "0803"), ""},
	} {
		res := s.do(t, tc.request)
		if got := res.Header().Get("Lineproof-Hint"); res.Code != http.StatusOK || got != tc.hint {
			t.Errorf("%s: answered %d with the hint %q, want %q", name, res.Code, got, tc.hint)
		}
	}
}
