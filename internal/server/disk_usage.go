package server

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// diskUsageInterval is the time between two measurements of the journal's disk
// usage. Disks fill up over days.
const diskUsageInterval = time.Minute

// watchDiskUsage updates the metrics of the journal's disk usage until ctx ends.
func (s *service) watchDiskUsage(ctx context.Context) {
	pause.Loop{Interval: diskUsageInterval, Limit: queryTime}.Run(ctx, func(ctx context.Context) error {
		u, err := journal.Measure(ctx, s.lanes.verify, time.Now())
		if err != nil {
			return err // the outage is already in the log
		}
		s.metrics.JournalDiskBytes(u.Journal, u.Daily)
		if limit := s.cfg.JournalDiskBytes; limit > 0 {
			s.metrics.JournalDaysLeft(u.DaysLeft(limit))
		}
		return nil
	})
}
