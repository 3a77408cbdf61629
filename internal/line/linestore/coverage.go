package linestore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// Extension is what a supplier's report adds to the coverage of one topic. A zero
// time leaves that part as it is.
type Extension struct {
	Network       numbering.Network // Nation for PORT
	Topic         line.Topic
	CompleteSince time.Time
	Through       time.Time
}

// recordChanged follows a query "changed" that returns the changed rows of
// supply_coverage, and records them. A clock may be behind: the history must end with
// what is stored, and must lose nothing that an answer was given by.
const recordChanged = `
	INSERT INTO supply_coverage_history (network, topic, at, known_since, complete_since, supplied_through, doubtful)
	SELECT c.network, c.topic, greatest(c.updated_at, (SELECT max(h.at) + interval '1 microsecond' FROM supply_coverage_history h
			WHERE h.network = c.network AND h.topic = c.topic AND h.at > c.updated_at)),
		c.known_since, c.complete_since, c.supplied_through, c.doubtful FROM changed c
	ON CONFLICT (network, topic, at) DO UPDATE SET known_since = excluded.known_since, complete_since = excluded.complete_since,
		supplied_through = excluded.supplied_through, doubtful = excluded.doubtful`

// ExtendCoverage extends the coverage of topics and records the change, so that
// what was covered at a past time can be read again. No part shrinks. While a mass
// change waits, an assurance beyond it is kept until that is decided.
func ExtendCoverage(ctx context.Context, tx pg.Tx, now time.Time, extensions ...Extension) error {
	for _, e := range extensions {
		known := now
		if !e.CompleteSince.IsZero() {
			known = e.CompleteSince
		}
		_, err := tx.Exec(ctx, `WITH changed AS (
			INSERT INTO supply_coverage AS c (network, topic, known_since, complete_since, supplied_through, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (network, topic) DO UPDATE SET
				known_since = least(c.known_since, excluded.known_since),
				complete_since = coalesce(c.complete_since, excluded.complete_since),
				supplied_through = CASE WHEN greatest(c.supplied_through, excluded.supplied_through) > c.held_from THEN greatest(c.supplied_through, c.held_from)
					ELSE greatest(c.supplied_through, excluded.supplied_through) END,
				held_through = CASE WHEN c.held_from IS NOT NULL THEN greatest(c.held_through, excluded.supplied_through) END, updated_at = excluded.updated_at
			RETURNING *)`+recordChanged,
			e.Network, e.Topic, known, orNull(e.CompleteSince), orNull(e.Through), now)
		if err != nil {
			return fmt.Errorf("linestore: extend the coverage: %w", err)
		}
	}
	return nil
}

// HoldCoverage sets the coverage of a topic back to just before a held event of a mass
// change, and records it. [ReleaseCoverage] undoes it.
func HoldCoverage(ctx context.Context, tx pg.Tx, n numbering.Network, t line.Topic, before, now time.Time) error {
	_, err := tx.Exec(ctx, `WITH changed AS (
		UPDATE supply_coverage SET held_through = CASE WHEN held_from IS NULL THEN supplied_through ELSE held_through END,
			held_from = least(held_from, $3), supplied_through = CASE WHEN supplied_through > $3 THEN $3 ELSE supplied_through END, updated_at = $4
		WHERE network = $1 AND topic = $2 AND (held_from IS NULL OR held_from > $3) RETURNING *)`+recordChanged, n, t, before, now)
	if err != nil {
		return fmt.Errorf("linestore: hold the coverage: %w", err)
	}
	return nil
}

// ReleaseCoverage lets the coverage of a topic reach as far as its supplier has assured,
// unless an event of a mass change still waits, and records it.
func ReleaseCoverage(ctx context.Context, tx pg.Tx, n numbering.Network, t line.Topic, now time.Time) error {
	_, err := tx.Exec(ctx, `WITH changed AS (
		UPDATE supply_coverage SET supplied_through = greatest(supplied_through, held_through), held_from = NULL, held_through = NULL, updated_at = $3
		WHERE network = $1 AND topic = $2 AND held_from IS NOT NULL
			AND NOT EXISTS (SELECT FROM line_open WHERE network = $1 AND outcome = $4 AND hold = $5) RETURNING *)`+recordChanged,
		n, t, now, int16(line.Held), int16(line.HoldMass))
	if err != nil {
		return fmt.Errorf("linestore: release the coverage: %w", err)
	}
	return nil
}

// MarkDoubtful sets whether the assurances of a topic are believed, and records it.
func MarkDoubtful(ctx context.Context, tx pg.Tx, n numbering.Network, t line.Topic, doubtful bool, now time.Time) error {
	_, err := tx.Exec(ctx, `WITH changed AS (
		UPDATE supply_coverage SET doubtful = $3, updated_at = $4 WHERE network = $1 AND topic = $2 AND doubtful <> $3
		RETURNING *)`+recordChanged, n, t, doubtful, now)
	if err != nil {
		return fmt.Errorf("linestore: judge the coverage: %w", err)
	}
	return nil
}

// IsDoubtful reports whether the assurances of a topic are disbelieved.
func IsDoubtful(ctx context.Context, tx pg.Tx, n numbering.Network, t line.Topic) (doubtful bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM supply_coverage WHERE network = $1 AND topic = $2 AND doubtful)`, n, t).Scan(&doubtful)
	if err != nil {
		return false, fmt.Errorf("linestore: read the coverage: %w", err)
	}
	return doubtful, nil
}

// AcceptTopic lets the assurances of a topic be believed again, and records it. It returns false if they are.
func AcceptTopic(ctx context.Context, tx pg.Tx, n numbering.Network, t line.Topic, now time.Time) (bool, error) {
	done, err := tx.Exec(ctx, `WITH changed AS (
		UPDATE supply_coverage SET doubtful = false, accepted_on = ($3::timestamptz AT TIME ZONE 'UTC')::date, updated_at = $3
		WHERE network = $1 AND topic = $2 AND doubtful RETURNING *)`+recordChanged, n, t, now)
	if err != nil {
		return false, fmt.Errorf("linestore: accept a topic: %w", err)
	}
	return done.RowsAffected() > 0, nil
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// AddLineCount adds delta to the number of current tenures of a network.
func AddLineCount(ctx context.Context, tx pg.Tx, n numbering.Network, delta int64, now time.Time) error {
	if delta == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO network_lines (network, lines, updated_at) VALUES ($1, $2, $3)
		ON CONFLICT (network) DO UPDATE SET lines = network_lines.lines + excluded.lines, updated_at = excluded.updated_at`, n, delta, now)
	if err != nil {
		return fmt.Errorf("linestore: count tenures: %w", err)
	}
	return nil
}

// CoverageAt returns the coverage that each network had at a time.
func CoverageAt(ctx context.Context, from pg.DB, at time.Time) (func(numbering.Network) line.Coverage, error) {
	// The history has a row for each assurance, so each topic's own newest one is
	// looked up, and not all of them read.
	rows, err := from.Query(ctx, `SELECT h.network, h.topic, h.known_since, h.complete_since, h.supplied_through, h.doubtful FROM supply_coverage c
		CROSS JOIN LATERAL (SELECT * FROM supply_coverage_history WHERE network = c.network AND topic = c.topic AND at <= $1 ORDER BY at DESC LIMIT 1) h`, at)
	if err != nil {
		return nil, fmt.Errorf("linestore: read the coverage: %w", err)
	}
	defer rows.Close()
	type entry struct {
		network numbering.Network
		topic   line.Topic
		span    line.Span
	}
	var all []entry
	for rows.Next() {
		var e entry
		var known, complete, through *time.Time
		if err := rows.Scan(&e.network, &e.topic, &known, &complete, &through, &e.span.Doubtful); err != nil {
			return nil, fmt.Errorf("linestore: read the coverage: %w", err)
		}
		e.span.KnownSince, e.span.CompleteSince, e.span.Through = orZero(known), orZero(complete), orZero(through)
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("linestore: read the coverage: %w", err)
	}
	return func(of numbering.Network) (c line.Coverage) {
		for _, e := range all {
			setSpan(&c, of, e.network, e.topic, e.span)
		}
		return c
	}, nil
}

// CoverageDuring returns the spans that each topic of a network's supply had at any
// moment of a period.
func CoverageDuring(ctx context.Context, from pg.DB, n numbering.Network, start, end time.Time) (spans [3][]line.Span, err error) {
	rows, err := from.Query(ctx, `SELECT topic, at, known_since, complete_since, supplied_through, doubtful FROM supply_coverage_history
		WHERE (network = $1 AND topic <> $3 OR network = $2 AND topic = $3) AND at <= $5 AND at >= coalesce((SELECT max(h.at)
			FROM supply_coverage_history h WHERE h.network = supply_coverage_history.network AND h.topic = supply_coverage_history.topic AND h.at <= $4), '-infinity')
		ORDER BY at`, n, line.Nation, line.TopicPort, start, end)
	if err != nil {
		return spans, fmt.Errorf("linestore: read the coverage of a period: %w", err)
	}
	var topic line.Topic
	var at time.Time
	var span line.Span
	var known, complete, through *time.Time
	var first [3]time.Time
	_, err = pgx.ForEachRow(rows, []any{&topic, &at, &known, &complete, &through, &span.Doubtful}, func() error {
		span.KnownSince, span.CompleteSince, span.Through = orZero(known), orZero(complete), orZero(through)
		i := topic - line.TopicLifecycle
		if len(spans[i]) == 0 {
			first[i] = at
		}
		spans[i] = append(spans[i], span)
		return nil
	})
	if err != nil {
		return spans, fmt.Errorf("linestore: read the coverage of a period: %w", err)
	}
	for i := range spans {
		if len(spans[i]) == 0 || first[i].After(start) {
			spans[i] = append(spans[i], line.Span{}) // the period began without any
		}
	}
	return spans, nil
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC().Round(time.Second) // the precision of the look-up
}
