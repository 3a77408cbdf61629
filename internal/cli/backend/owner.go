package backend

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/server/config"
)

// OpenAsOwner opens the database with the rights of the owner.
func OpenAsOwner(ctx context.Context, con *console.Console) (config.Config, *pgxpool.Pool, error) {
	cfg, err := con.Settings(ctx)
	if err != nil {
		return cfg, nil, err
	}
	pool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: pg.Owner, Conns: Conns, Unverified: cfg.UnverifiedDatabase()})
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
		return cfg, nil, fmt.Errorf("the login is not a member of %s; use the login that runs migrate: %w", pg.Owner, err)
	}
	if err != nil {
		return cfg, nil, err
	}
	if err := pg.CheckSchema(ctx, pool); err != nil {
		pool.Close()
		return cfg, nil, err
	}
	return cfg, pool, nil
}
