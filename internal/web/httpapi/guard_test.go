package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
)

// guarded gives the stack a guard, and every entity these limits.
func (s *stack) guarded(l access.Limits) {
	s.Access.Limits = l
	s.Guard = guard.New(&guard.Guard{Pool: s.pool, Node: "test", Mode: guard.Stop, Now: time.Now, Log: s.Log})
}

// checked sends a request, whose response must match the contract.
func (s *stack) checked(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	res := s.do(t, r)
	loadContract(t).check(t, r, res)
	return res
}

func asking(key, number string) *http.Request {
	return post(verifyPath, key, `{"phoneNumber":"`+number+`"}`)
}

// quotaRefusal fails unless a response says that a quota is used up, and when
// to retry.
func quotaRefusal(t *testing.T, res *httptest.ResponseRecorder, words string) {
	t.Helper()
	refusal(t, res, "QUOTA_EXCEEDED", words)
}

// refusal fails unless a response is 429 with a code, says what happened, and when to
// retry.
func refusal(t *testing.T, res *httptest.ResponseRecorder, code, words string) {
	t.Helper()
	if res.Code != http.StatusTooManyRequests || field(t, res.Body.Bytes(), "data", "code") != code {
		t.Fatalf("answered %d: %s", res.Code, res.Body)
	}
	if got := field(t, res.Body.Bytes(), "data", "message"); !strings.Contains(got, words) {
		t.Errorf("says %q, want %q", got, words)
	}
	if after, err := strconv.Atoi(res.Header().Get("Retry-After")); err != nil || after < 1 || after > 31*86400+5 {
		t.Errorf("Retry-After is %q", res.Header().Get("Retry-After"))
	}
}

// Over its quota of different numbers, an organisation gets answers only about
// numbers that it has verified before. A malformed number costs nothing,
// another organisation has its own quota, and a test key has none.
func TestQuotaOfDifferentNumbersIsEnforced(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 2})
	for _, number := range []string{knownNumber, "0803", "0803-123 45.67", swappedNumber} {
		s.checked(t, asking(s.key, number))
	}
	quotaRefusal(t, s.checked(t, asking(s.key, flaggedNumber)), "2 different numbers a day")
	if res := s.checked(t, asking(s.key, knownNumber)); res.Code != http.StatusOK {
		t.Errorf("a known number is answered with %d", res.Code)
	}
	test := must(s.Access.CreateKey(t.Context(), access.KeyForm{Entity: s.bank.ID, Name: "tests", Mode: access.Test}, access.Operator, uuid.Nil))(t).Text.Reveal()
	for i := range 5 {
		if res := s.checked(t, asking(test, "+234729000000"+strconv.Itoa(i))); res.Code == http.StatusTooManyRequests {
			t.Error("a key for tests is refused")
		}
	}
	s.bank = must(s.Registry.CreateRelyingParty(t.Context(), "Another Bank", "RC 8", access.Operator, uuid.Nil))(t)
	if res := s.checked(t, asking(s.newKey(t), flaggedNumber)); res.Code != http.StatusOK {
		t.Errorf("another organisation is answered with %d", res.Code)
	}
}

// Of a batch, the numbers within the quota have an answer and the others have
// their own error, in order.
func TestBatchOverTheQuotaIsAnsweredInPart(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 2})
	res := s.checked(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","0803","`+swappedNumber+`","`+flaggedNumber+`","0803 123 4567"]}`))
	var body struct {
		Data struct {
			Results []struct {
				Status string
				Error  struct{ Code string }
			}
		}
	}
	if err := json.Unmarshal(res.Body.Bytes(), &body); err != nil || res.Code != http.StatusOK || len(body.Data.Results) != 5 {
		t.Fatalf("answered %d, %v: %s", res.Code, err, res.Body)
	}
	for i, want := range []string{"NORMAL", "INVALID_ARGUMENT", "SWAPPED", "QUOTA_EXCEEDED", "NORMAL"} {
		if got := body.Data.Results[i].Status + body.Data.Results[i].Error.Code; got != want {
			t.Errorf("number %d is %s, want %s", i, got, want)
		}
	}
}

// A quota of requests is used up by answers, single or in a batch, and by
// nothing else.
func TestQuotaOfRequestsIsEnforced(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayQuota: 3, MonthQuota: 1000})
	queue := s.Verifier.MaxQueue
	s.Verifier.MaxQueue = 0
	for range 5 {
		if res := s.checked(t, asking(s.key, knownNumber)); res.Code != http.StatusServiceUnavailable {
			t.Fatalf("answered %d", res.Code)
		}
		s.checked(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","`+knownNumber+`"]}`))
	}
	s.Verifier.MaxQueue = queue
	s.checked(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`","`+knownNumber+`"]}`))
	s.checked(t, asking(s.key, knownNumber))
	quotaRefusal(t, s.checked(t, asking(s.key, knownNumber)), "3 verifications a day")
	quotaRefusal(t, s.checked(t, post(batchPath, s.key, `{"phoneNumbers":["`+knownNumber+`"]}`)), "3 verifications a day")
	if err := s.Guard.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	used, err := guard.UsageOf(t.Context(), s.pool, s.bank.ID, time.Now())
	if err != nil || used.Answered != 3 || used.Requests != 18 || used.Numbers != 1 {
		t.Errorf("stored is %+v, %v; want 18 asked, 3 answered, 1 number", used, err)
	}
}

// An organisation that scans numbers is blocked, for batches and single
// requests, and the message says whom to contact.
func TestNumberScanningIsBlocked(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 100_000})
	if answered := s.scan(t); answered < 2000 {
		t.Errorf("stopped after %d numbers", answered)
	}
	refusal(t, s.checked(t, asking(s.key, knownNumber)), "SCAN_SUSPECTED", "ask the regulator for a release")
}

// scan asks about neighbours in batches until the organisation is stopped. It returns how
// many were answered.
func (s *stack) scan(t *testing.T) (answered int) {
	t.Helper()
	for i := range 30 {
		numbers := make([]string, 1000)
		for j := range numbers {
			numbers[j] = `"+234803` + strconv.Itoa(1_000_000+1000*i+j) + `"`
		}
		res := s.checked(t, post(batchPath, s.key, `{"phoneNumbers":[`+strings.Join(numbers, ",")+`]}`))
		if res.Code == http.StatusTooManyRequests {
			refusal(t, res, "SCAN_SUSPECTED", "ask the regulator for a release")
			return 1000 * i
		}
	}
	t.Fatal("30,000 neighbours were answered")
	return 0
}

// Whatever a stopped organisation sends, and however fast, it is told that it is stopped: a
// caller that is told to send fewer would go on. Another operation has its rate as before.
func TestStoppedOrganisationIsToldSoBeyondItsRate(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 100_000})
	s.scan(t)
	s.allow(2, 0, 0)
	key, watching := s.newKey(t), s.bankKey(t, access.Live)
	for i := range 3 {
		refusal(t, s.checked(t, asking(key, knownNumber)), "SCAN_SUSPECTED", "the service no longer answers them")
		refusal(t, s.checked(t, post(batchPath, key, `{"phoneNumbers":["`+knownNumber+`","`+swappedNumber+`","`+flaggedNumber+`"]}`)), "SCAN_SUSPECTED", "the service no longer answers them")
		if res := s.checked(t, get(feedPath, watching)); (res.Code == http.StatusOK) != (i < 2) {
			t.Errorf("the feed is answered with %d: %s", res.Code, res.Body)
		}
	}
	refusal(t, s.checked(t, get(feedPath, watching)), "TOO_MANY_REQUESTS", "exceeds its rate limit")
}

// Organisations that the same client onboarded share the budget of different numbers
// of their sponsor; one that the regulator created has its own alone.
func TestOrganisationsOfOneClientShareABudget(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.guarded(access.Limits{DayNumbers: 100, SponsorNumbers: 2})
	var keys []string
	for range 2 {
		_, entity := s.person(t)
		keys = append(keys, s.ownKey(t, entity).Text.Reveal())
	}
	for i, number := range []string{knownNumber, swappedNumber} {
		if res := s.checked(t, asking(keys[i], number)); res.Code != http.StatusOK {
			t.Fatalf("answered %d: %s", res.Code, res.Body)
		}
	}
	for _, key := range keys {
		quotaRefusal(t, s.checked(t, asking(key, flaggedNumber)), "2 different numbers a day, which all organisations share")
	}
	if res := s.checked(t, asking(keys[0], knownNumber)); res.Code != http.StatusOK {
		t.Errorf("a number that it verified today is answered with %d", res.Code)
	}
	for _, number := range []string{knownNumber, swappedNumber, flaggedNumber} {
		if res := s.checked(t, asking(s.key, number)); res.Code != http.StatusOK {
			t.Errorf("a bank that the regulator created is answered with %d", res.Code)
		}
	}
}

// A client that has onboarded as many entities on a day as it may is told so, and
// when it may again. A repeated request is still answered with the first response.
func TestOnboardingsOfADayAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Registry.Onboardings = 1
	token, phoneNumber := s.token(t), randomPhone()
	first := func() *http.Request { return onboardRequest(token, "first@harmattan.example", phoneNumber, `"key-1"`) }
	if res := s.checked(t, first()); res.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", res.Code, res.Body)
	}
	quotaRefusal(t, s.checked(t, onboardRequest(token, "second@harmattan.example", randomPhone(), "")), "has onboarded 1 entities today")
	if res := s.checked(t, first()); res.Code != http.StatusOK || res.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("the first request again is answered %d: %s", res.Code, res.Body)
	}
}
