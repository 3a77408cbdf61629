package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	limiter "github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Limits are the rate limits of callers. The zero value limits nobody.
type Limits struct {
	By limiter.Limiter
	// Address is the rate of requests from one network to routes without a
	// credential, or with a credential that is not valid. Requests with a valid
	// credential do not count.
	Address limiter.Rate
	// Files is the rate of requests from one network for pages and files that need no
	// credential and no look-up.
	Files limiter.Rate
	// Client and Session are the rates of one client, with all of its tokens, and of
	// one session. Those of a key and its entity belong to the key.
	Client, Session limiter.Rate
	// Concurrent is how many requests of one credential this node works on at once. They
	// are counted in InProgress.
	Concurrent Concurrent
	InProgress *limiter.InProgress
	// Slowed returns the factor for the rates of an entity, which is below 1 while
	// the entity is under suspicion. Nil slows nobody.
	Slowed func(entity uuid.UUID) float64
	// Known reports whether a credential was valid on this node before. It is
	// checked even if it comes from a network that has used up its rate, so that
	// somebody who guesses credentials does not lock out the others in the same
	// network. Nil knows no credential.
	Known func(bearer string) bool

	policyHeader atomic.Pointer[policyHeader]
}

// Concurrent is how many requests of one credential of each kind may be in progress; 0
// means any number.
type Concurrent struct{ Key, Client, Session int }

func (c *Concurrent) of(kind access.Kind) int {
	switch kind {
	case access.APIKey:
		return c.Key
	case access.Client:
		return c.Client
	case access.Session:
		return c.Session
	case access.Nobody, access.Portal:
	}
	return 0
}

// policyHeader is the RateLimit-Policy header for the buckets of a caller. Nearly all
// callers have the same rates, so the last header is kept.
type policyHeader struct {
	rates  [2]limiter.Rate
	names  [2]string
	header []string
}

var (
	errKeyRate     = fault.New(fault.TooManyRequests, "This key exceeds its rate limit. Retry after the time in the Retry-After header, and send requests more slowly.")
	errEntityRate  = fault.New(fault.TooManyRequests, "The keys of this organisation together exceed its rate limit. Retry after the time in the Retry-After header, and send requests more slowly.")
	errClientRate  = fault.New(fault.TooManyRequests, "This client exceeds its rate limit. Retry after the time in the Retry-After header, and send more in each request instead of more requests.")
	errSessionRate = fault.New(fault.TooManyRequests, "This session exceeds its rate limit. Retry after the time in the Retry-After header.")
	errAddress     = fault.New(fault.TooManyRequests, "Too many requests without a valid credential from this network. Retry after the time in the Retry-After header.")
	errSlowed      = fault.New(fault.ScanSuspected, "The requests of this organisation look like number scanning, so it is slowed to a tenth of its rate limits, and this request exceeds them. Stop whatever sends consecutive or unallocated numbers, and ask the regulator for a release. Until then retry after the time in the Retry-After header.")
	errConcurrent  = fault.New(fault.TooManyRequests, "As many requests with this credential are in progress as it may have. Wait for one of them to finish, then send this one again.")
)

// The limit that refused a request, as a label of the metrics.
const (
	byKey        = "key"
	byEntity     = "entity"
	byClient     = "client"
	bySession    = "session"
	byAddress    = "address"
	byConcurrent = "concurrent"
)

// bucket is a rate that a request is charged to.
type bucket struct {
	name string
	key  limiter.Key
	rate limiter.Rate
	err  *fault.Error // when it is used up
}

// buckets returns what the requests of a caller are charged to. The second may be empty.
func (a *API) buckets(who *access.Principal) [2]bucket {
	switch who.Kind {
	case access.APIKey:
		key, entity := limiter.Rate{PerSecond: who.Limits.KeyRate, Burst: who.Limits.KeyBurst}, limiter.Rate{PerSecond: who.Limits.EntityRate, Burst: who.Limits.EntityBurst}
		keyError, entityError := errKeyRate, errEntityRate
		slowed := 1.0
		if a.Limits.Slowed != nil {
			slowed = a.Limits.Slowed(who.Entity)
		}
		if slowed < 1 {
			key, entity, keyError, entityError = key.Times(slowed), entity.Times(slowed), errSlowed, errSlowed
		}
		return [2]bucket{
			{byKey, callerKey(who), key, keyError},
			{byEntity, limiter.Of(limiter.Entity, who.Entity), entity, entityError},
		}
	case access.Client:
		return [2]bucket{{byClient, callerKey(who), a.Limits.Client, errClientRate}}
	case access.Session:
		return [2]bucket{{bySession, callerKey(who), a.Limits.Session, errSessionRate}}
	case access.Nobody, access.Portal:
	}
	return [2]bucket{}
}

// callerKey returns the key of a caller. The tokens of a client count together: it can
// have as many as it likes.
func callerKey(who *access.Principal) limiter.Key {
	switch who.Kind {
	case access.Client:
		return limiter.Of(limiter.Client, who.Client)
	case access.Session:
		return limiter.Of(limiter.Session, who.ID)
	case access.Nobody, access.APIKey, access.Portal:
	}
	return limiter.Of(limiter.Credential, who.ID)
}

// enter counts a request of a caller among those in progress. After nil the caller of
// enter must call leave.
func (a *API) enter(who *access.Principal) error {
	l := &a.Limits
	if most := l.Concurrent.of(who.Kind); most > 0 && !l.InProgress.Enter(callerKey(who), most) {
		return a.limitError(errConcurrent, byConcurrent, time.Second)
	}
	return nil
}

func (a *API) leave(who *access.Principal) {
	if a.Limits.Concurrent.of(who.Kind) > 0 {
		a.Limits.InProgress.Leave(callerKey(who))
	}
}

// checkAddress runs before anything is looked up. It refuses a network that has
// used up its rate, and charges the network for a request to a route that needs
// no credential.
func (a *API) checkAddress(rt route, r *http.Request) error {
	l, ctx := &a.Limits, r.Context()
	if l.By == nil || l.Address.Unlimited() {
		return nil
	}
	if len(rt.admits) == 0 {
		return a.chargeAddress(ctx, nil)
	}
	wait := l.By.Wait(limiter.From(callerAddr(ctx)), l.Address)
	if wait == 0 || l.knowsCredential(r) {
		return nil
	}
	return a.limitError(errAddress, byAddress, wait)
}

func (l *Limits) knowsCredential(r *http.Request) bool {
	if l.Known == nil {
		return false
	}
	bearer, ok := bearerOf(r)
	return ok && l.Known(bearer)
}

// chargeAddress charges the caller's network for a request without a valid
// credential. It returns err, or a rate limit error if the rate is used up.
func (a *API) chargeAddress(ctx context.Context, err error) error {
	l := &a.Limits
	if l.By == nil {
		return err
	}
	if v := l.By.Take(ctx, limiter.From(callerAddr(ctx)), l.Address, 1); !v.OK {
		return a.limitError(errAddress, byAddress, v.RetryAfter)
	}
	return err
}

// limitFiles serves files to a network until it has used up its rate.
func (a *API) limitFiles(files http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if by := a.Limits.By; by != nil {
			if v := by.Take(r.Context(), limiter.FilesFrom(callerAddr(r.Context())), a.Limits.Files, 1); !v.OK {
				a.fail(w, r, a.limitError(errAddress, byAddress, v.RetryAfter))
				return
			}
		}
		files.ServeHTTP(w, r)
	})
}

// withinLimits charges the caller's rates after authentication. Err is the error
// of the authentication.
func (a *API) withinLimits(w http.ResponseWriter, r *http.Request, who *access.Principal, err error) error {
	switch {
	case err != nil && fault.CodeOf(err) == fault.Unauthenticated:
		return a.chargeAddress(r.Context(), err)
	case err != nil || a.Limits.By == nil:
		return err
	}
	from := a.buckets(who)
	_, err = a.charge(w, r, &from, false, 1)
	return err
}

// charge takes n tokens from each bucket, or lets it owe them, and sets the headers. It
// returns how many buckets were charged.
func (a *API) charge(w http.ResponseWriter, r *http.Request, from *[2]bucket, owe bool, n int) (charged int, err error) {
	verdicts := &logOf(r.Context()).verdicts
	*verdicts = [2]limiter.Verdict{}
	for i := range from {
		if from[i].name == "" {
			break
		}
		if owe {
			verdicts[i] = a.Limits.By.Owe(r.Context(), from[i].key, from[i].rate, n)
		} else {
			verdicts[i] = a.Limits.By.Take(r.Context(), from[i].key, from[i].rate, n)
		}
		if !verdicts[i].OK {
			a.Limits.setHeaders(w.Header(), from, verdicts)
			return i, a.limitError(from[i].err, from[i].name, verdicts[i].RetryAfter)
		}
	}
	a.Limits.setHeaders(w.Header(), from, verdicts)
	return len(from), nil
}

// chargeMore takes what a request costs beyond the one token that withinLimits
// has taken. That may leave key and entity in debt, which delays their next
// requests; a caller that is in debt already is refused.
func (a *API) chargeMore(w http.ResponseWriter, r *http.Request, n int) error {
	by, ctx := a.Limits.By, r.Context()
	if by == nil || n <= 0 {
		return nil
	}
	from := a.buckets(logOf(ctx).who)
	charged, err := a.charge(w, r, &from, true, n)
	if err != nil && charged == 1 {
		by.Return(ctx, from[0].key, from[0].rate, n)
	}
	return err
}

// limitError counts a refusal and returns f with the time to retry after, in
// whole seconds.
func (a *API) limitError(f *fault.Error, by string, wait time.Duration) error {
	a.Metrics.LimitRefused(by)
	c := *f
	c.RetryAfter = max(limiter.WholeSeconds(wait), time.Second)
	return &c
}

// setHeaders sets the headers of draft-ietf-httpapi-ratelimit-headers. Every
// response to a key has them, so they are written without package fmt.
func (l *Limits) setHeaders(h http.Header, from *[2]bucket, verdicts *[2]limiter.Verdict) {
	if verdicts[0].Limit == 0 && verdicts[1].Limit == 0 {
		return
	}
	names, rates := [2]string{from[0].name, from[1].name}, [2]limiter.Rate{from[0].rate, from[1].rate}
	p := l.policyHeader.Load()
	if p == nil || p.rates != rates || p.names != names {
		p = &policyHeader{rates: rates, names: names, header: []string{string(rates[1].AppendPolicy(rates[0].AppendPolicy(nil, names[0]), names[1]))}}
		l.policyHeader.Store(p)
	}
	var buf [96]byte
	b := verdicts[1].AppendState(verdicts[0].AppendState(buf[:0], names[0]), names[1])
	h["Ratelimit-Policy"], h["Ratelimit"] = p.header, []string{string(b)}
}
