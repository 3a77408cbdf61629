package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/distribute"
	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/filejob"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi/bankapi"
	"github.com/lineproof/lineproof/internal/impact"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/outbox"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/watchlist"
)

// feeds is what tells organisations about changes.
type feeds struct {
	feed        *feed.Service
	distributor *distribute.Distributor
	impact      *impact.Teller
	lists       *watchlist.Service
	api         *bankapi.API
	// close lets go whoever waits for a feed or streams it.
	close func()
}

func openFeeds(l *lanes, scanGuard *guard.Guard, lines *linestore.Resolver, simulator *sandbox.Simulator, region *phone.Region, metrics *telemetry.Metrics) feeds {
	closing := make(chan struct{})
	f := feeds{
		distributor: distribute.New(&distribute.Distributor{Pool: l.jobs, Lines: lines, Now: time.Now, Distributed: metrics.ChangesDistributed}),
		lists:       &watchlist.Service{Pool: l.people, Guard: scanGuard, Lines: lines, Now: time.Now},
		close:       sync.OnceFunc(func() { close(closing) }),
	}
	f.feed = &feed.Service{Pool: l.people, Now: time.Now}
	f.api = &bankapi.API{
		Lists: f.lists, Feed: f.feed, Notices: &impact.Notices{Pool: l.people, Now: time.Now}, Sandbox: &sandbox.Service{Pool: l.people, Simulator: simulator, Now: time.Now},
		Tests: &distribute.Tests{Simulator: simulator, Lines: lines}, Region: region, Closing: closing,
	}
	return f
}

// channels are those whose notifications wake the feeds and the distributor.
func (f *feeds) channels() []pg.Channel {
	return []pg.Channel{f.feed.Channel(), {
		Name: pg.Named(outbox.Channel), Notified: func(string) { f.distributor.Wake() }, Listening: func(bool) { f.distributor.Wake() },
	}}
}

// openImpact returns what tells organisations of past answers. A verification that began
// before a change is over after the timeout of a request, a chunk of a file after its own, and
// the commit of either 5 s later.
func openImpact(ctx context.Context, cfg config.Config, l *lanes, lines *linestore.Resolver, archives blob.Store, metrics *telemetry.Metrics, log *slog.Logger) *impact.Teller {
	told := func(notices int, oldest time.Duration) {
		metrics.NoticesTold(notices)
		log.LogAttrs(ctx, slog.LevelInfo, "told organisations of past answers that would be different", slog.Int("notices", notices), slog.Float64("seconds_since_report", oldest.Seconds()))
	}
	return impact.New(&impact.Teller{Pool: l.impact, Files: archives, Lines: lines, Now: time.Now, Settle: max(cfg.RequestTimeout, filejob.ChunkTime) + 5*time.Second, Told: told})
}

// run tells organisations about changes until ctx ends.
func (f *feeds) run(ctx context.Context, log *slog.Logger) {
	var group sync.WaitGroup
	group.Go(func() { f.feed.Run(ctx) })
	group.Go(func() { f.distributor.Run(ctx, log) })
	group.Go(func() { f.impact.Run(ctx, log) })
	group.Wait()
}

// feedsInterval is how often the metrics of feeds and file jobs are updated.
const feedsInterval = 15 * time.Second

// watchFeeds updates the metrics of what waits to be told, and of files of numbers, until
// ctx ends. Every node does it, because the one that tells may be the one that hangs.
func (s *service) watchFeeds(ctx context.Context) error {
	return every(ctx, feedsInterval, func() {
		queryCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if lag, err := outbox.Lag(queryCtx, s.feeds.feed.Pool, time.Now()); err == nil { // an outage is already in the log
			s.metrics.OutboxLag(lag)
		}
		if jobs, oldest, err := s.fileJobs.api.CountOpen(queryCtx); err == nil {
			var age time.Duration
			if jobs > 0 {
				age = max(0, time.Since(oldest))
			}
			s.metrics.FileJobsOpen(jobs, age)
		}
	})
}
