package server

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/journal"
)

// diskUsageInterval is the time between two measurements of the journal's disk
// usage. Disks fill up over days.
const diskUsageInterval = time.Minute

// watchDiskUsage updates the metrics of the journal's disk usage until ctx ends.
// Limit is how many bytes the database may use; 0 if that is not configured.
func (s *service) watchDiskUsage(ctx context.Context, limit int64) error {
	return every(ctx, diskUsageInterval, func() {
		queryCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		u, err := journal.Measure(queryCtx, s.pool, time.Now())
		if err != nil {
			return // the outage is already in the log
		}
		s.metrics.JournalDiskBytes(u.Journal, u.Daily)
		if limit > 0 {
			s.metrics.JournalDaysLeft(u.DaysLeft(limit))
		}
	})
}
