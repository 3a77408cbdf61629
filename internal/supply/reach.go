package supply

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/numbering"
)

// Reach is how far the supply of a network reached on one day of UTC, as it was
// last seen on that day.
type Reach struct {
	Day      time.Time
	Noted    time.Time // when it was seen; zero for a day on which nobody looked
	Lines    int64     // numbers with a running tenure
	Capacity int64     // numbers that its ranges held
	Through  time.Time // zero for a network that had never supplied
}

// Behind is how much of the past was not supplied when it was seen.
func (r Reach) Behind() time.Duration { return max(r.Noted.Sub(r.Through), 0) }

// NoteReach keeps how far the supply of every network on the plan reaches today.
// What was noted earlier in the day is replaced.
func (d *Desk) NoteReach(ctx context.Context) error {
	now := d.now()
	r, err := d.rulesAt(ctx, d.Pool, now)
	if err != nil {
		return err
	}
	networks := r.plan.Networks()
	capacity := make([]int64, len(networks))
	for i, n := range networks {
		capacity[i] = r.plan.Capacity(n, now)
	}
	// Two nodes may look at once: the later look stays.
	_, err = d.Pool.Exec(ctx, `INSERT INTO supply_reach (network, day, lines, capacity, supplied_through, noted_at)
		SELECT n.network, $3, coalesce(c.lines, 0), n.capacity, c.supplied_through, $4
		FROM unnest($1::smallint[], $2::bigint[]) AS n (network, capacity) LEFT JOIN supply_coverage c ON c.network = n.network
		ON CONFLICT (network, day) DO UPDATE SET lines = excluded.lines, capacity = excluded.capacity,
		supplied_through = excluded.supplied_through, noted_at = excluded.noted_at WHERE supply_reach.noted_at < excluded.noted_at`,
		networks, capacity, day(now), now)
	if err != nil {
		return fmt.Errorf("supply: note how far the supply reaches: %w", err)
	}
	return nil
}

// Reaches returns how far the supply of a network reached from one day to
// another, both included. A day on which nobody looked is among them.
func (d *Desk) Reaches(ctx context.Context, n numbering.Network, from, to time.Time) ([]Reach, error) {
	rows, err := d.Pool.Query(ctx, `SELECT day, noted_at, lines, capacity, supplied_through FROM supply_reach
		WHERE network = $1 AND day BETWEEN $2 AND $3`, n, day(from), day(to))
	if err != nil {
		return nil, fmt.Errorf("supply: read how far the supply reached: %w", err)
	}
	seen, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Reach, err error) {
		var through *time.Time
		err = row.Scan(&r.Day, &r.Noted, &r.Lines, &r.Capacity, &through)
		r.Through = orZero(through)
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("supply: read how far the supply reached: %w", err)
	}
	return everyDay(from, to, seen, func(r *Reach) *time.Time { return &r.Day }), nil
}

// everyDay puts what is known of some days into a list of all of them, which
// has a zero value with its day where nothing is known.
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
