package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/apidocs"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/guide"
	"github.com/lineproof/lineproof/internal/hashing"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/nodes"
	"github.com/lineproof/lineproof/internal/peppercheck"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/requestlog"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
	"github.com/lineproof/lineproof/internal/webhook"
)

// service is the assembled service.
type service struct {
	pool         *pgxpool.Pool
	journal      *journal.Journal
	breaker      *pg.Breaker
	access       *access.Service
	listener     *pg.Listener
	stores       *Stores
	imports      *supply.Service // processes imported files, in a lane of its own
	watched      *supply.Service // reads the state of the supply, in the lane of jobs
	documents    *document.Store
	metrics      *telemetry.Metrics
	handler      http.Handler
	jobs         *jobs.Client
	certs        *certificates // nil without TLS
	guard        *guard.Guard
	meter        *tally.Meter
	refused      *requestlog.Log
	log          publicLog
	feeds        feeds
	fileJobs     fileJobs
	webhooks     *webhook.Sender
	node         *nodes.Recorder
	closeLimiter func() error
}

func (s *service) close() {
	_ = s.stores.Close()
	_ = s.closeLimiter()
	s.log.close()
}

// assemble creates the domain services and the transports, each after those it
// needs.
func assemble(ctx context.Context, cfg config.Config, l *lanes, breaker *pg.Breaker, hasher *hashing.Process, metrics *telemetry.Metrics, log *slog.Logger) (*service, error) {
	peppers, err := peppercheck.Open(ctx, l.verify, cfg.HasPepper(), cfg.Peppers)
	if err != nil {
		return nil, err
	}
	if err := pg.UseRowKeys(ctx, rowKeys(ctx, peppers, metrics, log), l.verify, l.supply, l.imports, l.people, l.jobs); err != nil {
		return nil, err
	}
	region, err := phone.NewRegion(cfg.Region)
	if err != nil {
		return nil, err
	}
	journalWriter, err := journal.Open(ctx, l.verify, cfg.Node, cfg.VerifyFlushes)
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
	logins := secret.NewPasswords(peppers, cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	onboardings := secret.NewPasswords(peppers, cost, cfg.Argon2Parallel, cfg.Argon2Queue)
	logins.Derive, onboardings.Derive = hasher.Derive, hasher.Derive
	metrics.RegisterPasswords(func() int { return logins.InFlight() + onboardings.InFlight() })

	accessService := &access.Service{
		Pool: l.people, Gate: l.verify, Breaker: breaker, Peppers: peppers, TokenLifetime: cfg.TokenLifetime, SessionLifetime: cfg.SessionLifetime, SessionIdle: cfg.SessionIdle,
		Grace: cfg.AccessGrace, Limits: Limits(cfg), Now: time.Now, OnGrace: metrics.GraceUsed,
	}
	metrics.RegisterListening(accessService.Listening)
	documents, err := OpenDocuments(cfg, l.people, stores.Documents)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	if cfg.DocumentsRestrict {
		accessService.CheckNewKey = documents.CheckNewKey
	}
	entities := &registry.Registry{
		Pool: l.people, Region: region, Passwords: onboardings, PasswordMin: cfg.PasswordMin, CACUnique: cfg.CACUnique, Onboardings: cfg.ClientOnboardings, Now: time.Now,
	}
	peopleService, err := OpenPeople(cfg, l.people, peppers, accessService, entities, logins)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	scanGuard, err := openGuard(ctx, cfg, l.verify, peopleService, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	lines, simulator := &linestore.Resolver{}, sandbox.NewSimulator(cfg.Region)
	told := openFeeds(l, scanGuard, lines, simulator, region, metrics)
	webhooks, sender := openWebhooks(cfg, l, told.feed, peopleService, peppers, metrics, log)
	told.api.Webhooks, told.impact = webhooks, openImpact(ctx, cfg, l, lines, stores.Journal, metrics, log)
	supplyService := &supply.Service{
		Pool: l.supply, Region: region, Lines: lines, Files: stores.Supplies, Peppers: peppers, Now: time.Now,
		Limits: supply.ImportLimits{Rows: cfg.ImportMaxRows, CheckTime: cfg.ImportCheckTimeout},
	}
	responses := &idempotency.Store{Pool: l.people, Peppers: peppers, Now: time.Now}
	verifier := &verify.Verifier{
		Journal: journalWriter, Breaker: breaker, Lines: lines, Simulator: simulator, Now: time.Now,
		MaxBatch: cfg.VerifyBatch, MaxInFlight: cfg.VerifyFlushes, MaxQueue: cfg.VerifyQueue, Timeout: cfg.VerifyTimeout,
	}
	files, err := openFileJobs(ctx, cfg, l, stores.Jobs, verifier, scanGuard, accessService, region, metrics)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	told.api.Jobs = files.api
	breaker.Warm, breaker.OnChange = verifier.Warm, (&outages{ctx: ctx, log: log, metrics: metrics}).change
	metrics.RegisterWaiting(verifier.Waiting)
	limiter, closeLimiter, err := openLimiter(ctx, cfg, metrics, log)
	if err != nil {
		return nil, errors.Join(err, stores.Close())
	}
	tallies, meter := &tally.Tally{Pool: l.people, Read: l.reader, Now: time.Now}, tally.NewMeter(l.verify, cfg.Node, time.Now, log)
	refused := requestlog.New(l.jobs, peppers, time.Now, log, metrics.RequestLogDropped)
	public, err := openPublicLog(ctx, cfg, l.jobs, stores.Log, metrics)
	if err != nil {
		return nil, errors.Join(err, stores.Close(), closeLimiter())
	}
	verifier.Promises = public.promises
	api := &httpapi.API{
		Access:   accessService,
		Registry: entities, People: peopleService, PublicURL: cfg.PublicURL,
		Documents: documents,
		Verifier:  verifier,
		Bank:      told.api,
		Record: func(ctx context.Context, id uuid.UUID) (record.Entry, error) {
			return journal.Find(ctx, l.people, stores.Journal, id)
		},
		Lines: supplyService, ImportMaxBytes: cfg.ImportMaxBytes, Guard: scanGuard,
		Limits:  callerLimits(cfg, limiter, accessService, scanGuard),
		Answers: responses, Region: region, Log: log, Metrics: metrics, Docs: documentation(&cfg), LogFiles: public.files, Receipts: public.receipts(l.people, stores), Ended: countEnd(meter), Refused: refused.Add,
		RegulatorCode: cfg.RegulatorCode, Proxies: cfg.TrustedProxies, Traced: cfg.TracesEndpoint != "",
		Timeouts: httpapi.Timeouts{Upload: cfg.UploadTimeout, Import: cfg.ImportTimeout, Request: cfg.RequestTimeout},
	}
	imports, watched := *supplyService, *supplyService
	imports.Pool, watched.Pool = l.imports, l.jobs
	queue, err := jobs.New(&jobs.Jobs{
		Pool: l.jobs, Access: accessService, Answers: responses, People: peopleService, DaysAhead: cfg.JournalDaysAhead, Ahead: metrics.JournalDaysAhead, Now: time.Now, Log: log,
		Documents: documents, Scanner: documents.Scanner, Scanned: metrics.DocumentScanned, Removed: metrics.DocumentFilesRemoved,
		Tally: tallies, Counted: metrics.TallySettled, Supply: &watched, Worked: metrics.JobWorked,
	})
	if err != nil {
		return nil, errors.Join(err, stores.Close(), closeLimiter())
	}
	metrics.RegisterJobs(jobs.Kinds())
	handler := api.Handler()
	if cfg.Portal {
		handler = besideAPI(handler, portalHandler(l.people, api, handler, tallies, simulator, webhooks, stores.Journal, public.policy))
	}
	listener := &pg.Listener{Pool: l.people, Breaker: breaker, Log: log, Channels: append(told.channels(), accessService.Channel())}
	return &service{pool: l.verify, listener: listener, journal: journalWriter, breaker: breaker, access: accessService, stores: stores, imports: &imports, watched: &watched, documents: documents, metrics: metrics, handler: handler, jobs: queue, guard: scanGuard, meter: meter, refused: refused, log: public, feeds: told, fileJobs: files, webhooks: sender, node: recordNode(ctx, cfg, l.jobs, peppers, log), closeLimiter: closeLimiter}, nil
}

// documentation serves the API reference and the guide.
func documentation(cfg *config.Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", apidocs.Handler())
	pages := guide.Handler(guide.Options{Portal: cfg.Portal, PublicURL: cfg.PublicURL})
	mux.Handle(strings.TrimSuffix(guide.Root, "/"), pages)
	mux.Handle(guide.Root, pages)
	return mux
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
		case e.Code != "":
			m.RecordKey(e.Entity, e.Key, e.Mode, string(e.Code), 1)
		case e.Answer != "":
			m.RecordKey(e.Entity, e.Key, e.Mode, string(e.Answer), 1)
		}
		for status, n := range e.Answers {
			m.RecordKey(e.Entity, e.Key, e.Mode, string(status), n)
		}
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
