package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/apidocs"
	"github.com/lineproof/lineproof/internal/blob"
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
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/rehearsal"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

// service is everything that runs.
type service struct {
	pool     *pgxpool.Pool
	breaker  *pg.Breaker
	keeper   *access.Keeper
	files    *blob.Dir
	supplies *blob.Dir
	archive  *blob.Dir    // days of the journal
	imports  *supply.Desk // works on the files, on connections of its own
	metrics  *telemetry.Metrics
	handler  http.Handler
	jobs     *jobs.Client
	certs    *certificates // nil without TLS
	guard    *guard.Guard
	unlimit  func() error // lets go of what counts the rates
}

func (s *service) close() {
	_ = s.files.Close()
	_ = s.supplies.Close()
	_ = s.archive.Close()
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
	files, err := blob.OpenDir(filepath.Join(cfg.Data, "documents"))
	if err != nil {
		return nil, fmt.Errorf("server: keep documents in LINEPROOF_DATA: %w", err)
	}
	supplies, err := blob.OpenDir(filepath.Join(cfg.Data, "supplies"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server: keep supplies in LINEPROOF_DATA: %w", err), files.Close())
	}
	archive, err := blob.OpenDir(filepath.Join(cfg.Data, "journal"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server: read archived days in LINEPROOF_DATA: %w", err), files.Close(), supplies.Close())
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
	register := &registry.Registry{
		Pool: pool, Region: region, Passwords: onboardings, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Now: time.Now,
	}
	persons, err := OpenPeople(cfg, pool, peppers, keeper, register, logins)
	if err != nil {
		return nil, errors.Join(err, files.Close(), supplies.Close(), archive.Close())
	}
	watchman, err := openGuard(ctx, cfg, pool, persons, metrics, log)
	if err != nil {
		return nil, errors.Join(err, files.Close(), supplies.Close(), archive.Close())
	}
	lines, stage := &line.Almanac{}, rehearsal.NewStage(cfg.Region)
	desk := &supply.Desk{Pool: pool, Region: region, Lines: lines, Files: supplies, Now: time.Now}
	answers := &idempotency.Store{Pool: pool, Peppers: peppers, Now: time.Now}
	verifier := &verify.Verifier{
		Journal: records, Breaker: breaker, Lines: lines, Stage: stage, Now: time.Now,
		Batch: cfg.VerifyBatch, Flushes: cfg.VerifyFlushes, Queue: cfg.VerifyQueue, Patience: cfg.VerifyTimeout,
	}
	breaker.Warm, breaker.Changed = verifier.Warm, sayAway(log)
	metrics.RegisterWaiting(verifier.Waiting)
	limiter, unlimit, err := openLimiter(ctx, cfg, metrics, log)
	if err != nil {
		return nil, errors.Join(err, files.Close(), supplies.Close(), archive.Close())
	}
	api := &httpapi.API{
		Keeper:   keeper,
		Registry: register, People: persons, PublicURL: cfg.PublicURL,
		Documents: &document.Store{
			Pool: pool, Files: files, MaxBytes: cfg.UploadMaxBytes, Strict: cfg.DocumentTypesStrict, Now: time.Now,
		},
		Verifier:  verifier,
		Rehearsal: &rehearsal.Desk{Pool: pool, Stage: stage, Now: time.Now},
		Record: func(ctx context.Context, id uuid.UUID) (journal.Entry, error) {
			return journal.Find(ctx, pool, archive, id)
		},
		Lines: desk, ImportMaxBytes: cfg.ImportMaxBytes, Guard: watchman,
		Limits:  httpapi.Limits{By: limiter, Address: addressRate(cfg), Slowed: watchman.Slowed, Known: keeper.Knows},
		Answers: answers, Region: region, Log: log, Metrics: metrics, Docs: apidocs.Handler(),
		RegulatorCode: cfg.RegulatorCode, Proxies: cfg.TrustedProxies, Traced: cfg.TracesEndpoint != "",
		Timeouts: httpapi.Timeouts{Upload: cfg.UploadTimeout, Import: cfg.ImportTimeout, Request: cfg.RequestTimeout},
	}
	queue, err := jobs.New(&jobs.Jobs{
		Pool: pool, Keeper: keeper, Answers: answers, People: persons, DaysAhead: cfg.JournalDaysAhead, Ahead: metrics.JournalDaysAhead, Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, files.Close(), supplies.Close(), archive.Close(), unlimit())
	}
	imports := *desk
	imports.Pool = importPool
	return &service{pool: pool, breaker: breaker, keeper: keeper, files: files, supplies: supplies, archive: archive, imports: &imports, metrics: metrics, handler: api.Handler(), jobs: queue, guard: watchman, unlimit: unlimit}, nil
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

func poolStat(pool *pgxpool.Pool) func() telemetry.PoolStat {
	return func() telemetry.PoolStat {
		s := pool.Stat()
		return telemetry.PoolStat{
			Limit: int(s.MaxConns()), Idle: int(s.IdleConns()), InUse: int(s.AcquiredConns()),
			Waits: s.EmptyAcquireCount(), WaitTime: s.EmptyAcquireWaitTime(),
		}
	}
}
