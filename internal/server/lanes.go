package server

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server/config"
)

// lanes are the connection pools of a node, one for each kind of work, so that none of
// them waits for the connections of another: a supplier, an export or a job can use up
// its own lane, and verifications go on.
type lanes struct {
	verify  *pgxpool.Pool // verifications, their records, and the check of their keys
	supply  *pgxpool.Pool // events and orders that are reported to the API
	imports *pgxpool.Pool // files; without a timeout, because a chunk may take as long as it needs
	people  *pgxpool.Pool // the portal, onboarding, documents, and everything else that the API does
	jobs    *pgxpool.Pool // jobs and metrics
	impact  *pgxpool.Pool // the search for past answers that changes make different; without a timeout, because a day of the journal takes as long as it needs
	reader  *pgxpool.Pool // searches and exports, on another server such as a standby; nil without LINEPROOF_READ_DATABASE_URL
}

// openLanes connects to the database. The breaker watches the lane of verifications; while
// it is open, no lane hands out connections.
func openLanes(ctx context.Context, cfg config.Config, breaker *pg.Breaker, metrics *telemetry.Metrics) (l *lanes, err error) {
	l = &lanes{}
	stats := map[string]func() telemetry.PoolStat{}
	for _, lane := range []struct {
		name  string
		pool  **pgxpool.Pool
		conns int
	}{
		{"verify", &l.verify, cfg.VerifyConns},
		{"supply", &l.supply, cfg.SupplyConns},
		{"people", &l.people, cfg.PeopleConns},
		{"jobs", &l.jobs, cfg.JobConns},
		{"imports", &l.imports, config.ImportConns},
		{"impact", &l.impact, config.ImpactConns},
	} {
		o := pg.Options{Name: "lineproof " + lane.name, Role: cfg.DatabaseRole, Conns: int32(lane.conns), StatementTimeout: statementTimeout, Breaker: breaker, Unverified: cfg.UnverifiedDatabase()} //nolint:gosec // at most 1,000
		if lane.pool == &l.imports || lane.pool == &l.impact {
			o.StatementTimeout = 0
		}
		if *lane.pool, err = pg.Open(ctx, cfg.DatabaseURL.Reveal(), o); err != nil {
			l.close()
			return nil, err
		}
		stats[lane.name] = poolStat(*lane.pool)
	}
	if cfg.ReadDatabaseURL != "" { // the service starts without it: only those pages need it
		o := pg.Options{Name: "lineproof read", Role: cfg.DatabaseRole, StatementTimeout: statementTimeout, ReadOnly: true, Lazy: true, Unverified: cfg.UnverifiedDatabase()}
		if l.reader, err = pg.Open(ctx, cfg.ReadDatabaseURL.Reveal(), o); err != nil {
			l.close()
			return nil, err
		}
	}
	metrics.RegisterPools(stats)
	return l, nil
}

func (l *lanes) close() {
	for _, pool := range []*pgxpool.Pool{l.reader, l.impact, l.jobs, l.imports, l.people, l.supply, l.verify} {
		if pool != nil {
			pool.Close()
		}
	}
}

func poolStat(pool *pgxpool.Pool) func() telemetry.PoolStat {
	return func() telemetry.PoolStat {
		s := pool.Stat()
		return telemetry.PoolStat{
			Limit: int(s.MaxConns()), Idle: int(s.IdleConns()), InUse: int(s.AcquiredConns()),
			Waits: s.EmptyAcquireCount(), WaitTime: s.EmptyAcquireWaitTime(),
		}
	}
}
