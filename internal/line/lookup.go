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

// lookUp reads the row, the versions in force and the coverage in one statement:
// what an answer rests on is of one moment.
const lookUp = `SELECT r.policy, r.plan, r.networks, r.known, r.complete, r.through,
	coalesce(l.version, 0), coalesce(l.baseline, 0), coalesce(l.network, 0), coalesce(l.state, 0),
	coalesce(l.state_since, m), coalesce(l.tenure_start, m), coalesce(l.sim_at, m), coalesce(l.newest, m), coalesce(l.until, m),
	coalesce(l.ended_after, m), coalesce(l.port_at, m), coalesce(l.bar_at, m), coalesce(l.order_at, m), coalesce(l.black_at, m),
	coalesce(l.flag_at, m), coalesce(l.flag_by, 0), coalesce(l.flag_level, 0), coalesce(l.bar_reason, 0), coalesce(l.order_reason, 0)
	FROM (SELECT -2147483648 AS m,
		coalesce((SELECT version FROM policy WHERE effective_at <= $2 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS policy,
		coalesce((SELECT version FROM numbering_plan WHERE effective_at <= $2 ORDER BY effective_at DESC, version DESC LIMIT 1), 0) AS plan,
		array_agg(network) AS networks, array_agg(coalesce(extract(epoch FROM known_since)::bigint, 0)) AS known,
		array_agg(coalesce(extract(epoch FROM complete_since)::bigint, 0)) AS complete,
		array_agg(coalesce(extract(epoch FROM supplied_through)::bigint, 0)) AS through FROM supply_coverage) r
	LEFT JOIN line_now l ON l.number = $1`

// Look returns what is known of n at a moment, the present one as a rule. A
// number that nobody supplied is not an error. There is no cache between it and
// the row: a SIM swap that was reported a second ago must show.
func (a *Almanac) Look(ctx context.Context, from pg.DB, n phone.Number, at time.Time) (*Look, error) {
	var (
		l                        = &Look{Facts: Facts{Row: NoRow()}}
		r                        = &l.Row
		policyVersion, plan      int32
		networks                 []numbering.Network
		known, complete, through []int64
	)
	err := from.QueryRow(ctx, lookUp, n.Int(), at).Scan(&policyVersion, &plan, &networks, &known, &complete, &through,
		&r.Version, &r.Baseline, &r.Network, &r.State, &r.StateSince, &r.Tenure, &r.SIM, &r.Newest, &r.Until, &r.After, &r.PortAt,
		&r.BarAt, &r.OrderAt, &r.BlackAt, &r.FlagAt, &r.FlagBy, &r.FlagLevel, &r.BarReason, &r.OrderReason)
	if err != nil {
		return nil, fmt.Errorf("line: look up: %w", err)
	}
	r.Newest = max(r.Newest, r.shown())
	l.Coverage = func(of numbering.Network) Coverage {
		for i, n := range networks {
			if n == of {
				return Coverage{KnownSince: unix(known[i]), CompleteSince: unix(complete[i]), Through: unix(through[i])}
			}
		}
		return Coverage{}
	}
	if l.Policy, l.Plan, err = a.Rules(ctx, from, policyVersion, plan); err != nil {
		return nil, err
	}
	l.Place(n, at)
	return l, nil
}

// Place fills in what the plan says about the number's range.
func (l *Look) Place(n phone.Number, at time.Time) {
	l.Planned = !l.Plan.Empty()
	var held numbering.Range
	held, l.Allocated = l.Plan.Holder(n, at)
	l.Holder = held.Network
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
