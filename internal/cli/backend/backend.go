// Package backend opens the database and the domain services for commands that
// work on the database.
package backend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Conns is how many connections a command has at most: one for each slice of the journal
// that it reads at the same time, and a few others.
const Conns = 12

// Connect opens the database as the service does, in its role.
func Connect(ctx context.Context, cfg config.Config) (*pgxpool.Pool, error) {
	return pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: cfg.DatabaseRole, Conns: Conns, Unverified: cfg.UnverifiedDatabase()})
}

// ConnectReader opens the database that is only read, or returns nil if none is set. The
// caller closes it.
func ConnectReader(ctx context.Context, cfg config.Config) (*pgxpool.Pool, error) {
	if cfg.ReadDatabaseURL == "" {
		return nil, nil
	}
	pool, err := pg.Open(ctx, cfg.ReadDatabaseURL.Reveal(), pg.Options{Role: cfg.DatabaseRole, Conns: Conns, ReadOnly: true, Unverified: cfg.UnverifiedDatabase()})
	if err != nil {
		return nil, fmt.Errorf("LINEPROOF_READ_DATABASE_URL: %w", err)
	}
	return pool, nil
}

// Backend is the domain services on an open database.
type Backend struct {
	Config   config.Config
	Pool     *pgxpool.Pool
	Registry *registry.Registry
	Access   *access.Service
	People   *people.People
	Supply   *supply.Service
}

// Close closes the database.
func (b *Backend) Close() { b.Pool.Close() }

// Reader returns the database that checks and searches read, and a function that closes
// it: the one that is only read or, if none is set, the usual one.
func (b *Backend) Reader(ctx context.Context) (pool *pgxpool.Pool, closeIt func(), err error) {
	pool, err = ConnectReader(ctx, b.Config)
	if err != nil || pool == nil {
		return b.Pool, func() {}, err
	}
	return pool, pool.Close, nil
}

// Documents is the store of documents without their files, for commands that
// need only the records.
func (b *Backend) Documents() *document.Store {
	return &document.Store{Pool: b.Pool, Required: b.Config.DocumentsRequired, Now: time.Now}
}

// Archive opens the store of the journal's archives. The caller closes it.
func (b *Backend) Archive() (blob.Store, error) {
	return server.OpenStore(b.Config, server.JournalStore)
}

// OperatorSupplier lets the operator of the service supply lines for a network.
func OperatorSupplier(network string) supply.Supplier {
	return supply.Supplier{Authorities: []line.Authority{line.Operator}, Network: network, Actor: access.Operator}
}

// OtherSupplier lets the operator of the service supply for the clearing house or the regulator. The
// supplier is zero, and ok false, unless exactly one of them is named.
func OtherSupplier(house, regulator bool) (s supply.Supplier, ok bool) {
	switch {
	case house == regulator:
		return s, false
	case house:
		return supply.Supplier{Authorities: []line.Authority{line.ClearingHouse}, Actor: access.Operator}, true
	default:
		return supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: access.Operator}, true
	}
}

// Run wraps the function of a command that needs the database.
func Run(c *console.Console, fn func(cmd *cobra.Command, args []string, b *Backend) error) func(*cobra.Command, []string) error {
	return c.Run(func(cmd *cobra.Command, args []string) error {
		b, err := Open(cmd.Context(), c)
		if err != nil {
			return err
		}
		defer b.Close()
		return fn(cmd, args, b)
	})
}

// On is [Run] for a command on the object whose id is the first argument. what names the argument.
func On(c *console.Console, what string,
	fn func(ctx context.Context, b *Backend, id uuid.UUID) error,
) func(*cobra.Command, []string) error {
	return c.Run(func(cmd *cobra.Command, args []string) error {
		id, err := console.ParseID(what, args[0])
		if err != nil {
			return err
		}
		return Run(c, func(cmd *cobra.Command, _ []string, b *Backend) error { return fn(cmd.Context(), b, id) })(cmd, args)
	})
}

// Open reads the settings, connects to the database and creates the services.
func Open(ctx context.Context, c *console.Console) (*Backend, error) {
	cfg, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	region, err := phone.NewRegion(cfg.Region)
	if err != nil {
		return nil, err
	}
	// The database is opened before the peppers: opening the peppers creates a
	// file where there is none, and a command that cannot reach the database must
	// not leave one behind.
	pool, err := Connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pg.CheckSchema(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	peppers, err := openPeppers(ctx, pool, cfg)
	if err != nil {
		pool.Close()
		return nil, err
	}
	if err := pg.UseRowKeys(ctx, pg.RowKeys{Peppers: peppers}, pool); err != nil {
		pool.Close()
		return nil, err
	}
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: cfg.Argon2MemoryKiB, Time: cfg.Argon2Time, Threads: 1}, cfg.Argon2Parallel, cfg.Argon2Queue)
	b := &Backend{
		Config: cfg, Pool: pool,
		Registry: &registry.Registry{
			Pool: pool, Region: region, Passwords: passwords, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Onboardings: cfg.ClientOnboardings, Now: time.Now,
		},
		Access: &access.Service{
			Pool: pool, Peppers: peppers, TokenLifetime: cfg.TokenLifetime,
			SessionLifetime: cfg.SessionLifetime, SessionIdle: cfg.SessionIdle, Limits: server.Limits(cfg), Now: time.Now,
		},
		Supply: &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Now: time.Now},
	}
	if cfg.DocumentsRestrict {
		b.Access.CheckNewKey = b.Documents().CheckNewKey
	}
	if b.People, err = server.OpenPeople(cfg, pool, peppers, b.Access, b.Registry, passwords); err != nil {
		pool.Close()
		return nil, err
	}
	return b, nil
}

func openPeppers(ctx context.Context, pool *pgxpool.Pool, cfg config.Config) (*secret.Peppers, error) {
	peppers, err := rowmac.OpenPeppers(ctx, pool, cfg.HasPepper(), func() ([]secret.Text, error) {
		list, err := cfg.Peppers()
		if err != nil {
			return nil, &config.Error{Problems: []string{strings.TrimPrefix(err.Error(), "config: ")}}
		}
		return list, nil
	})
	if errors.Is(err, rowmac.ErrPepper) {
		return nil, &config.Error{Problems: []string{err.Error()}}
	}
	return peppers, err
}
