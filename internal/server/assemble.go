package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/apidocs"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

// service is the assembled service.
type service struct {
	pool         *pgxpool.Pool
	breaker      *pg.Breaker
	access       *access.Service
	stores       *Stores
	imports      *supply.Service // processes imported files on a connection pool of its own
	documents    *document.Store
	metrics      *telemetry.Metrics
	handler      http.Handler
	jobs         *jobs.Client
	certs        *certificates // nil without TLS
	guard        *guard.Guard
	meter        *tally.Meter
	closeLimiter func() error
}

func (s *service) close() {
	_ = s.stores.Close()
	_ = s.closeLimiter()
}

// assemble creates the domain services and the transports, each after those it
// needs.
func assemble(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, breaker *pg.Breaker, importPool *pgxpool.Pool, metrics *telemetry.Metrics, log *slog.Logger) (*service, error) {
	peppers, err := access.OpenPeppers(ctx, pool, cfg.HasPepper(), cfg.Peppers)
	if err != nil {
		return nil, err
	}
	region, err := phone.NewRegion(cfg.Region)
	if err != nil {
		return nil, err
	}
	journalWriter, err := journal.Open(ctx, pool, cfg.Node)
	if err != nil {
		return nil, err
	}
	journalWriter.Observe = observeJournal(metrics)
	stores, err := OpenStores(cfg)
	if err != nil {
		return nil, err
	}
	// Two queues: anyone can flood the login, and onboarding must not wait behind that.
	cost := secret.Cost{MemoryKiB: cfg.Argon2MemoryKiB, Time: cfg.Argon2Time, Threads: 1}
	logins := secret.NewPasswords(cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	onboardings := secret.NewPasswords(cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	metrics.RegisterPasswords(func() int { return logins.InFlight() + onboardings.InFlight() })
	metrics.RegisterPool(poolStat(pool))

	accessService := &access.Service{
		Pool: pool, Breaker: breaker, Peppers: peppers, TokenLifetime: cfg.TokenLifetime, SessionLifetime: cfg.SessionLifetime, SessionIdle: cfg.SessionIdle,
		Grace: cfg.AccessGrace, Limits: Limits(cfg), Now: time.Now, Log: log, OnGrace: metrics.GraceUsed,
	}
	metrics.RegisterListening(accessService.Listening)
	documents, err := OpenDocuments(cfg, pool, stores.Documents)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	if cfg.DocumentsRestrict {
		accessService.CheckNewKey = documents.CheckNewKey
	}
	entities := &registry.Registry{
		Pool: pool, Region: region, Passwords: onboardings, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Now: time.Now,
	}
	peopleService, err := OpenPeople(cfg, pool, peppers, accessService, entities, logins)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	scanGuard, err := openGuard(ctx, cfg, pool, peopleService, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	lines, simulator := &linestore.Resolver{}, sandbox.NewSimulator(cfg.Region)
	supplyService := &supply.Service{Pool: pool, Region: region, Lines: lines, Files: stores.Supplies, Peppers: peppers, Now: time.Now}
	responses := &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now}
	verifier := &verify.Verifier{
		Journal: journalWriter, Breaker: breaker, Lines: lines, Simulator: simulator, Now: time.Now,
		MaxBatch: cfg.VerifyBatch, MaxInFlight: cfg.VerifyFlushes, MaxQueue: cfg.VerifyQueue, Timeout: cfg.VerifyTimeout,
	}
	breaker.Warm, breaker.OnChange = verifier.Warm, logOutages(ctx, log)
	metrics.RegisterWaiting(verifier.Waiting)
	limiter, closeLimiter, err := openLimiter(ctx, cfg, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	tallies, meter := &tally.Tally{Pool: pool, Now: time.Now}, tally.NewMeter(pool, cfg.Node, time.Now, log)
	api := &httpapi.API{
		Access:   accessService,
		Registry: entities, People: peopleService, PublicURL: cfg.PublicURL,
		Documents: documents,
		Verifier:  verifier,
		Sandbox:   &sandbox.Service{Pool: pool, Simulator: simulator, Now: time.Now},
		Record: func(ctx context.Context, id uuid.UUID) (record.Entry, error) {
			return journal.Find(ctx, pool, stores.Journal, id)
		},
		Lines: supplyService, ImportMaxBytes: cfg.ImportMaxBytes, Guard: scanGuard,
		Limits:  httpapi.Limits{By: limiter, Address: addressRate(cfg), Slowed: scanGuard.Slowed, Known: accessService.HasCached},
		Answers: responses, Region: region, Log: log, Metrics: metrics, Docs: apidocs.Handler(), Ended: countEnd(meter),
		RegulatorCode: cfg.RegulatorCode, Proxies: cfg.TrustedProxies, Traced: cfg.TracesEndpoint != "",
		Timeouts: httpapi.Timeouts{Upload: cfg.UploadTimeout, Import: cfg.ImportTimeout, Request: cfg.RequestTimeout},
	}
	queue, err := jobs.New(&jobs.Jobs{
		Pool: pool, Access: accessService, Answers: responses, People: peopleService, DaysAhead: cfg.JournalDaysAhead, Ahead: metrics.JournalDaysAhead, Now: time.Now, Log: log,
		Documents: documents, Scanner: documents.Scanner, Scanned: metrics.DocumentScanned, Removed: metrics.DocumentFilesRemoved,
		Tally: tallies, Counted: metrics.TallySettled, Supply: supplyService,
	})
	if err != nil {
		return nil, errors.Join(err, stores.Close(), closeLimiter())
	}
	imports := *supplyService
	imports.Pool = importPool
	handler := api.Handler()
	if cfg.Portal {
		handler = besideAPI(handler, portalHandler(pool, api, handler, tallies, simulator))
	}
	return &service{pool: pool, breaker: breaker, access: accessService, stores: stores, imports: &imports, documents: documents, metrics: metrics, handler: handler, jobs: queue, guard: scanGuard, meter: meter, closeLimiter: closeLimiter}, nil
}

func observeJournal(m *telemetry.Metrics) func(int, time.Duration, error) {
	return func(entries int, took time.Duration, err error) {
		switch {
		case err == nil:
			m.JournalWritten(entries, took)
		case errors.Is(err, pg.ErrUnknown):
			m.JournalUnknown(entries)
		default:
			m.JournalRefused(entries)
		}
	}
}

// countEnd counts how requests to verify ended. Client errors (4xx) count as
// refused and not as failed.
func countEnd(m *tally.Meter) func(httpapi.End) {
	return func(e httpapi.End) {
		switch {
		case e.Status >= http.StatusInternalServerError:
			m.Record(e.Entity, e.Mode, tally.Failed, 0)
		case e.Status >= http.StatusBadRequest:
			m.Record(e.Entity, e.Mode, tally.Refused, 0)
		case e.Single:
			m.Record(e.Entity, e.Mode, tally.Answered, e.Took)
		default:
			m.Record(e.Entity, e.Mode, tally.Answered, 0)
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
