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

// Limits say how fast callers may ask. The zero value limits nobody.
type Limits struct {
	By limiter.Limiter
	// Address is the rate of requests from one network that ask for no credential
	// or bring one that does not stand. A valid credential pays nothing of it.
	Address limiter.Rate
	// Slowed is by what the rates of an entity are multiplied, where somebody has
	// reason to doubt it: 1 for everybody else, and for nil.
	Slowed func(entity uuid.UUID) float64
	// Known reports whether a credential has stood on this node before. Such a one
	// is heard even from a network that has used up its rate: whoever shares the
	// network with somebody who guesses is not shut out. Nil knows nobody.
	Known func(bearer string) bool

	stated atomic.Pointer[stated]
}

// stated is the header that says what the rates are. Nearly all callers have the
// same ones, so it is written once for all of them.
type stated struct {
	key, entity limiter.Rate
	header      []string
}

var (
	errKeyRate    = fault.New(fault.TooManyRequests, "The requests come faster than this key allows. Try again after the time in the Retry-After header, and slow down.")
	errEntityRate = fault.New(fault.TooManyRequests, "The requests of all keys of this organisation together come faster than it is allowed. Try again after the time in the Retry-After header, and slow down.")
	errAddress    = fault.New(fault.TooManyRequests, "Too many requests came from this network without a valid credential. Try again after the time in the Retry-After header.")
)

// Who is refused, as the metrics have it.
const (
	byKey     = "key"
	byEntity  = "entity"
	byAddress = "address"
)

// checkAddress comes before anything is looked up. A network that has used up
// its rate is refused; a request to a route that asks for no credential pays.
func (a *API) checkAddress(rt route, r *http.Request) error {
	l, ctx := &a.Limits, r.Context()
	if l.By == nil || l.Address.Unlimited() {
		return nil
	}
	if len(rt.admits) == 0 {
		return a.chargeAddress(ctx, nil)
	}
	wait := l.By.Wait(limiter.From(callerAddr(ctx)), l.Address)
	if wait == 0 || l.knows(r) {
		return nil
	}
	return a.refuse(errAddress, byAddress, wait)
}

func (l *Limits) knows(r *http.Request) bool {
	if l.Known == nil {
		return false
	}
	bearer, ok := bearerOf(r)
	return ok && l.Known(bearer)
}

// chargeAddress lets the caller's network pay for a request that ended, or
// begins, without a valid credential. It returns err, or that there were too
// many.
func (a *API) chargeAddress(ctx context.Context, err error) error {
	l := &a.Limits
	if l.By == nil {
		return err
	}
	if v := l.By.Take(ctx, limiter.From(callerAddr(ctx)), l.Address, 1); !v.OK {
		return a.refuse(errAddress, byAddress, v.RetryAfter)
	}
	return err
}

// withinLimits is what the door asks after it knows who is calling, or that
// nobody is.
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
		a.Limits.tell(w.Header(), key, entity, one, limiter.Verdict{})
		return a.refuse(errKeyRate, byKey, one.RetryAfter)
	}
	all := by.Take(ctx, limiter.Of(limiter.Entity, who.Entity), entity, 1)
	a.Limits.tell(w.Header(), key, entity, one, all)
	if !all.OK {
		return a.refuse(errEntityRate, byEntity, all.RetryAfter)
	}
	return nil
}

// chargeMore takes what a request costs beyond the one token with which it came
// in. That may leave key and entity in debt, which delays what they ask next;
// whoever is in debt already is refused.
func (a *API) chargeMore(w http.ResponseWriter, r *http.Request, n int) error {
	by, ctx := a.Limits.By, r.Context()
	if by == nil || n <= 0 {
		return nil
	}
	who := notesOf(ctx).who
	key, entity := a.rates(who)
	one := by.Owe(ctx, limiter.Of(limiter.Credential, who.ID), key, n)
	if !one.OK {
		a.Limits.tell(w.Header(), key, entity, one, limiter.Verdict{})
		return a.refuse(errKeyRate, byKey, one.RetryAfter)
	}
	all := by.Owe(ctx, limiter.Of(limiter.Entity, who.Entity), entity, n)
	a.Limits.tell(w.Header(), key, entity, one, all)
	if !all.OK {
		by.Return(ctx, limiter.Of(limiter.Credential, who.ID), key, n)
		return a.refuse(errEntityRate, byEntity, all.RetryAfter)
	}
	return nil
}

// rates returns how fast a key and all keys of its entity may ask.
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

// refuse counts a refusal and says when to come back, in whole seconds.
func (a *API) refuse(f *fault.Error, by string, wait time.Duration) error {
	a.Metrics.LimitRefused(by)
	c := *f
	c.RetryAfter = max(roundUp(wait), time.Second)
	return &c
}

func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// tell sets the headers of draft-ietf-httpapi-ratelimit-headers. Every answer to
// a key has them, so they are written without formatting.
func (l *Limits) tell(h http.Header, key, entity limiter.Rate, one, all limiter.Verdict) {
	if one.Limit == 0 && all.Limit == 0 {
		return
	}
	p := l.stated.Load()
	if p == nil || p.key != key || p.entity != entity {
		p = &stated{key: key, entity: entity, header: []string{policyOf(key, entity)}}
		l.stated.Store(p)
	}
	var room [96]byte
	b := appendState(room[:0], byKey, one)
	b = appendState(b, byEntity, all)
	h["Ratelimit-Policy"], h["Ratelimit"] = p.header, []string{string(b)}
}

// policyOf says how many requests each of the rates allows in which time.
func policyOf(key, entity limiter.Rate) string {
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

// appendState says how many requests are left of one rate, and in how many
// seconds all of them are there again.
func appendState(b []byte, name string, v limiter.Verdict) []byte {
	if v.Limit == 0 {
		return b
	}
	b = appendItem(b, name, ";r=", int64(v.Remaining))
	return strconv.AppendInt(append(b, ";t="...), int64(roundUp(v.Reset)/time.Second), 10)
}

// appendItem adds an item to a list of structured fields (RFC 9651), with its
// first parameter.
func appendItem(b []byte, name, parameter string, n int64) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(append(b, '"'), name...), '"')
	return strconv.AppendInt(append(b, parameter...), n, 10)
}
