// Package server puts the service together and keeps it standing.
//
// Things are started in the order in which they depend on each other and
// stopped in the reverse of it: first the node says that it is not ready, then
// the public listener closes and the requests in flight are answered, then the
// jobs end, then the database is let go. The private listener ends last, so
// that whoever watches sees the whole of it.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// statementTimeout bounds one statement of the serving role.
const statementTimeout = 5 * time.Second

// importConns are for the import that runs: its lock, its chunks, its progress.
const importConns = 3

// Run serves until ctx ends, then lets the requests in flight finish.
func Run(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	flush, err := telemetry.Traces(ctx, cfg.TracesEndpoint, telemetry.Version(), log)
	if err != nil {
		return err
	}
	defer func() { _ = flush(context.WithoutCancel(ctx)) }()
	// What lives is small and what is dropped is much: with the usual setting a
	// seventh of the work is collecting. GOGC still has the last word.
	if was := debug.SetGCPercent(400); was != 100 {
		debug.SetGCPercent(was)
	}

	breaker := &pg.Breaker{}
	pool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{
		Breaker: breaker, Role: cfg.DatabaseRole, Conns: int32(cfg.DatabaseConns), StatementTimeout: statementTimeout, //nolint:gosec // at most 1,000
	})
	if err != nil {
		return err
	}
	defer pool.Close()
	defer breaker.Close()
	// Files are taken in on connections of their own, so that no question waits
	// for one of them, and a chunk may take as long as it takes.
	importPool, err := pg.Open(ctx, cfg.DatabaseURL.Reveal(), pg.Options{Role: cfg.DatabaseRole, Conns: importConns})
	if err != nil {
		return err
	}
	defer importPool.Close()
	metrics := telemetry.NewMetrics()
	if err := prepare(ctx, pool, cfg, metrics); err != nil {
		return err
	}
	s, err := assemble(ctx, cfg, pool, breaker, importPool, metrics, log)
	if err != nil {
		return err
	}
	defer s.close()

	if cfg.TLSCert != "" {
		// Before anything is promised: a wrong pair must not look like a start.
		if s.certs, err = newCertificates(ctx, cfg.TLSCert, cfg.TLSKey, metrics, log); err != nil {
			return err
		}
	}
	public, err := listen(ctx, "LINEPROOF_LISTEN", cfg.Listen)
	if err != nil {
		return err
	}
	private, err := listen(ctx, "LINEPROOF_PRIVATE_LISTEN", cfg.PrivateListen)
	if err != nil {
		return errors.Join(err, public.Close())
	}
	return s.run(ctx, cfg, log, public, private)
}

// prepare checks that the schema is there and that the journal has where to
// write, before anything is promised to anybody.
func prepare(ctx context.Context, pool *pgxpool.Pool, cfg config.Config, metrics *telemetry.Metrics) error {
	if err := pg.CheckSchema(ctx, pool); err != nil {
		return err
	}
	if _, err := journal.MakePartitions(ctx, pool, cfg.JournalDaysAhead); err != nil {
		return err
	}
	ahead, err := journal.DaysAhead(ctx, pool, time.Now())
	if err != nil {
		return err
	}
	metrics.JournalDaysAhead(ahead)
	return nil
}

func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("server: %s: %w", setting, err)
	}
	return ln, nil
}

// run serves on both listeners until ctx ends or one of them breaks.
func (s *service) run(ctx context.Context, cfg config.Config, log *slog.Logger, public, private net.Listener) error {
	var draining atomic.Bool
	front := newServer(s.handler, log)
	back := newServer(s.private(&draining), log)
	back.WriteTimeout = 2 * time.Minute // a CPU profile takes as long as one asks

	group, groupCtx := errgroup.WithContext(ctx)
	if err := s.jobs.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(fmt.Errorf("server: start the jobs: %w", err), public.Close(), private.Close())
	}
	group.Go(func() error { return serve(back, private) })
	group.Go(func() error {
		if s.certs == nil {
			return serve(front, public)
		}
		front.TLSConfig = s.certs.config()
		return ended(front.ServeTLS(public, "", ""))
	})
	group.Go(func() error { return s.watch(groupCtx) })
	group.Go(func() error { return s.watchSupply(groupCtx, log) })
	group.Go(func() error { return s.watchRoom(groupCtx, cfg.JournalDiskBytes) })
	group.Go(func() error { return s.watchDocuments(groupCtx) })
	group.Go(func() error { return s.watchScanner(groupCtx, log) })
	group.Go(func() error {
		s.imports.Work(groupCtx, log)
		return nil
	})
	group.Go(func() error {
		s.keeper.Listen(groupCtx)
		return nil
	})
	group.Go(func() error {
		s.guard.Run(groupCtx)
		return nil
	})
	group.Go(func() error {
		s.meter.Run(groupCtx)
		return nil
	})
	group.Go(func() error {
		<-groupCtx.Done()
		draining.Store(true)
		log.LogAttrs(ctx, slog.LevelInfo, "draining")
		return s.drain(context.WithoutCancel(ctx), cfg, front, back)
	})
	log.LogAttrs(ctx, slog.LevelInfo, "listening", slog.String("public", public.Addr().String()),
		slog.String("private", private.Addr().String()), slog.Bool("tls", cfg.TLSCert != ""))
	err := group.Wait()
	log.LogAttrs(ctx, slog.LevelInfo, "stopped")
	return err
}

// drain ends things in order. Each step has its time, so that a stuck request
// cannot hold up the rest for ever.
func (s *service) drain(ctx context.Context, cfg config.Config, front, back *http.Server) error {
	if cfg.DrainDelay > 0 {
		<-time.After(cfg.DrainDelay)
	}
	wait, cancel := context.WithTimeout(ctx, cfg.DrainTimeout)
	defer cancel()
	var errs []error
	if err := front.Shutdown(wait); err != nil {
		errs = append(errs, fmt.Errorf("server: drain: %w", err), front.Close())
	}
	last, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = s.guard.Sync(last) // what was counted in the last moments; a database that is away has it a little too low
	_ = s.meter.Flush(last)
	wait, cancel = context.WithTimeout(ctx, cfg.DrainTimeout)
	defer cancel()
	errs = append(errs, jobs.Stop(wait, s.jobs), back.Close())
	return errors.Join(errs...)
}

// newServer returns a server with every timeout set. Routes lengthen them for
// themselves where they must.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second,
		IdleTimeout: 75 * time.Second, MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 100},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func serve(srv *http.Server, ln net.Listener) error { return ended(srv.Serve(ln)) }

func ended(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("server: serve: %w", err)
}
