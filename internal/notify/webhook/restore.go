package webhook

import (
	"context"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// leaseSkip is more than leases can have been counted between a backup and the loss.
const leaseSkip = 1_000_000_000

// EndLeases ends the leases of all nodes after the database was restored to an earlier time.
// A node that was not stopped would otherwise go on behind the last event that it has sent,
// which is lost, and leave out those that are in its place now: its lease can have the number
// that the restored database has.
func EndLeases(ctx context.Context, on pg.DB) error {
	_, err := on.Exec(ctx, `UPDATE hook_cursor SET lease = lease + $1, leased_until = NULL`, int64(leaseSkip))
	return fault.Wrap(err, "webhook: end leases")
}
