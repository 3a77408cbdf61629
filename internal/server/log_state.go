package server

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/publiclog"
)

// logInterval is the time between two looks at what is published. It is below the time after
// which a quiet log is signed again, so that each signature is seen.
const logInterval = 10 * time.Second

// watchLog updates the metrics of the published log until ctx ends. Every node that may publish
// does it, because the one that publishes may be the one that hangs.
func (s *service) watchLog(ctx context.Context) error {
	if s.log.worker == nil || s.log.worker.Publisher == nil {
		return nil
	}
	var seen *publiclog.Seen
	if w := s.log.worker.Publisher.Witnesses; w != nil {
		seen = &publiclog.Seen{Witnesses: w}
	}
	return every(ctx, logInterval, func() {
		queryCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		lag, err := publiclog.Lag(queryCtx, s.watched.Pool)
		if err != nil {
			return // the outage is already in the log
		}
		var witnessed map[string]time.Time
		if seen != nil {
			if witnessed, err = seen.Read(queryCtx, s.watched.Pool); err != nil {
				return
			}
		}
		s.metrics.LogState(lag, witnessed)
	})
}
