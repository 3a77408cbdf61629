package webhook

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// leaseSkip is more than leases can have been counted between a backup and the loss.
const leaseSkip = 1_000_000_000

// EndLeases ends the leases of all nodes after the database was restored to an earlier time.
// A node that was not stopped would otherwise go on behind the last event that it has sent,
// which is lost, and leave out those that are in its place now: its lease can have the number
// that the restored database has.
func EndLeases(ctx context.Context, on pg.DB) error {
	if _, err := on.Exec(ctx, `UPDATE hook_cursor SET lease = lease + $1, leased_until = NULL`, int64(leaseSkip)); err != nil {
		return fmt.Errorf("webhook: end leases: %w", err)
	}
	return nil
}
