package line

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// Almanac looks lines up. It remembers versions of the policy and of the
// numbering plan, which never change; which of them is in force it asks each
// time, in the statement that reads the row. The zero Almanac is ready.
type Almanac struct {
	mu       sync.Mutex
	plans    map[int32]*numbering.Plan
	policies map[int32]*policy.Policy
}

// Look is what is known about a number, and by which rules it is to be read.
type Look struct {
	Facts

	Policy *policy.Policy
	Plan   *numbering.Plan
}

// View returns how the line stands at a moment.
func (l *Look) View(at time.Time) View { return At(&l.Facts, l.Policy, at) }

// NetworkName returns the name under which answers show a network.
func (l *Look) NetworkName(n numbering.Network) string {
	if name := l.Plan.Name(n); name != "" {
		return name
	}
	return UnknownNetwork
}

// inForce finds the versions that are in force at the time $1.
const inForce = `coalesce((SELECT version FROM policy WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS policy,
	coalesce((SELECT version FROM numbering_plan WHERE effective_at <= $1 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS plan`

// Look returns what is known of one number at a moment.
func (a *Almanac) Look(ctx context.Context, from pg.DB, n phone.Number, at time.Time) (*Look, error) {
	s, err := a.Survey(ctx, from, []phone.Number{n}, at)
	if err != nil {
		return nil, err
	}
	l := s.Look(n)
	return &l, nil
}

// Place fills in what the plan says about the number's range.
func (l *Look) Place(n phone.Number, at time.Time) {
	l.Planned = !l.Plan.Empty()
	var held numbering.Range
	held, l.Allocated = l.Plan.Holder(n, at)
	l.Holder = held.Network
}

// InForce returns the policy and the plan that are in force at a moment.
func (a *Almanac) InForce(ctx context.Context, from pg.DB, at time.Time) (*policy.Policy, *numbering.Plan, error) {
	var policyVersion, planVersion int32
	if err := from.QueryRow(ctx, `SELECT `+inForce, at).Scan(&policyVersion, &planVersion); err != nil {
		return nil, nil, fmt.Errorf("line: find the rules in force: %w", err)
	}
	return a.Rules(ctx, from, policyVersion, planVersion)
}

// Rules returns versions of the policy and of the plan.
func (a *Almanac) Rules(ctx context.Context, from pg.DB, policyVersion, planVersion int32) (*policy.Policy, *numbering.Plan, error) {
	a.mu.Lock()
	p, plan := a.policies[policyVersion], a.plans[planVersion]
	a.mu.Unlock()
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
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.plans == nil {
		a.plans, a.policies = make(map[int32]*numbering.Plan), make(map[int32]*policy.Policy)
	}
	a.policies[policyVersion] = p
	if planVersion > 0 { // before the first plan, networks may still come
		a.plans[planVersion] = plan
	}
	return p, plan, nil
}

func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Empty reports whether nothing was ever told about any line.
func Empty(ctx context.Context, from pg.DB) (bool, error) {
	var found bool
	if err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM line_now)`).Scan(&found); err != nil {
		return false, fmt.Errorf("line: look for any: %w", err)
	}
	return !found, nil
}
