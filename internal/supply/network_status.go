package supply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// NetworkStatus is how an operator fulfils its duty to supply.
type NetworkStatus struct {
	Network         string // its code
	Name            string
	KnownSince      time.Time // this and the next two are zero if there is none
	CompleteSince   time.Time
	SuppliedThrough time.Time
	Silent          bool  // nothing was reported for longer than the policy allows
	Lines           int64 // numbers with a running tenure
	Capacity        int64 // numbers in its ranges today
	Kinds           []KindTimeliness
	Refused         int64 // refused events and rows of files
}

// KindTimeliness is how late one kind of event was reported.
type KindTimeliness struct {
	Kind     string
	Accepted int64
	Late     int64 // reported later than the policy allows
	Early    int64 // numbers assigned to a new holder before the end of the quarantine
	// Mean and Worst are the delay from effect to report. Events that were inferred
	// from a snapshot, and VOIDED events, count as reported without delay.
	MeanDelay, MaxDelay time.Duration
}

// NetworkStatuses returns the status of every network on the numbering plan, or of
// one. A network that has never supplied is included. Reports are counted from the
// day of since on; the zero time counts all.
func (s *Service) NetworkStatuses(ctx context.Context, network string, since time.Time) ([]NetworkStatus, error) {
	now := s.now()
	r, err := s.rulesAt(ctx, s.Pool, now)
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
	list, byNetwork := make([]NetworkStatus, len(networks)), make(map[numbering.Network]*NetworkStatus, len(networks))
	for i, n := range networks {
		list[i] = NetworkStatus{Network: r.plan.Code(n), Name: r.plan.Name(n), Silent: true, Capacity: r.plan.Capacity(n, now)}
		byNetwork[n] = &list[i]
	}
	if err := s.fillCoverage(ctx, byNetwork, r); err != nil {
		return nil, err
	}
	if err := s.fillTimeliness(ctx, byNetwork, since); err != nil {
		return nil, err
	}
	return list, nil
}

// fillCoverage fills in the coverage and the number of lines.
func (s *Service) fillCoverage(ctx context.Context, byNetwork map[numbering.Network]*NetworkStatus, r rules) error {
	rows, err := s.Pool.Query(ctx, `SELECT network, known_since, complete_since, supplied_through, lines FROM supply_coverage`)
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
		s := byNetwork[n]
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

// fillTimeliness fills in what was reported and how late.
func (s *Service) fillTimeliness(ctx context.Context, byNetwork map[numbering.Network]*NetworkStatus, since time.Time) error {
	rows, err := s.Pool.Query(ctx, `SELECT network, kind, sum(accepted)::bigint, sum(refused)::bigint, sum(late)::bigint, sum(early)::bigint,
		sum(seconds)::bigint, max(worst) FROM supply_day WHERE day >= $1 GROUP BY network, kind ORDER BY network, kind`, day(since))
	if err != nil {
		return fmt.Errorf("supply: read the daily counts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			n                       numbering.Network
			kind                    int16
			refused, seconds, worst int64
			k                       KindTimeliness
		)
		if err := rows.Scan(&n, &kind, &k.Accepted, &refused, &k.Late, &k.Early, &seconds, &worst); err != nil {
			return fmt.Errorf("supply: read the daily counts: %w", err)
		}
		s := byNetwork[n]
		if s == nil {
			continue
		}
		s.Refused += refused
		if k.Accepted == 0 {
			continue
		}
		k.Kind = line.Kind(kind).String() //nolint:gosec // dailyCounts.save wrote a Kind
		k.MeanDelay, k.MaxDelay = time.Duration(seconds/k.Accepted)*time.Second, time.Duration(worst)*time.Second
		s.Kinds = append(s.Kinds, k)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: read the daily counts: %w", err)
	}
	return nil
}

// DayReport is how many events an operator reported on one day, in UTC.
type DayReport struct {
	Day     time.Time
	Applied int64
	Late    int64 // of the applied ones
	Refused int64
}

// DailyReports returns what a network reported on each day from one to another,
// both included. A day without reports is included.
func (s *Service) DailyReports(ctx context.Context, n numbering.Network, from, to time.Time) ([]DayReport, error) {
	rows, err := s.Pool.Query(ctx, `SELECT day, sum(accepted)::bigint, sum(late)::bigint, sum(refused)::bigint FROM supply_day
		WHERE network = $1 AND day BETWEEN $2 AND $3 GROUP BY day`, n, day(from), day(to))
	if err != nil {
		return nil, fmt.Errorf("supply: read the daily counts: %w", err)
	}
	reports, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DayReport])
	if err != nil {
		return nil, fmt.Errorf("supply: read the daily counts: %w", err)
	}
	return everyDay(from, to, reports, func(t *DayReport) *time.Time { return &t.Day }), nil
}

// DayCoverage is the coverage of a network on one day, in UTC, as it was last
// recorded on that day.
type DayCoverage struct {
	Day        time.Time
	RecordedAt time.Time // when it was recorded; zero for a day without a record
	Lines      int64     // numbers with a running tenure
	Capacity   int64     // numbers in its ranges
	Through    time.Time // everything up to then was reported; zero for a network that had never supplied
}

// Behind is the time before the record for which reports were missing.
func (r DayCoverage) Behind() time.Duration { return max(r.RecordedAt.Sub(r.Through), 0) }

// RecordCoverage stores today's coverage of every network on the numbering plan. It
// replaces an earlier record of the same day.
func (s *Service) RecordCoverage(ctx context.Context) error {
	now := s.now()
	r, err := s.rulesAt(ctx, s.Pool, now)
	if err != nil {
		return err
	}
	networks := r.plan.Networks()
	capacity := make([]int64, len(networks))
	for i, n := range networks {
		capacity[i] = r.plan.Capacity(n, now)
	}
	// Two nodes may record at the same time: the later record stays.
	_, err = s.Pool.Exec(ctx, `INSERT INTO supply_reach (network, day, lines, capacity, supplied_through, noted_at)
		SELECT n.network, $3, coalesce(c.lines, 0), n.capacity, c.supplied_through, $4
		FROM unnest($1::smallint[], $2::bigint[]) AS n (network, capacity) LEFT JOIN supply_coverage c ON c.network = n.network
		ON CONFLICT (network, day) DO UPDATE SET lines = excluded.lines, capacity = excluded.capacity,
		supplied_through = excluded.supplied_through, noted_at = excluded.noted_at WHERE supply_reach.noted_at < excluded.noted_at`,
		networks, capacity, day(now), now)
	if err != nil {
		return fmt.Errorf("supply: record the coverage: %w", err)
	}
	return nil
}

// DailyCoverage returns the recorded coverage of a network on each day from one to
// another, both included. A day without a record is included.
func (s *Service) DailyCoverage(ctx context.Context, n numbering.Network, from, to time.Time) ([]DayCoverage, error) {
	rows, err := s.Pool.Query(ctx, `SELECT day, noted_at, lines, capacity, supplied_through FROM supply_reach
		WHERE network = $1 AND day BETWEEN $2 AND $3`, n, day(from), day(to))
	if err != nil {
		return nil, fmt.Errorf("supply: read the recorded coverage: %w", err)
	}
	recorded, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r DayCoverage, err error) {
		var through *time.Time
		err = row.Scan(&r.Day, &r.RecordedAt, &r.Lines, &r.Capacity, &through)
		r.Through = orZero(through)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("supply: read the recorded coverage: %w", err)
	}
	return everyDay(from, to, recorded, func(r *DayCoverage) *time.Time { return &r.Day }), nil
}

// everyDay returns a value for each day from one to another. Days that are not in
// known get a zero value with their day set. At returns the field of the day.
func everyDay[T any](from, to time.Time, known []T, at func(*T) *time.Time) []T {
	by := make(map[string]T, len(known))
	for i := range known {
		by[at(&known[i]).Format(time.DateOnly)] = known[i]
	}
	var list []T
	for on := day(from); !on.After(to); on = on.AddDate(0, 0, 1) {
		one := by[on.Format(time.DateOnly)]
		*at(&one) = on
		list = append(list, one)
	}
	return list
}

// CoverageBounds is what can be said today about the coverage that a network had
// at an earlier time. Coverage keeps no history and never shrinks, so today's is
// the upper bound, and what the imports applied by then had brought is the lower
// one.
type CoverageBounds struct {
	Now          line.Coverage // today
	Imported     time.Time     // supplied through, by imports applied before that time
	Snapshot     bool          // a snapshot was applied before that time
	EverSnapshot bool          // a snapshot was applied at any time
}

// ReadCoverageBounds returns the bounds for a network at a time, in whole
// seconds. They are zero where the network has never supplied anything.
func ReadCoverageBounds(ctx context.Context, from pg.DB, n numbering.Network, at time.Time) (b CoverageBounds, err error) {
	var known, complete, through, imported *time.Time
	err = from.QueryRow(ctx, `SELECT c.known_since, c.complete_since, c.supplied_through,
			(SELECT max(i.as_of) FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.finished_at <= $2
				AND (i.kind = 'snapshot' OR i.rows = 0 OR i.rows > i.refused)),
			EXISTS (SELECT FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.kind = 'snapshot' AND i.finished_at <= $2),
			EXISTS (SELECT FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.kind = 'snapshot')
		FROM supply_coverage c WHERE c.network = $1`, n, at).Scan(&known, &complete, &through, &imported, &b.Snapshot, &b.EverSnapshot)
	if errors.Is(err, pgx.ErrNoRows) {
		return CoverageBounds{}, nil
	}
	if err != nil {
		return CoverageBounds{}, fmt.Errorf("supply: read the bounds of the coverage: %w", err)
	}
	for to, from := range map[*time.Time]*time.Time{
		&b.Now.KnownSince: known, &b.Now.CompleteSince: complete, &b.Now.Through: through, &b.Imported: imported,
	} {
		if from != nil {
			*to = from.UTC().Round(time.Second)
		}
	}
	return b, nil
}
