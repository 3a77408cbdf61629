package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// openGuard returns a guard with the stored state, so that the restart of a node
// neither releases an organisation that was stopped nor resets a quota.
func openGuard(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, peopleService *people.People, metrics *telemetry.Metrics, log *slog.Logger) (*guard.Guard, error) {
	var kinds, levels []string
	for _, k := range guard.Kinds {
		kinds = append(kinds, string(k))
	}
	for _, l := range guard.Levels {
		levels = append(levels, l.String())
	}
	metrics.RegisterGuard(kinds, levels)
	g := guard.New(&guard.Guard{
		Pool: pool, Node: cfg.Node, Mode: guard.Mode(cfg.ScanGuard), Now: time.Now, Log: log,
		OnAlert: func(k guard.Kind, l guard.Level) { metrics.GuardAlert(string(k), l.String()) },
		Notify: func(ctx context.Context, tx pg.Tx, _ guard.Alert) error {
			return peopleService.NotifyAdministrators(ctx, tx, people.GuardFound)
		},
	})
	return g, g.Sync(ctx)
}
