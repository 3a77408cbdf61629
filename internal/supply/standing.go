package supply

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// Standing is how an operator does its duty to supply.
type Standing struct {
	Network         string // its code
	Name            string
	KnownSince      time.Time // zero, like the others, when there is none
	CompleteSince   time.Time
	SuppliedThrough time.Time
	Silent          bool  // nothing was supplied for longer than the policy allows
	Lines           int64 // numbers with a running tenure
	Capacity        int64 // numbers that its ranges hold today
	Kinds           []KindStanding
	Refused         int64 // events and rows of files
}

// KindStanding is how one kind of event was told.
type KindStanding struct {
	Kind     string
	Accepted int64
	Late     int64 // told later than the policy allows
	Early    int64 // numbers given to a new holder before the quarantine was over
	// Mean and Worst say how long after its effect an event was told. What a
	// snapshot implies and what is withdrawn counts as told at once.
	Mean, Worst time.Duration
}

// Standings returns how the networks on the numbering plan supply, or one of
// them. A network that never supplied is among them. What was told is counted
// from the day of since on; the zero time counts all.
func (d *Desk) Standings(ctx context.Context, network string, since time.Time) ([]Standing, error) {
	now := d.now()
	r, err := d.rulesAt(ctx, d.Pool, now)
	if err != nil {
		return nil, err
	}
	networks := r.plan.Networks()
	if network != "" {
		one, ok := r.plan.Network(network)
		if !ok {
			return nil, ErrNoNetwork
		}
		networks = []numbering.Network{one}
	}
	list, place := make([]Standing, len(networks)), make(map[numbering.Network]*Standing, len(networks))
	for i, n := range networks {
		list[i] = Standing{Network: r.plan.Code(n), Name: r.plan.Name(n), Silent: true, Capacity: r.plan.Capacity(n, now)}
		place[n] = &list[i]
	}
	if err := d.reach(ctx, place, r); err != nil {
		return nil, err
	}
	if err := d.accounts(ctx, place, since); err != nil {
		return nil, err
	}
	return list, nil
}

// reach fills in how far the supply reaches.
func (d *Desk) reach(ctx context.Context, place map[numbering.Network]*Standing, r rules) error {
	rows, err := d.Pool.Query(ctx, `SELECT network, known_since, complete_since, supplied_through, lines FROM supply_coverage`)
	if err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			n                        numbering.Network
			known, complete, through *time.Time
			lines                    int64
		)
		if err := rows.Scan(&n, &known, &complete, &through, &lines); err != nil {
			return fmt.Errorf("supply: read the coverage: %w", err)
		}
		s := place[n]
		if s == nil {
			continue
		}
		s.KnownSince, s.CompleteSince, s.SuppliedThrough, s.Lines = orZero(known), orZero(complete), orZero(through), lines
		s.Silent = s.SuppliedThrough.IsZero() || !r.now.Before(s.SuppliedThrough.Add(r.policy.Freshness()))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: read the coverage: %w", err)
	}
	return nil
}

// accounts fills in what was told and how late.
func (d *Desk) accounts(ctx context.Context, place map[numbering.Network]*Standing, since time.Time) error {
	rows, err := d.Pool.Query(ctx, `SELECT network, kind, sum(accepted)::bigint, sum(refused)::bigint, sum(late)::bigint, sum(early)::bigint,
		sum(seconds)::bigint, max(worst) FROM supply_day WHERE day >= $1 GROUP BY network, kind ORDER BY network, kind`, day(since))
	if err != nil {
		return fmt.Errorf("supply: read the accounts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			n                       numbering.Network
			kind                    int16
			refused, seconds, worst int64
			k                       KindStanding
		)
		if err := rows.Scan(&n, &kind, &k.Accepted, &refused, &k.Late, &k.Early, &seconds, &worst); err != nil {
			return fmt.Errorf("supply: read the accounts: %w", err)
		}
		s := place[n]
		if s == nil {
			continue
		}
		s.Refused += refused
		if k.Accepted == 0 {
			continue
		}
		k.Kind = line.Kind(kind).String() //nolint:gosec // a small code that we wrote
		k.Mean, k.Worst = time.Duration(seconds/k.Accepted)*time.Second, time.Duration(worst)*time.Second
		s.Kinds = append(s.Kinds, k)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: read the accounts: %w", err)
	}
	return nil
}

// coverage returns how far each operator's supply reached at a time, at best.
func (d *Desk) coverage(ctx context.Context, at time.Time) (func(numbering.Network) line.Coverage, error) {
	rows, err := d.Pool.Query(ctx, `SELECT network, known_since, complete_since, supplied_through FROM supply_coverage WHERE known_since <= $1`, at)
	if err != nil {
		return nil, fmt.Errorf("supply: read the coverage: %w", err)
	}
	defer rows.Close()
	all := make(map[numbering.Network]line.Coverage)
	for rows.Next() {
		var n numbering.Network
		var since, complete, through *time.Time
		if err := rows.Scan(&n, &since, &complete, &through); err != nil {
			return nil, fmt.Errorf("supply: read the coverage: %w", err)
		}
		c := line.Coverage{KnownSince: orZero(since), CompleteSince: orZero(complete), Through: orZero(through)}
		if c.CompleteSince.After(at) {
			c.CompleteSince = time.Time{}
		}
		c.Through = earlier(c.Through, at)
		all[n] = c
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("supply: read the coverage: %w", err)
	}
	return func(n numbering.Network) line.Coverage { return all[n] }, nil
}
