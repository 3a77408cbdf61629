package httpapi_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/platform/limit"
)

const budgetsPath = "/api/v1/budgets"

func (s *stack) withQuotas(t testing.TB) {
	t.Helper()
	s.Guard = guard.New(&guard.Guard{Pool: s.pool, Node: "test", Mode: guard.Stop, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	s.allow(100, 1000, 0)
	s.Access.Limits.DayQuota, s.Access.Limits.DayNumbers, s.Access.Limits.YearNumbers = 50, 1000, 1_000_000
}

func budgetAnswers() map[string]answer {
	ask := func(key func(t *testing.T, s *stack) string, change func(s *stack, r *http.Request)) asker {
		return func(t *testing.T, s *stack) *http.Request {
			s.withQuotas(t)
			r := get(budgetsPath, key(t, s))
			change(s, r)
			return r
		}
	}
	plain := func(_ *testing.T, s *stack) string { return s.key }
	none := func(*stack, *http.Request) {}
	all := map[string]answer{
		"budgets_ok":             {200, ask(plain, none)},
		"budgets_ok_rights":      {200, ask(func(t *testing.T, s *stack) string { return s.bankKey(t, access.Live) }, none)},
		"budgets_ok_test":        {200, ask(func(t *testing.T, s *stack) string { return s.bankKey(t, access.Test) }, none)},
		"budgets_no_credential":  {401, ask(plain, func(_ *stack, r *http.Request) { r.Header.Del("Authorization") })},
		"budgets_bad_correlator": {400, ask(plain, func(_ *stack, r *http.Request) { r.Header.Set("x-correlator", "no good!") })},
		"budgets_panic":          {500, ask(plain, func(s *stack, _ *http.Request) { s.Access.Peppers = nil })},
		"budgets_unavailable":    {503, ask(plain, func(s *stack, _ *http.Request) { s.pool.Close() })},
	}
	return all
}

type budgets struct {
	Data struct {
		Restriction, RateScope string
		Rates                  []struct {
			Name      string
			PerSecond float64
			Remaining int
		}
		Budgets []struct {
			Name      string
			Used      int64
			Remaining *int64
		}
	}
}

func (s *stack) budgets(t *testing.T, key string) (b budgets, used map[string]int64) {
	t.Helper()
	res := s.do(t, get(budgetsPath, key))
	if err := json.Unmarshal(res.Body.Bytes(), &b); err != nil || res.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", res.Code, res.Body, err)
	}
	used = map[string]int64{}
	for _, one := range b.Data.Budgets {
		used[one.Name] = one.Used
	}
	return b, used
}

// What a key has used shows in the next response, and what is left is what the next requests get.
func TestBudgetsFollowTheRequests(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.withQuotas(t)
	key := s.bankKey(t, access.Live)
	for _, number := range []string{knownNumber, knownNumber, swappedNumber} {
		s.do(t, post(verifyPath, key, `{"phoneNumber":"`+number+`"}`))
	}
	s.list(t, key)
	b, used := s.budgets(t, key)
	want := map[string]int64{"answersDay": 3, "answersMonth": 3, "numbersDay": 2, "numbersYear": 2, "fileNumbersDay": 0, "jobsOpen": 0, "jobsDay": 0, "watchLists": 1, "webhooks": 0}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	if left := b.Data.Budgets[0].Remaining; left == nil || *left != 47 || b.Data.Rates[0].Name != "key" || b.Data.Rates[0].Remaining != 95 || b.Data.RateScope != "node" {
		t.Errorf("%+v", b.Data)
	}
	if b.Data.Budgets[1].Remaining != nil {
		t.Error("a quota that nobody has set has a rest")
	}
	// Nothing of it is a secret of others, and a key without rights is told less.
	if _, used := s.budgets(t, s.key); len(used) != 4 {
		t.Errorf("a key without rights: %v", used)
	}
	// A test key spends no quota.
	if _, used := s.budgets(t, s.testKey(t)); len(used) != 0 {
		t.Errorf("a test key: %v", used)
	}
}

// While Redis is away the response says that this node counts by itself, and half of each rate.
func TestBudgetsAreHonestWithoutRedis(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.withQuotas(t)
	shared := must(limit.Open("redis://127.0.0.1:1", nil))(t)
	t.Cleanup(func() { _ = shared.Close() })
	s.Limits.By = shared
	s.Access.Limits.KeyRate = 50
	b, _ := s.budgets(t, s.key)
	if rate := b.Data.Rates[0]; b.Data.RateScope != "node-half" || rate.PerSecond != 25 || rate.Remaining != 49 {
		t.Errorf("%+v", b.Data)
	}
}
