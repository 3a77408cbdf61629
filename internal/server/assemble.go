package server

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/server/nodes"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// service is one node: what all its parts use, and the parts.
type service struct {
	cfg     config.Config
	log     *slog.Logger
	metrics *telemetry.Metrics
	breaker *pg.Breaker
	lanes   *lanes
	peppers *secret.Peppers
	stores  *Stores
	region  *phone.Region

	access    *access.Service
	entities  *registry.Registry
	people    *people.People
	documents *document.Store
	guard     *guard.Guard
	limiter   limit.Limiter
	responses *idempotency.Store
	refused   *requestlog.Log

	lines     *linestore.Resolver
	simulator *sandbox.Simulator
	journal   *journal.Journal
	verifier  *verify.Verifier
	public    publicLog
	tallies   *tally.Tally
	meter     *tally.Meter

	feed        *feed.Service
	distributor *distribute.Distributor
	lists       *watchlist.Service
	webhooks    *webhook.Service
	sender      *webhook.Sender
	impact      *impact.Teller
	fileJobs    fileJobs

	handler  http.Handler
	closing  chan struct{} // closed when whoever waits for a feed, or streams it, is to be let go
	listener *pg.Listener
	jobs     *jobs.Client
	node     *nodes.Recorder
	certs    *certificates // nil without TLS

	closers []func() // of what is open, in the order in which it was opened
}

// open opens the parts of the service, each after those that it uses.
func (s *service) open(ctx context.Context) error {
	for _, open := range []func(context.Context) error{
		s.openDatabase, s.openStores, s.openAccess, s.openGuard, s.openLimiter, s.openAnswers, s.openPublicLog, s.openFeeds,
		s.openWebhooks, s.openFileJobs, s.openWeb, s.openJobs, s.openNode, s.openCertificates,
	} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close closes what is open, the last first.
func (s *service) close() {
	for _, c := range slices.Backward(s.closers) {
		c()
	}
}

func (s *service) openStores(context.Context) (err error) {
	if s.stores, err = OpenStores(s.cfg); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { _ = s.stores.Close() })
	return nil
}

func (s *service) openJobs(context.Context) (err error) {
	m := s.metrics
	s.jobs, err = jobs.New(&jobs.Jobs{
		Pool: s.lanes.jobs, Access: s.access, Answers: s.responses, People: s.people, Tally: s.tallies, Supply: s.supply(s.lanes.jobs),
		Documents: s.documents, Scanner: s.documents.Scanner, Scanned: m.DocumentScanned, Removed: m.DocumentFilesRemoved,
		DaysAhead: s.cfg.JournalDaysAhead, Ahead: m.JournalDaysAhead, Counted: m.TallySettled, Worked: m.JobWorked, Now: time.Now, Log: s.log,
	})
	m.RegisterJobs(jobs.Kinds())
	return err
}
