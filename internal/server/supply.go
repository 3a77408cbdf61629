package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// supplyInterval is the time between two checks of the operators' supply. An
// operator becomes silent after days.
const supplyInterval = 30 * time.Second

// watchSupply updates the metrics of the supply until ctx ends, and logs once when
// an operator has become silent: from then on its lines are UNKNOWN.
func (s *service) watchSupply(ctx context.Context, log *slog.Logger) error {
	silent := map[string]bool{}
	return every(ctx, supplyInterval, func() { s.checkSupply(ctx, log, silent) })
}

func (s *service) checkSupply(ctx context.Context, log *slog.Logger, silent map[string]bool) {
	queryCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := s.watched.NetworkStatuses(queryCtx, "", time.Now().AddDate(0, 0, -1))
	if err != nil {
		return // the outage is already in the log
	}
	held, err := s.watched.CountHeld(queryCtx)
	if err != nil {
		return
	}
	stats := make([]telemetry.SupplyStat, 0, len(list))
	for _, o := range list {
		stats = append(stats, statOf(&o))
		if isSilent := o.Silent && !o.SuppliedThrough.IsZero(); isSilent != silent[o.Network] {
			silent[o.Network] = isSilent
			if isSilent {
				log.LogAttrs(ctx, slog.LevelWarn, "an operator has stopped supplying; its lines are UNKNOWN until it supplies again", slog.String("network", o.Network),
					slog.Time("supplied_through", o.SuppliedThrough))
			}
		}
	}
	s.metrics.Supply(stats, held)
}

func statOf(o *supply.NetworkStatus) telemetry.SupplyStat {
	return telemetry.SupplyStat{Network: o.Network, Through: o.SuppliedThrough, FreshUntil: o.FreshUntil, Silent: o.Silent, Lines: o.Lines}
}
