package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	limiter "github.com/lineproof/lineproof/internal/limit"
)

// Limits are the rate limits of callers. The zero value limits nobody.
type Limits struct {
	By limiter.Limiter
	// Address is the rate of requests from one network to routes without a
	// credential, or with a credential that is not valid. Requests with a valid
	// credential do not count.
	Address limiter.Rate
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

// policyHeader is the RateLimit-Policy header for a pair of rates. Nearly all
// callers have the same rates, so the last header is kept.
type policyHeader struct {
	key, entity limiter.Rate
	header      []string
}

var (
	errKeyRate    = fault.New(fault.TooManyRequests, "This key exceeds its rate limit. Retry after the time in the Retry-After header, and send requests more slowly.")
	errEntityRate = fault.New(fault.TooManyRequests, "The keys of this organisation together exceed its rate limit. Retry after the time in the Retry-After header, and send requests more slowly.")
	errAddress    = fault.New(fault.TooManyRequests, "Too many requests without a valid credential from this network. Retry after the time in the Retry-After header.")
)

// The limit that refused a request, as a label of the metrics.
const (
	byKey     = "key"
	byEntity  = "entity"
	byAddress = "address"
)

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

// withinLimits charges the caller's rates after authentication. Err is the error
// of the authentication.
func (a *API) withinLimits(w http.ResponseWriter, r *http.Request, who *access.Principal, err error) error {
	switch {
	case err != nil && fault.CodeOf(err) == fault.Unauthenticated:
		return a.chargeAddress(r.Context(), err)
	case err != nil || who.Kind != access.APIKey || a.Limits.By == nil:
		return err
	}
	by, ctx := a.Limits.By, r.Context()
	key, entity := a.rates(who)
	one := by.Take(ctx, limiter.Of(limiter.Credential, who.ID), key, 1)
	if !one.OK {
		a.Limits.setHeaders(w.Header(), key, entity, one, limiter.Verdict{})
		return a.limitError(errKeyRate, byKey, one.RetryAfter)
	}
	all := by.Take(ctx, limiter.Of(limiter.Entity, who.Entity), entity, 1)
	a.Limits.setHeaders(w.Header(), key, entity, one, all)
	if !all.OK {
		return a.limitError(errEntityRate, byEntity, all.RetryAfter)
	}
	return nil
}

// chargeMore takes what a request costs beyond the one token that withinLimits
// has taken. That may leave key and entity in debt, which delays their next
// requests; a caller that is in debt already is refused.
func (a *API) chargeMore(w http.ResponseWriter, r *http.Request, n int) error {
	by, ctx := a.Limits.By, r.Context()
	if by == nil || n <= 0 {
		return nil
	}
	who := logOf(ctx).who
	key, entity := a.rates(who)
	one := by.Owe(ctx, limiter.Of(limiter.Credential, who.ID), key, n)
	if !one.OK {
		a.Limits.setHeaders(w.Header(), key, entity, one, limiter.Verdict{})
		return a.limitError(errKeyRate, byKey, one.RetryAfter)
	}
	all := by.Owe(ctx, limiter.Of(limiter.Entity, who.Entity), entity, n)
	a.Limits.setHeaders(w.Header(), key, entity, one, all)
	if !all.OK {
		by.Return(ctx, limiter.Of(limiter.Credential, who.ID), key, n)
		return a.limitError(errEntityRate, byEntity, all.RetryAfter)
	}
	return nil
}

// rates returns the rates of a key and of all keys of its entity together.
func (a *API) rates(who *access.Principal) (key, entity limiter.Rate) {
	key = limiter.Rate{PerSecond: who.Limits.KeyRate, Burst: who.Limits.KeyBurst}
	entity = limiter.Rate{PerSecond: who.Limits.EntityRate, Burst: who.Limits.EntityBurst}
	if a.Limits.Slowed != nil {
		if f := a.Limits.Slowed(who.Entity); f < 1 {
			return key.Times(f), entity.Times(f)
		}
	}
	return key, entity
}

// limitError counts a refusal and returns f with the time to retry after, in
// whole seconds.
func (a *API) limitError(f *fault.Error, by string, wait time.Duration) error {
	a.Metrics.LimitRefused(by)
	c := *f
	c.RetryAfter = max(roundUp(wait), time.Second)
	return &c
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// setHeaders sets the headers of draft-ietf-httpapi-ratelimit-headers. Every
// response to a key has them, so they are written without package fmt.
func (l *Limits) setHeaders(h http.Header, key, entity limiter.Rate, one, all limiter.Verdict) {
	if one.Limit == 0 && all.Limit == 0 {
		return
	}
	p := l.policyHeader.Load()
	if p == nil || p.key != key || p.entity != entity {
		p = &policyHeader{key: key, entity: entity, header: []string{policyText(key, entity)}}
		l.policyHeader.Store(p)
	}
	var buf [96]byte
	b := appendState(buf[:0], byKey, one)
	b = appendState(b, byEntity, all)
	h["Ratelimit-Policy"], h["Ratelimit"] = p.header, []string{string(b)}
}

// policyText returns how many requests each rate allows (q) in how many seconds
// (w).
func policyText(key, entity limiter.Rate) string {
	var b []byte
	for _, p := range []struct {
		name string
		rate limiter.Rate
	}{{byKey, key}, {byEntity, entity}} {
		if p.rate.Unlimited() {
			continue
		}
		seconds := max(float64(p.rate.Burst)/p.rate.PerSecond, 1)
		b = appendItem(b, p.name, ";q=", int64(p.rate.Burst))
		b = strconv.AppendInt(append(b, ";w="...), int64(roundUp(time.Duration(seconds*float64(time.Second)))/time.Second), 10)
	}
	return string(b)
}

// appendState appends how many requests of a rate are left (r), and in how many
// seconds all are available again (t).
func appendState(b []byte, name string, v limiter.Verdict) []byte {
	if v.Limit == 0 {
		return b
	}
	b = appendItem(b, name, ";r=", int64(v.Remaining))
	return strconv.AppendInt(append(b, ";t="...), int64(roundUp(v.Reset)/time.Second), 10)
}

// appendItem appends an item to a list of structured fields (RFC 9651), with its
// first parameter.
func appendItem(b []byte, name, parameter string, n int64) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(append(b, '"'), name...), '"')
	return strconv.AppendInt(append(b, parameter...), n, 10)
}
