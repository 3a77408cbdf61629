package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/answer/impact"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/distribute"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// openFeeds opens what tells organisations about changes.
func (s *service) openFeeds(ctx context.Context) error {
	s.feed = &feed.Service{Pool: s.lanes.people, Now: time.Now}
	s.lists = &watchlist.Service{Pool: s.lanes.people, Guard: s.guard, Lines: s.lines, Now: time.Now, Turns: pause.NewTurns(1)}
	s.distributor = distribute.New(&distribute.Distributor{Pool: s.lanes.jobs, Lines: s.lines, Now: time.Now, Distributed: s.metrics.ChangesDistributed})
	s.impact = impact.New(&impact.Teller{
		Pool: s.lanes.impact, Files: s.stores.Journal, Lines: s.lines, Now: time.Now,
		// A verification that began before a change is over after the timeout of a request, a chunk
		// of a file after its own, and the commit of either 5 s later.
		Settle: max(s.cfg.RequestTimeout, filejob.ChunkTime) + 5*time.Second,
		Told: func(notices int, oldest time.Duration) {
			s.metrics.NoticesTold(notices)
			s.log.LogAttrs(ctx, slog.LevelInfo, "told organisations of past answers that would be different", slog.Int("notices", notices), slog.Float64("seconds_since_report", oldest.Seconds()))
		},
	})
	wake := pg.Channel{Name: pg.Named(outbox.Channel), Notified: func(string) { s.distributor.Wake() }, Listening: func(bool) { s.distributor.Wake() }}
	s.listener = &pg.Listener{Pool: s.lanes.people, Breaker: s.breaker, Log: s.log, Channels: []pg.Channel{s.feed.Channel(), wake, s.access.Channel()}}
	return nil
}

// feedsInterval is how often the metrics of feeds and file jobs are updated.
const feedsInterval = 15 * time.Second

// watchFeeds updates the metrics of what waits to be told, and of files of numbers, until
// ctx ends. Every node does it, because the one that tells may be the one that hangs.
func (s *service) watchFeeds(ctx context.Context) {
	pause.Loop{Interval: feedsInterval, Limit: queryTime}.Run(ctx, func(ctx context.Context) error {
		if lag, err := outbox.Lag(ctx, s.lanes.people, time.Now()); err == nil { // an outage is already in the log
			s.metrics.OutboxLag(lag)
		}
		if jobs, oldest, err := s.fileJobs.api.CountOpen(ctx); err == nil {
			var age time.Duration
			if jobs > 0 {
				age = max(0, time.Since(oldest))
			}
			s.metrics.FileJobsOpen(jobs, age)
		}
		return nil
	})
}
