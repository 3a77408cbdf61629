package server

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// logInterval is the time between two looks at what is published. It is below the time after
// which a quiet log is signed again, so that each signature is seen.
const logInterval = 10 * time.Second

// watchLog updates the metrics of the published log until ctx ends. Every node that may publish
// does it, because the one that publishes may be the one that hangs.
func (s *service) watchLog(ctx context.Context) {
	if s.public.worker == nil || s.public.worker.Publisher == nil {
		return
	}
	var seen *publiclog.Seen
	if w := s.public.worker.Publisher.Witnesses; w != nil {
		seen = &publiclog.Seen{Witnesses: w}
	}
	pause.Loop{Interval: logInterval, Limit: queryTime}.Run(ctx, func(ctx context.Context) error {
		lag, err := publiclog.Lag(ctx, s.lanes.jobs)
		if err != nil {
			return err // the outage is already in the log
		}
		var witnessed map[string]time.Time
		if seen != nil {
			if witnessed, err = seen.Read(ctx, s.lanes.jobs); err != nil {
				return err
			}
		}
		s.metrics.LogState(lag, witnessed)
		return nil
	})
}
