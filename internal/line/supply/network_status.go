package supply

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// NetworkStatus is how an operator fulfils its duty to supply.
type NetworkStatus struct {
	Network         string // its code
	Name            string
	KnownSince      time.Time // this and the next two are zero if there is none
	CompleteSince   time.Time
	SuppliedThrough time.Time // the earliest of its required topics
	FreshUntil      time.Time // when a required topic becomes older than the policy allows; zero if one was never supplied
	Topics          [3]line.TopicState
	Silent          bool  // a required topic is older than the policy allows
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
	coverage, err := linestore.CoverageAt(ctx, s.Pool, r.now)
	if err != nil {
		return err
	}
	for n, status := range byNetwork {
		c := coverage(n)
		facts := line.Facts{Allocated: true, Holder: n, Coverage: coverage}
		status.KnownSince, status.CompleteSince = c.Lifecycle.KnownSince, c.Lifecycle.CompleteSince
		status.Topics = facts.Topics(r.policy, r.now)
		status.Silent = false
		first := true
		freshness := map[line.Topic]time.Duration{ //nolint:exhaustive // ports are the clearing house's to supply
			line.TopicLifecycle: r.policy.LifecycleFreshness(), line.TopicSIM: r.policy.SIMFreshness(),
		}
		for _, t := range status.Topics {
			if !t.Required || t.Topic == line.TopicPort {
				continue
			}
			status.Silent = status.Silent || !t.Fresh
			if until := t.Through.Add(freshness[t.Topic]); first || until.Before(status.FreshUntil) {
				status.FreshUntil = until
			}
			if first || t.Through.Before(status.SuppliedThrough) {
				status.SuppliedThrough, first = t.Through, false // zero if a topic was never supplied
			}
		}
		if status.SuppliedThrough.IsZero() {
			status.FreshUntil = time.Time{}
		}
	}
	rows, err := s.Pool.Query(ctx, `SELECT network, lines FROM network_lines`)
	if err != nil {
		return fmt.Errorf("supply: count the lines: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n numbering.Network
		var lines int64
		if err := rows.Scan(&n, &lines); err != nil {
			return fmt.Errorf("supply: count the lines: %w", err)
		}
		if status := byNetwork[n]; status != nil {
			status.Lines = lines
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("supply: count the lines: %w", err)
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
	Refused int64 // events, and rows of files
	Rows    int64 // of snapshots that were applied and are no events: the line was new, or had not changed
}

// DailyReports returns what a network reported on each day from one to another,
// both included. A day without reports is included.
func (s *Service) DailyReports(ctx context.Context, n numbering.Network, from, to time.Time) ([]DayReport, error) {
	reports, err := pg.Collect(ctx, s.Pool, pgx.RowToStructByPos[DayReport], `SELECT day, sum(accepted)::bigint, sum(late)::bigint, sum(refused)::bigint, sum(rows)::bigint FROM (
		SELECT day, accepted, late, refused, 0 AS rows FROM supply_day WHERE network = $1 AND day BETWEEN $2 AND $3
		UNION ALL SELECT (coalesce(finished_at, updated_at) AT TIME ZONE 'UTC')::date, 0, 0, 0, added + unchanged FROM supply_import
		WHERE network = $1 AND kind = 'snapshot' AND NOT dry_run AND state IN ('applying', 'applied', 'voiding', 'voided')
		AND (coalesce(finished_at, updated_at) AT TIME ZONE 'UTC')::date BETWEEN $2 AND $3) AS reported GROUP BY day`, n, day(from), day(to))
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
	statuses, err := s.NetworkStatuses(ctx, "", now)
	if err != nil {
		return err
	}
	networks, lines, capacity := make([]numbering.Network, 0, len(statuses)), make([]int64, 0, len(statuses)), make([]int64, 0, len(statuses))
	through := make([]*time.Time, 0, len(statuses))
	for i := range statuses {
		n, _ := r.plan.Network(statuses[i].Network)
		networks, lines, capacity = append(networks, n), append(lines, statuses[i].Lines), append(capacity, statuses[i].Capacity)
		through = append(through, orNull(statuses[i].SuppliedThrough))
	}
	// Two nodes may record at the same time: the later record stays.
	_, err = s.Pool.Exec(ctx, `INSERT INTO supply_reach (network, day, lines, capacity, supplied_through, noted_at)
		SELECT network, $5, lines, capacity, supplied_through, $6
		FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS n (network, lines, capacity, supplied_through)
		ON CONFLICT (network, day) DO UPDATE SET lines = excluded.lines, capacity = excluded.capacity,
		supplied_through = excluded.supplied_through, noted_at = excluded.noted_at WHERE supply_reach.noted_at < excluded.noted_at`,
		networks, lines, capacity, through, day(now), now)
	if err != nil {
		return fmt.Errorf("supply: record the coverage: %w", err)
	}
	return nil
}

// DailyCoverage returns the recorded coverage of a network on each day from one to
// another, both included. A day without a record is included.
func (s *Service) DailyCoverage(ctx context.Context, n numbering.Network, from, to time.Time) ([]DayCoverage, error) {
	recorded, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (r DayCoverage, err error) {
		var through *time.Time
		err = row.Scan(&r.Day, &r.RecordedAt, &r.Lines, &r.Capacity, &through)
		r.Through = orZero(through)
		return r, err
	}, `SELECT day, noted_at, lines, capacity, supplied_through FROM supply_reach
		WHERE network = $1 AND day BETWEEN $2 AND $3`, n, day(from), day(to))
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
