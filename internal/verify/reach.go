package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// coverage is the same for every network.
func coverage(c line.Coverage) func(numbering.Network) line.Coverage {
	return func(numbering.Network) line.Coverage { return c }
}

// reachThen returns how far the supply of a network may have reached when a
// record was made: the ends of what is possible, in all combinations. It never
// shrinks, so today's reach is the most, and what imports that were over by then
// had brought is the least. What the answer itself said about it counts.
func reachThen(ctx context.Context, pool *pgxpool.Pool, n numbering.Network, e *journal.Entry, margin time.Duration) ([]line.Coverage, error) {
	var now line.Coverage // today
	var least time.Time   // through, by imports
	var sure, ever bool   // a snapshot was taken in by then; some time
	if err := readReach(ctx, pool, n, e.At, margin, &now, &least, &sure, &ever); err != nil {
		return nil, err
	}
	known, complete, through := ends(time.Time{}, now.KnownSince), ends(time.Time{}, now.CompleteSince), ends(least, now.Through)
	switch {
	case sure:
		known, complete = []time.Time{now.KnownSince}, []time.Time{now.CompleteSince}
	case ever:
		complete = []time.Time{{}} // the first whole snapshot came later
		if margin > 0 {
			complete = ends(time.Time{}, now.CompleteSince)
		}
	}
	if said := saidCoverage(e.Extra); said != nil {
		known, through = []time.Time{said.KnownSince}, []time.Time{said.SuppliedThrough}
	}
	var all []line.Coverage
	for _, k := range known {
		for _, c := range complete {
			for _, t := range through {
				all = append(all, line.Coverage{KnownSince: k, CompleteSince: c, Through: t})
			}
		}
	}
	return all, nil
}

// ends returns the least and the most, or one if they are the same.
func ends(least, most time.Time) []time.Time {
	if least.Equal(most) {
		return []time.Time{most}
	}
	return []time.Time{least, most}
}

func readReach(ctx context.Context, pool *pgxpool.Pool, n numbering.Network, at time.Time, margin time.Duration, now *line.Coverage, least *time.Time, sure, ever *bool) error {
	var known, complete, through, imported *time.Time
	err := pool.QueryRow(ctx, `SELECT c.known_since, c.complete_since, c.supplied_through,
			(SELECT max(i.as_of) FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.finished_at <= $2
				AND (i.kind = 'snapshot' OR i.rows = 0 OR i.rows > i.refused)),
			EXISTS (SELECT FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.kind = 'snapshot' AND i.finished_at <= $2),
			EXISTS (SELECT FROM supply_import i WHERE i.network = c.network AND i.state = 'applied' AND i.kind = 'snapshot')
		FROM supply_coverage c WHERE c.network = $1`, n, at.Add(-margin)).Scan(&known, &complete, &through, &imported, sure, ever)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it has never supplied anything
	}
	if err != nil {
		return fmt.Errorf("verify: read the reach of a supply: %w", err)
	}
	for to, from := range map[*time.Time]*time.Time{&now.KnownSince: known, &now.CompleteSince: complete, &now.Through: through, least: imported} {
		if from != nil {
			// Answers count in whole seconds here.
			*to = from.UTC().Round(time.Second)
		}
	}
	return nil
}
