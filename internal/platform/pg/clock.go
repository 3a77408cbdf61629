package pg

import (
	"context"
	"fmt"
	"time"
)

// MaxClockSkew is the greatest difference between a node's clock and the
// database's at which the node may serve. Beyond it other nodes would reject the
// times that this node writes.
const MaxClockSkew = 500 * time.Millisecond

// ClockSkew returns by how much the database's clock is ahead of ours, and how
// long the query took: the shorter, the more precise the result.
func ClockSkew(ctx context.Context, from DB) (skew, took time.Duration, err error) {
	var theirs time.Time
	before := time.Now()
	if err := from.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&theirs); err != nil {
		return 0, 0, fmt.Errorf("pg: read the clock: %w", err)
	}
	took = time.Since(before)
	return theirs.Sub(before.Add(took / 2)), took, nil
}
