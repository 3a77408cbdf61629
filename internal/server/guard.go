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

// openGuard returns a guard that goes on from what is stored: nobody who was
// stopped is free, and no quota is full again, because a node was started anew.
func openGuard(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, persons *people.People, metrics *telemetry.Metrics, log *slog.Logger) (*guard.Guard, error) {
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
		Count: func(k guard.Kind, l guard.Level) { metrics.GuardAlert(string(k), l.String()) },
		Tell: func(ctx context.Context, tx pg.Tx, _ guard.Alert) error {
			return persons.TellAdministrators(ctx, tx, people.GuardFound)
		},
	})
	return g, g.Sync(ctx)
}
