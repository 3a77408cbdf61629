package linestore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Resolver looks up lines. It caches versions of the policy and of the numbering
// plan, which never change. Which version is current is read each time, together
// with the rows. The zero Resolver is ready to use.
type Resolver struct {
	mu       sync.Mutex
	plans    map[int32]*numbering.Plan
	policies map[int32]*policy.Policy
}

// Lookup is what is known about a number, and the policy and plan that its status
// is computed by.
type Lookup struct {
	line.Facts

	Policy *policy.Policy
	Plan   *numbering.Plan
}

// View returns the status of the line at a time.
func (l *Lookup) View(at time.Time) line.View { return line.At(&l.Facts, l.Policy, at) }

// NetworkName returns the name of a network for answers.
func (l *Lookup) NetworkName(n numbering.Network) string {
	if name := l.Plan.Name(n); name != "" {
		return name
	}
	return line.UnknownNetwork
}

// currentVersions selects the versions of policy and plan that are in effect at
// the time $1.
const currentVersions = `coalesce((SELECT version FROM policy WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS policy,
	coalesce((SELECT version FROM numbering_plan WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS plan`

// Lookup looks up one number at a time.
func (r *Resolver) Lookup(ctx context.Context, from pg.DB, n phone.Number, at time.Time) (*Lookup, error) {
	s, err := r.LookupAll(ctx, from, []phone.Number{n}, at)
	if err != nil {
		return nil, err
	}
	l := s.Get(n)
	return &l, nil
}

// ApplyPlan sets the facts that come from the plan: whether the number's range is
// allocated, and to which network.
func (l *Lookup) ApplyPlan(n phone.Number, at time.Time) {
	l.Planned = !l.Plan.Empty()
	var held numbering.Range
	held, l.Allocated = l.Plan.RangeOf(n, at)
	l.Holder = held.Network
}

// Current returns the policy and the plan that are in effect at a time.
func (r *Resolver) Current(ctx context.Context, from pg.DB, at time.Time) (*policy.Policy, *numbering.Plan, error) {
	var policyVersion, planVersion int32
	if err := from.QueryRow(ctx, `SELECT `+currentVersions, at).Scan(&policyVersion, &planVersion); err != nil {
		return nil, nil, fmt.Errorf("linestore: find the current policy and plan: %w", err)
	}
	return r.Rules(ctx, from, policyVersion, planVersion)
}

// Rules returns a version of the policy and a version of the plan, from the cache
// if they are there.
func (r *Resolver) Rules(ctx context.Context, from pg.DB, policyVersion, planVersion int32) (*policy.Policy, *numbering.Plan, error) {
	r.mu.Lock()
	p, plan := r.policies[policyVersion], r.plans[planVersion]
	r.mu.Unlock()
	if p == nil {
		loaded, err := policy.Load(ctx, from, policyVersion)
		if err != nil {
			return nil, nil, err
		}
		p = &loaded
	}
	if plan == nil {
		var err error
		if plan, err = numbering.Load(ctx, from, planVersion); err != nil {
			return nil, nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plans == nil {
		r.plans, r.policies = make(map[int32]*numbering.Plan), make(map[int32]*policy.Policy)
	}
	r.policies[policyVersion] = p
	if planVersion > 0 { // version 0 is not final: networks can be added before the first plan
		r.plans[planVersion] = plan
	}
	return p, plan, nil
}

func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Empty reports whether there is no line at all.
func Empty(ctx context.Context, from pg.DB) (bool, error) {
	var found bool
	if err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM line_now)`).Scan(&found); err != nil {
		return false, fmt.Errorf("linestore: look for any row: %w", err)
	}
	return !found, nil
}
