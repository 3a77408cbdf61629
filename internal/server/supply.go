package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// supplyEvery is how often a node looks at how the operators supply. Silence is
// a matter of days.
const supplyEvery = 30 * time.Second

// watchSupply keeps the metrics of the supply true, and says once when an
// operator has fallen silent: from then on its lines are UNKNOWN.
func (s *service) watchSupply(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(supplyEvery)
	defer tick.Stop()
	silent := map[string]bool{}
	for {
		s.lookAtSupply(ctx, log, silent)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *service) lookAtSupply(ctx context.Context, log *slog.Logger, silent map[string]bool) {
	look, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := s.imports.Standings(look, "", time.Now().AddDate(0, 0, -1))
	if err != nil {
		return // the log says already that the database is away
	}
	held, err := s.imports.CountHeld(look)
	if err != nil {
		return
	}
	stats := make([]telemetry.SupplyStat, 0, len(list))
	for _, o := range list {
		stats = append(stats, statOf(&o))
		if fell := o.Silent && !o.SuppliedThrough.IsZero(); fell != silent[o.Network] {
			silent[o.Network] = fell
			if fell {
				log.LogAttrs(ctx, slog.LevelWarn, "an operator has fallen silent; its lines are UNKNOWN until it supplies", slog.String("network", o.Network),
					slog.Time("supplied_through", o.SuppliedThrough))
			}
		}
	}
	s.metrics.Supply(stats, held)
}

func statOf(o *supply.Standing) telemetry.SupplyStat {
	return telemetry.SupplyStat{Network: o.Network, Through: o.SuppliedThrough, Silent: o.Silent, Lines: o.Lines}
}
