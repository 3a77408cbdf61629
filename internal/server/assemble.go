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
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

// service is everything that runs.
type service struct {
	pool      *pgxpool.Pool
	breaker   *pg.Breaker
	keeper    *access.Keeper
	stores    *Stores
	imports   *supply.Desk // works on the files, on connections of its own
	documents *document.Store
	metrics   *telemetry.Metrics
	handler   http.Handler
	jobs      *jobs.Client
	certs     *certificates // nil without TLS
	guard     *guard.Guard
	meter     *tally.Meter
	unlimit   func() error // lets go of what counts the rates
}

func (s *service) close() {
	_ = s.stores.Close()
	_ = s.unlimit()
}

// assemble wires the domain packages and the transports. It reads from top to
// bottom: what stands below needs what stands above.
func assemble(ctx context.Context, cfg config.Config, pool *pgxpool.Pool, breaker *pg.Breaker, importPool *pgxpool.Pool, metrics *telemetry.Metrics, log *slog.Logger) (*service, error) {
	peppers, err := access.OpenPeppers(ctx, pool, cfg.HasPepper(), cfg.Peppers)
	if err != nil {
		return nil, err
	}
	region, err := phone.NewRegion(cfg.Region)
	if err != nil {
		return nil, err
	}
	records, err := journal.Open(ctx, pool, cfg.Node)
	if err != nil {
		return nil, err
	}
	records.Observe = observeJournal(metrics)
	stores, err := OpenStores(cfg)
	if err != nil {
		return nil, err
	}
	// Two queues: anybody can flood the login, and onboarding must not wait there.
	cost := secret.Cost{MemoryKiB: cfg.Argon2MemoryKiB, Time: cfg.Argon2Time, Threads: 1}
	logins := secret.NewPasswords(cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	onboardings := secret.NewPasswords(cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	metrics.RegisterPasswords(func() int { return logins.InFlight() + onboardings.InFlight() })
	metrics.RegisterPool(poolStat(pool))

	keeper := &access.Keeper{
		Pool: pool, Breaker: breaker, Peppers: peppers, TokenLifetime: cfg.TokenLifetime, SessionLifetime: cfg.SessionLifetime, SessionIdle: cfg.SessionIdle,
		Grace: cfg.AccessGrace, Limits: Limits(cfg), Now: time.Now, Log: log, Graced: metrics.Graced,
	}
	metrics.RegisterHearing(keeper.Hearing)
	papers, err := OpenDocuments(cfg, pool, stores.Documents)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	if cfg.DocumentsRestrict {
		keeper.MayMakeKey = papers.MayMakeKey
	}
	register := &registry.Registry{
		Pool: pool, Region: region, Passwords: onboardings, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Now: time.Now,
	}
	persons, err := OpenPeople(cfg, pool, peppers, keeper, register, logins)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	watchman, err := openGuard(ctx, cfg, pool, persons, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	lines, stage := &line.Almanac{}, rehearsal.NewStage(cfg.Region)
	desk := &supply.Desk{Pool: pool, Region: region, Lines: lines, Files: stores.Supplies, Peppers: peppers, Now: time.Now}
	answers := &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now}
	verifier := &verify.Verifier{
		Journal: records, Breaker: breaker, Lines: lines, Stage: stage, Now: time.Now,
		Batch: cfg.VerifyBatch, Flushes: cfg.VerifyFlushes, Queue: cfg.VerifyQueue, Patience: cfg.VerifyTimeout,
	}
	breaker.Warm, breaker.Changed = verifier.Warm, sayAway(ctx, log)
	metrics.RegisterWaiting(verifier.Waiting)
	limiter, unlimit, err := openLimiter(ctx, cfg, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	counts, meter := &tally.Tally{Pool: pool, Now: time.Now}, tally.NewMeter(pool, cfg.Node, time.Now, log)
	api := &httpapi.API{
		Keeper:   keeper,
		Registry: register, People: persons, PublicURL: cfg.PublicURL,
		Documents: papers,
		Verifier:  verifier,
		Rehearsal: &rehearsal.Desk{Pool: pool, Stage: stage, Now: time.Now},
		Record: func(ctx context.Context, id uuid.UUID) (journal.Entry, error) {
			return journal.Find(ctx, pool, stores.Journal, id)
		},
		Lines: desk, ImportMaxBytes: cfg.ImportMaxBytes, Guard: watchman,
		Limits:  httpapi.Limits{By: limiter, Address: addressRate(cfg), Slowed: watchman.Slowed, Known: keeper.Knows},
		Answers: answers, Region: region, Log: log, Metrics: metrics, Docs: apidocs.Handler(), Ended: noteEnd(meter),
		RegulatorCode: cfg.RegulatorCode, Proxies: cfg.TrustedProxies, Traced: cfg.TracesEndpoint != "",
		Timeouts: httpapi.Timeouts{Upload: cfg.UploadTimeout, Import: cfg.ImportTimeout, Request: cfg.RequestTimeout},
	}
	queue, err := jobs.New(&jobs.Jobs{
		Pool: pool, Keeper: keeper, Answers: answers, People: persons, DaysAhead: cfg.JournalDaysAhead, Ahead: metrics.JournalDaysAhead, Now: time.Now, Log: log,
		Documents: papers, Scanner: papers.Scanner, Scanned: metrics.DocumentScanned, Removed: metrics.DocumentFilesRemoved,
		Tally: counts, Counted: metrics.TallySettled, Supply: desk,
	})
	if err != nil {
		return nil, errors.Join(err, stores.Close(), unlimit())
	}
	imports := *desk
	imports.Pool = importPool
	handler := api.Handler()
	if cfg.Portal {
		pages := &portal.Portal{
			Pool: pool, Keeper: keeper, Registry: register, People: persons, Documents: papers, Lines: desk,
			Approvals: &approval.Desk{Pool: pool, Effects: register.Effects(), Now: time.Now}, Guard: watchman, Tally: counts, Record: api.Record, Stage: stage,
			Region: region, Log: log, Metrics: metrics, API: handler, Limiter: limiter, Address: addressRate(cfg),
			RegulatorCode: cfg.RegulatorCode, PublicURL: cfg.PublicURL, ImportMaxBytes: cfg.ImportMaxBytes, Proxies: cfg.TrustedProxies, Now: time.Now,
		}
		handler = besideAPI(handler, pages.Handler())
	}
	return &service{pool: pool, breaker: breaker, keeper: keeper, stores: stores, imports: &imports, documents: papers, metrics: metrics, handler: handler, jobs: queue, guard: watchman, meter: meter, unlimit: unlimit}, nil
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

// noteEnd counts how requests to verify end. What a caller could have asked
// better is no failure of ours.
func noteEnd(m *tally.Meter) func(httpapi.End) {
	return func(e httpapi.End) {
		switch {
		case e.Status >= http.StatusInternalServerError:
			m.Note(e.Entity, e.Mode, tally.Failed, 0)
		case e.Status >= http.StatusBadRequest:
			m.Note(e.Entity, e.Mode, tally.Refused, 0)
		case e.Single:
			m.Note(e.Entity, e.Mode, tally.Answered, e.Took)
		default:
			m.Note(e.Entity, e.Mode, tally.Answered, 0)
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
