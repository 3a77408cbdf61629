package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// never is a rate so low that no token returns while a test runs.
const never = 0.01

const question = `{"phoneNumber":"` + knownNumber + `"}`

// allow sets the bursts of a key, an entity and a network, with almost no rate
// after that. Zero means no limit.
func (s *stack) allow(key, entity, address int) {
	rate := func(burst int) (perSecond float64) {
		if burst > 0 {
			perSecond = never
		}
		return perSecond
	}
	s.Access.Limits = access.Limits{KeyRate: rate(key), KeyBurst: key, EntityRate: rate(entity), EntityBurst: entity}
	s.Limits = httpapi.Limits{By: limit.NewMemory(), Address: limit.Rate{PerSecond: rate(address), Burst: address}}
}

// limitAnswers are the responses to callers over a rate limit: on every
// operation from a network that has used up its rate, and with a key on those
// that take one.
func limitAnswers(c contract) map[string]answer {
	all := map[string]answer{
		"limited_key": {429, func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			s.allow(1, 0, 0)
			s.do(t, post(verifyPath, s.key, question))
			return post(verifyPath, s.key, question)
		}},
		"limited_entity": {429, func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			s.allow(10, 1, 0)
			s.do(t, post(verifyPath, s.newKey(t), question))
			return post(verifyPath, s.key, question)
		}},
		"limited_batch": {429, func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			s.allow(2, 0, 0)
			s.do(t, post(batchPath, s.key, `{"phoneNumbers":["1","2","3"]}`))
			return post(batchPath, s.key, `{"phoneNumbers":["1"]}`)
		}},
		"within_limits": {200, func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			s.allow(100, 1000, 0)
			return post(verifyPath, s.key, question)
		}},
		"within_limits_wrong": {400, func(t *testing.T, s *stack) *http.Request {
			t.Helper()
			s.allow(100, 0, 0)
			return post(verifyPath, s.key, `{}`)
		}},
	}
	for path, item := range c.doc.Paths.Map() {
		for method, o := range item.Operations() {
			if o.Responses.Value("429") == nil {
				continue
			}
			all["limited_network_"+o.OperationID] = answer{429, func(t *testing.T, s *stack) *http.Request {
				t.Helper()
				s.allow(0, 0, 1)
				r := httptest.NewRequestWithContext(t.Context(), method, places.ReplaceAllString(path, uuid.NewString()), strings.NewReader("{}"))
				from := netip.MustParseAddrPort(r.RemoteAddr).Addr()
				s.Limits.By.Take(t.Context(), limit.From(from), s.Limits.Address, 1)
				return r
			}}
		}
	}
	return all
}

// Every operation documents that a network can be refused.
func TestEveryOperationDocumentsItsRateLimit(t *testing.T) {
	t.Parallel()
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method, o := range item.Operations() {
			if o.Responses.Value("429") == nil {
				t.Errorf("%s %s does not document 429", method, path)
			}
		}
	}
}

// asked sends a request from an address and returns its status.
func (s *stack) asked(t *testing.T, from string, r *http.Request) int {
	t.Helper()
	r.RemoteAddr = from + ":1234"
	return s.do(t, r).Code
}

// A network is charged for failed authentication and for requests without a
// credential; over its rate it is refused before anything is looked up. Other
// networks are not affected.
func TestFailedAuthenticationChargesTheNetwork(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.allow(0, 0, 4)
	unknown := func() *http.Request { return post(verifyPath, secret.New(secret.LiveKey).Reveal(), question) }
	for i, want := range []int{401, 401, 401, 400, 429, 429} {
		r := unknown()
		if i == 3 {
			r = post(loginPath, "", `{}`)
		}
		if got := s.asked(t, "203.0.113."+strconv.Itoa(i+1), r); got != want {
			t.Errorf("request %d: %d, want %d", i+1, got, want)
		}
	}
	s.pool.Close() // whoever is looked up now is answered with 503
	for _, r := range []*http.Request{unknown(), post(verifyPath, "", question), post(loginPath, "", `{}`), post(tokenPath, "", `{}`)} {
		if got := s.asked(t, "203.0.113.99", r); got != http.StatusTooManyRequests {
			t.Errorf("%s: %d from a network that has used up its rate, want 429", r.URL.Path, got)
		}
	}
	if got := s.asked(t, "203.0.112.1", unknown()); got != http.StatusServiceUnavailable {
		t.Errorf("%d from another network, want it looked up", got)
	}
}

// A valid credential costs the network nothing, and is accepted even if another
// caller in the same network has used up its rate.
func TestValidCredentialsDoNotChargeTheNetwork(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.allow(0, 0, 3)
	s.Limits.Known = s.Access.HasCached
	const from = "203.0.113.5"
	for range 20 {
		if got := s.asked(t, from, post(verifyPath, s.key, question)); got != http.StatusOK {
			t.Fatalf("a valid key is answered with %d", got)
		}
		if got := s.asked(t, from, post(onboardPath, s.token(t, "document:upload"), `{}`)); got != http.StatusForbidden {
			t.Fatalf("a valid token without the scope is answered with %d", got)
		}
	}
	for range 5 {
		s.asked(t, from, post(verifyPath, "nonsense", question))
	}
	if got := s.asked(t, from, post(verifyPath, s.newKey(t), question)); got != http.StatusTooManyRequests {
		t.Errorf("a key that was never seen here is answered with %d, want 429", got)
	}
	if got := s.asked(t, from, post(verifyPath, s.key, question)); got != http.StatusOK {
		t.Errorf("a known key is answered with %d beside somebody who guesses", got)
	}
}

// X-Forwarded-For is ignored, unless it comes from a listed proxy.
func TestForgedForwardedForIsIgnored(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{false, true} {
		s := newStack(t)
		s.allow(0, 0, 5)
		if listed {
			s.Proxies = []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
		}
		passed := 0
		for i := range 20 {
			r := post(verifyPath, "nonsense", question)
			r.Header.Set("X-Forwarded-For", "198.51."+strconv.Itoa(i)+".1")
			if s.asked(t, "203.0.113.7", r) == http.StatusUnauthorized {
				passed++
			}
		}
		if want := map[bool]int{false: 5, true: 20}[listed]; passed != want {
			t.Errorf("proxy listed %v: %d of 20 were heard, want %d", listed, passed, want)
		}
	}
}

// The guard slows an entity by lowering its rates, and what is refused then has a code
// and a message that say so.
func TestSuspectedEntityHasLowerRates(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.allow(10, 0, 0)
	s.Limits.Slowed = func(entity uuid.UUID) float64 {
		if entity != s.bank.ID {
			t.Errorf("asked about %s", entity)
		}
		return 0.5
	}
	passed := 0
	for range 20 {
		res := s.checked(t, post(verifyPath, s.key, question))
		if res.Code == http.StatusOK {
			passed++
		} else {
			refusal(t, res, "SCAN_SUSPECTED", "slowed to a tenth of its rate limits")
		}
		if got := res.Header().Get("RateLimit-Policy"); got != `"key";q=5;w=1000` {
			t.Errorf("the policy is %s", got)
		}
	}
	if passed != 5 {
		t.Errorf("%d passed, want half of 10", passed)
	}
}

// A batch is admitted with one token and charged for each of its numbers. The
// debt delays the next requests, also of other keys of the entity; a batch that
// is refused for the entity costs its key nothing.
func TestBatchIsChargedForEachNumber(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.allow(20, 30, 0)
	numbers := func(n int) string {
		return `{"phoneNumbers":["` + strings.Join(slices.Repeat([]string{knownNumber}, n), `","`) + `"]}`
	}
	first, second := s.newKey(t), s.newKey(t)
	res := s.do(t, post(batchPath, first, numbers(50)))
	if got := res.Header().Get("RateLimit"); res.Code != http.StatusOK || got != `"key";r=0;t=5000, "entity";r=0;t=5000` {
		t.Fatalf("a batch of 50 is answered with %d, and %s is left", res.Code, got)
	}
	if got := s.asked(t, "192.0.2.1", post(verifyPath, first, question)); got != http.StatusTooManyRequests {
		t.Errorf("a key in debt is answered with %d", got)
	}
	res = s.do(t, post(batchPath, second, numbers(10)))
	if res.Code != http.StatusTooManyRequests || !strings.Contains(res.Body.String(), "organisation") {
		t.Errorf("another key of an entity in debt is answered with %d: %s", res.Code, res.Body)
	}
	after, err := strconv.Atoi(res.Header().Get("Retry-After"))
	if err != nil || after < 2000 || after > 2110 {
		t.Errorf("Retry-After is %q, want about 2100: 20 of debt and 1 at 100 s each", res.Header().Get("Retry-After"))
	}

	s.allow(20, 15, 0)
	third := s.newKey(t)
	for range 15 { // the entity has nothing left, and is not in debt
		s.do(t, post(verifyPath, first, question))
	}
	s.do(t, post(batchPath, third, numbers(10)))
	if got := s.do(t, post(verifyPath, third, question)).Header().Get("RateLimit"); !strings.HasPrefix(got, `"key";r=18;`) {
		t.Errorf("%s is left of a key whose batch was refused for its entity, want 18", got)
	}
}

// The headers have the format of the draft, on every response to a key and on
// no other.
func TestRateLimitHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.allow(0, 0, 0)
	s.Access.Limits = access.Limits{KeyRate: 50, KeyBurst: 100, EntityRate: 500, EntityBurst: 1000}
	for _, r := range []*http.Request{
		post(verifyPath, s.key, question), post(verifyPath, s.key, `{`), get(verifiedPath+uuid.NewString(), s.key), post(verifyPath, s.key, `{"phoneNumber":"+447400123456"}`),
	} {
		res := s.do(t, r)
		if got := res.Header().Get("RateLimit-Policy"); got != `"key";q=100;w=2, "entity";q=1000;w=2` {
			t.Errorf("%d: the policy is %q", res.Code, got)
		}
		if got := res.Header().Get("RateLimit"); !strings.HasPrefix(got, `"key";r=9`) || !strings.Contains(got, `;t=1, "entity";r=99`) {
			t.Errorf("%d: the state is %q", res.Code, got)
		}
	}
	for _, r := range []*http.Request{post(onboardPath, s.token(t), `{}`), post(verifyPath, "", question), post(loginPath, "", `{}`)} {
		if res := s.do(t, r); res.Header().Get("RateLimit") != "" || res.Header().Get("RateLimit-Policy") != "" {
			t.Errorf("%s: %d with the headers of a key", r.URL.Path, res.Code)
		}
	}
}

// BenchmarkGate measures the cost of authentication and limits before a
// handler: with rates that are counted in memory, and without.
func BenchmarkGate(b *testing.B) {
	s := newStack(b)
	stop := s.hearing(b)
	defer stop()
	for _, bench := range []struct {
		name string
		set  func()
	}{
		{"authentication and limits", func() {
			s.allow(0, 0, 100)
			s.Access.Limits = access.Limits{KeyRate: 1_000_000, KeyBurst: 1_000_000, EntityRate: 1_000_000, EntityBurst: 1_000_000}
		}},
		{"authentication", func() { s.allow(0, 0, 0); s.Limits.By = nil }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			bench.set()
			key := s.newKey(b) // its limits are remembered with it
			gate, w := s.Gate(verifyPath, post(verifyPath, key, question)), httptest.NewRecorder()
			b.ReportAllocs()
			before := ownCPU(b)
			for b.Loop() {
				if err := gate(w); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(ownCPU(b)-before)/float64(b.N), "cpu-ns/op") // holds where the machine is shared
		})
	}
}

// ownCPU returns the CPU time of this process, including the garbage collector.
func ownCPU(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hearing lets the access service trust its cache, as in a server.
func (s *stack) hearing(tb testing.TB) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan struct{})
	go func() {
		(&pg.Listener{Pool: s.Access.Pool, Channels: []pg.Channel{s.Access.Channel()}}).Run(ctx)
		close(done)
	}()
	for begin := time.Now(); !s.Access.Listening(); {
		if time.Since(begin) > 20*time.Second {
			tb.Fatal("the keeper hears nothing")
		}
		<-time.After(5 * time.Millisecond)
	}
	return func() {
		cancel()
		<-done
	}
}
