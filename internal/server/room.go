package server

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/journal"
)

// roomEvery is how often a node looks how much room the journal takes. Disks
// fill up in days.
const roomEvery = time.Minute

// watchRoom keeps the metrics of the journal's room true, until ctx ends. Limit
// is how many bytes the database may take; 0 when nobody knows.
func (s *service) watchRoom(ctx context.Context, limit int64) error {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for {
		look, cancel := context.WithTimeout(ctx, 5*time.Second)
		u, err := journal.Measure(look, s.pool, time.Now())
		cancel()
		if err == nil { // else the log says already that the database is away
			s.metrics.JournalRoom(u.Journal, u.Daily)
			if limit > 0 {
				s.metrics.JournalDaysLeft(u.DaysLeft(limit))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
