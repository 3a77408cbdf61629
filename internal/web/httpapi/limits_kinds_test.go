package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// A client has one rate with all of its tokens; another client has its own. The headers
// are those that keys get.
func TestClientIsLimitedWithAllItsTokens(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Limits = httpapi.Limits{By: limit.NewMemory(), Client: limit.Rate{PerSecond: never, Burst: 3}}
	ask := func(token string) *http.Request { return post(onboardPath, token, `{}`) }
	one := s.token(t)
	for i, want := range []int{400, 400, 400, 429} {
		if i == 2 {
			one = s.token(t)
		}
		got := s.do(t, ask(one))
		if got.Code != want {
			t.Fatalf("request %d: %d, want %d", i+1, got.Code, want)
		}
		if h := got.Header(); !strings.HasPrefix(h.Get("Ratelimit-Policy"), `"client";q=3;w=`) || !strings.HasPrefix(h.Get("Ratelimit"), `"client";r=`) {
			t.Errorf("request %d: headers %q and %q", i+1, h.Get("Ratelimit-Policy"), h.Get("Ratelimit"))
		}
		if (got.Header().Get("Retry-After") != "") != (want == 429) {
			t.Errorf("request %d: Retry-After %q", i+1, got.Header().Get("Retry-After"))
		}
	}
	s.client = s.newClient(t, "entity:onboard")
	if got := s.do(t, ask(s.token(t))); got.Code != http.StatusBadRequest {
		t.Errorf("another client got %d", got.Code)
	}
}

// As many requests of a credential are in progress as may be, and no more.
func TestRequestsInProgressAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.Limits = httpapi.Limits{InProgress: &limit.InProgress{}, Concurrent: httpapi.Concurrent{Client: 2}}
	mine := limit.Of(limit.Client, s.client.ID)
	ask := func() int { return s.do(t, post(onboardPath, s.token(t), `{}`)).Code }
	for range 2 {
		if got := ask(); got != http.StatusBadRequest {
			t.Fatalf("%d with room", got)
		}
		if !s.Limits.InProgress.Enter(mine, 2) {
			t.Fatal("a request that has ended still counts")
		}
	}
	if got := ask(); got != http.StatusTooManyRequests {
		t.Errorf("%d beside two others, want 429", got)
	}
	if got := s.do(t, post(verifyPath, s.key, question)).Code; got != http.StatusOK {
		t.Errorf("a key got %d beside the requests of a client", got)
	}
	s.Limits.InProgress.Leave(mine)
	if got := ask(); got != http.StatusBadRequest {
		t.Errorf("%d after one has ended", got)
	}
}

func TestSessionIsLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	_, email := s.onboarded(t, s.token(t))
	session := s.session(t, email)
	s.Limits = httpapi.Limits{By: limit.NewMemory(), Session: limit.Rate{PerSecond: never, Burst: 2}}
	for i, want := range []int{200, 200, 429} {
		got := s.do(t, get(sessionsPath, session))
		if got.Code != want || !strings.HasPrefix(got.Header().Get("Ratelimit"), `"session";r=`) {
			t.Errorf("request %d: %d with %q, want %d", i+1, got.Code, got.Header().Get("Ratelimit"), want)
		}
	}
}
