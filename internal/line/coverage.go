package line

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
)

// Coverage is the period that an operator's supply covers. A zero time means
// none.
type Coverage struct {
	KnownSince    time.Time // the first supply of any kind
	CompleteSince time.Time // the first complete snapshot
	Through       time.Time // everything that took effect until then has been supplied
}

// ExtendCoverage extends the coverage of an operator. A zero completeSince or
// through leaves that part as it is; no part ever shrinks.
func ExtendCoverage(ctx context.Context, tx pg.Tx, n numbering.Network, completeSince, through, now time.Time) error {
	var complete, supplied *time.Time
	known := now
	if !completeSince.IsZero() {
		complete, known = &completeSince, completeSince
	}
	if !through.IsZero() {
		supplied = &through
	}
	_, err := tx.Exec(ctx, `INSERT INTO supply_coverage (network, known_since, complete_since, supplied_through, updated_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (network) DO UPDATE SET
		known_since = least(supply_coverage.known_since, excluded.known_since),
		complete_since = coalesce(supply_coverage.complete_since, excluded.complete_since),
		supplied_through = greatest(supply_coverage.supplied_through, excluded.supplied_through),
		updated_at = excluded.updated_at`, n, known, complete, supplied, now)
	if err != nil {
		return fmt.Errorf("line: extend the coverage: %w", err)
	}
	return nil
}

// AddLineCount adds delta to the number of current tenures of a network.
func AddLineCount(ctx context.Context, tx pg.Tx, n numbering.Network, delta int64, now time.Time) error {
	if delta == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO supply_coverage (network, lines, updated_at) VALUES ($1, $2, $3)
		ON CONFLICT (network) DO UPDATE SET lines = supply_coverage.lines + excluded.lines, updated_at = excluded.updated_at`, n, delta, now)
	if err != nil {
		return fmt.Errorf("line: count tenures: %w", err)
	}
	return nil
}
