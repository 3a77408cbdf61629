package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
)

// supply returns what keeps the lines, with the connections of a lane: people do not wait for
// suppliers.
func (s *service) supply(pool *pgxpool.Pool) *supply.Service {
	return &supply.Service{
		Pool: pool, Region: s.region, Lines: s.lines, Files: s.stores.Supplies, Peppers: s.peppers, Now: time.Now,
		Limits: supply.ImportLimits{Rows: s.cfg.ImportMaxRows, CheckTime: s.cfg.ImportCheckTimeout},
	}
}

// supplyInterval is the time between two checks of the operators' supply. An
// operator becomes silent after days.
const supplyInterval = 30 * time.Second

// watchSupply updates the metrics of the supply until ctx ends, and logs once when
// an operator has become silent: from then on its lines are UNKNOWN.
func (s *service) watchSupply(ctx context.Context) {
	lines, silent := s.supply(s.lanes.jobs), map[string]bool{}
	pause.Loop{Interval: supplyInterval, Limit: queryTime}.Run(ctx, func(ctx context.Context) error { return s.checkSupply(ctx, lines, silent) })
}

func (s *service) checkSupply(ctx context.Context, lines *supply.Service, silent map[string]bool) error {
	list, err := lines.NetworkStatuses(ctx, "", time.Now().AddDate(0, 0, -1))
	if err != nil {
		return err // the outage is already in the log
	}
	held, err := lines.CountHeld(ctx)
	if err != nil {
		return err
	}
	stats := make([]telemetry.SupplyStat, 0, len(list))
	for _, o := range list {
		stats = append(stats, statOf(&o))
		if isSilent := o.Silent && !o.SuppliedThrough.IsZero(); isSilent != silent[o.Network] {
			silent[o.Network] = isSilent
			if isSilent {
				s.log.LogAttrs(ctx, slog.LevelWarn, "an operator has stopped supplying; its lines are UNKNOWN until it supplies again", slog.String("network", o.Network),
					slog.Time("supplied_through", o.SuppliedThrough))
			}
		}
	}
	s.metrics.Supply(stats, held)
	return nil
}

func statOf(o *supply.NetworkStatus) telemetry.SupplyStat {
	return telemetry.SupplyStat{Network: o.Network, Through: o.SuppliedThrough, FreshUntil: o.FreshUntil, Silent: o.Silent, Lines: o.Lines}
}
