package pg

import (
	"context"
	"fmt"
	"time"
)

// MaxClockSkew is how far a node's clock may be from the database's. Beyond it
// the node would write times that others would not believe.
const MaxClockSkew = 500 * time.Millisecond

// ClockSkew returns by how much the database's clock is ahead of ours, and how
// long asking took: the shorter, the better the answer.
func ClockSkew(ctx context.Context, from DB) (skew, took time.Duration, err error) {
	var theirs time.Time
	before := time.Now()
	if err := from.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
		return 0, 0, fmt.Errorf("pg: read the clock: %w", err)
	}
	took = time.Since(before)
	return theirs.Sub(before.Add(took / 2)), took, nil
}
