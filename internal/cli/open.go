package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/supply"
)

// settings reads the settings of the service. Variables of the remote commands
// share the prefix and are no settings of the service.
func (a *app) settings(ctx context.Context) (config.Config, error) {
	environ := slices.DeleteFunc(slices.Clone(a.env.Environ), func(entry string) bool {
		return strings.HasPrefix(entry, apiPrefix)
	})
	return config.Load(ctx, environ)
}

// connect opens the database as the service does, in its role.
func connect(ctx context.Context, cfg config.Config) (*pgxpool.Pool, error) {
	return pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: cfg.DatabaseRole, Conns: 4})
}

// parts are the domain packages on an open database.
type parts struct {
	cfg      config.Config
	pool     *pgxpool.Pool
	region   *phone.Region
	registry *registry.Registry
	keeper   *access.Keeper
	people   *people.People
	desk     *supply.Desk
}

func (p *parts) close() { p.pool.Close() }

// open reads the settings and wires what the commands need.
func (a *app) open(ctx context.Context) (*parts, error) {
	cfg, err := a.settings(ctx)
	if err != nil {
		return nil, err
	}
	region, err := phone.NewRegion(cfg.Region)
	if err != nil {
		return nil, err
	}
	// The database comes before the peppers, for these make a file when there is
	// none, and a command that gets nowhere should leave nothing behind.
	pool, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pg.CheckSchema(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	peppers, err := peppersOf(ctx, pool, cfg)
	if err != nil {
		pool.Close()
		return nil, err
	}
	passwords := secret.NewPasswords(secret.Cost{MemoryKiB: cfg.Argon2MemoryKiB, Time: cfg.Argon2Time, Threads: 1}, cfg.Argon2Parallel, cfg.Argon2Queue)
	p := &parts{
		cfg: cfg, pool: pool, region: region,
		registry: &registry.Registry{
			Pool: pool, Region: region, Passwords: passwords, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Now: time.Now,
		},
		keeper: &access.Keeper{
			Pool: pool, Peppers: peppers, TokenLifetime: cfg.TokenLifetime,
			SessionLifetime: cfg.SessionLifetime, SessionIdle: cfg.SessionIdle, Limits: server.Limits(cfg), Now: time.Now,
		},
		desk: &supply.Desk{Pool: pool, Region: region, Lines: &line.Almanac{}, Now: time.Now},
	}
	if cfg.DocumentsRestrict {
		p.keeper.MayMakeKey = p.papers().MayMakeKey
	}
	if p.people, err = server.OpenPeople(cfg, pool, peppers, p.keeper, p.registry, passwords); err != nil {
		pool.Close()
		return nil, err
	}
	return p, nil
}

func peppersOf(ctx context.Context, pool *pgxpool.Pool, cfg config.Config) (*secret.Peppers, error) {
	peppers, err := access.OpenPeppers(ctx, pool, cfg.HasPepper(), func() ([]secret.Text, error) {
		list, err := cfg.Peppers()
		if err != nil {
			return nil, &config.Error{Complaints: []string{strings.TrimPrefix(err.Error(), "config: ")}}
		}
		return list, nil
	})
	if errors.Is(err, access.ErrPepper) {
		return nil, &config.Error{Complaints: []string{err.Error()}}
	}
	return peppers, err
}
