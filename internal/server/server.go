// Package server assembles the service from its packages and runs it.
//
// Parts are started in the order in which they depend on each other and stopped
// in the reverse order: first the node reports that it is not ready, then the
// public listener closes and the requests in flight are answered, then the jobs
// end, then the database connections close. The private listener closes last, so
// that monitoring sees the whole shutdown.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/hashing"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/web"
)

// statementTimeout bounds one statement of the serving role.
const statementTimeout = 5 * time.Second

// Run serves until ctx ends, then lets the requests in flight finish.
func Run(ctx context.Context, cfg config.Config, log *slog.Logger) error {
	flush, err := telemetry.Traces(ctx, cfg.TracesEndpoint, telemetry.Version(), log)
	if err != nil {
		return err
	}
	defer func() { _ = flush(context.WithoutCancel(ctx)) }()
	// The live heap is small and most allocations are short-lived: with the default
	// setting, garbage collection takes a seventh of the CPU time. A value set by
	// GOGC is kept.
	if previous := debug.SetGCPercent(400); previous != 100 {
		debug.SetGCPercent(previous)
	}

	breaker := &pg.Breaker{}
	metrics := telemetry.NewMetrics()
	l, err := openLanes(ctx, cfg, breaker, metrics)
	if err != nil {
		return err
	}
	defer l.close()
	defer breaker.Close()
	if err := prepare(ctx, l.verify, cfg, metrics, log); err != nil {
		return err
	}
	hasher := hashing.Start(ctx, log)
	defer hasher.Close()
	s, err := assemble(ctx, cfg, l, breaker, hasher, metrics, log)
	if err != nil {
		return err
	}
	defer s.close()

	if cfg.TLSCert != "" {
		// Before the node listens: with a wrong pair of files it must not start.
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

// prepare checks the schema and creates the journal's partitions before the node
// accepts requests.
func prepare(ctx context.Context, pool *pgxpool.Pool, cfg config.Config, metrics *telemetry.Metrics, log *slog.Logger) error {
	if err := pg.CheckSchema(ctx, pool); err != nil {
		return err
	}
	have, want, err := pg.SchemaVersion(ctx, pool)
	if err != nil {
		return err
	}
	if have > want { // during an upgrade, and after going back to the release before
		log.LogAttrs(ctx, slog.LevelInfo, "the schema is that of a newer release, with which this one works", slog.Int64("schema", have), slog.Int64("known", want))
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
	front := newServer(web.StrictTransport(s.handler, cfg.TrustedProxies), &handshakeLog{Handler: log.Handler(), failed: s.metrics.HandshakeFailed})
	back := newServer(s.private(&draining), log.Handler())
	public = capConnections(public, cfg.AddressConns, slices.Concat(cfg.TrustedProxies, thisMachine), s.metrics.ConnectionRefused)
	back.WriteTimeout = 2 * time.Minute // a CPU profile takes as long as the request says

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
		return unlessClosed(front.ServeTLS(public, "", ""))
	})
	group.Go(func() error { return s.watchDatabase(groupCtx) })
	group.Go(func() error { return s.watchSupply(groupCtx, log) })
	group.Go(func() error { return s.watchDiskUsage(groupCtx, cfg.JournalDiskBytes) })
	group.Go(func() error { return s.watchDocuments(groupCtx) })
	group.Go(func() error { return s.watchFeeds(groupCtx) })
	group.Go(func() error { return s.watchLog(groupCtx) })
	group.Go(func() error { return s.watchScanner(groupCtx, log) })
	group.Go(func() error {
		s.imports.RunImports(groupCtx, log)
		return nil
	})
	group.Go(func() error {
		s.fileJobs.runner.Run(groupCtx, log)
		flushCtx, cancel := context.WithTimeout(context.WithoutCancel(groupCtx), 2*time.Second)
		defer cancel()
		_ = s.fileJobs.numbers.Close(flushCtx) // otherwise another node ends the epoch
		return nil
	})
	group.Go(func() error {
		s.listener.Run(groupCtx)
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
		s.refused.Run(groupCtx)
		return nil
	})
	group.Go(func() error {
		s.feeds.run(groupCtx, log)
		return nil
	})
	group.Go(func() error {
		s.webhooks.Run(groupCtx)
		return nil
	})
	group.Go(func() error {
		s.node.Run(groupCtx)
		return nil
	})
	if s.log.worker != nil {
		group.Go(func() error {
			s.log.worker.Run(groupCtx, log)
			return nil
		})
	}
	if s.log.promises != nil {
		group.Go(func() error {
			s.log.promises.Run(groupCtx, log)
			return nil
		})
	}
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

// drain shuts the parts down in order. Each step has its own timeout, so that a
// request that hangs cannot block the rest.
func (s *service) drain(ctx context.Context, cfg config.Config, front, back *http.Server) error {
	if cfg.DrainDelay > 0 {
		<-time.After(cfg.DrainDelay)
	}
	s.feeds.close()
	drainCtx, cancel := context.WithTimeout(ctx, cfg.DrainTimeout)
	defer cancel()
	var errs []error
	if err := front.Shutdown(drainCtx); err != nil {
		errs = append(errs, fmt.Errorf("server: drain: %w", err), front.Close())
	}
	flushCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = s.guard.Sync(flushCtx) // the counts of the last moments; if the database does not answer, the stored counts stay a little too low
	_ = s.meter.Flush(flushCtx)
	_ = s.refused.Flush(flushCtx)
	_ = s.journal.Close(flushCtx) // otherwise another node ends the epoch
	_ = s.node.Remove(flushCtx)   // otherwise it counts as gone without a word
	drainCtx, cancel = context.WithTimeout(ctx, cfg.DrainTimeout)
	defer cancel()
	errs = append(errs, jobs.Stop(drainCtx, s.jobs), back.Close())
	return errors.Join(errs...)
}

// newServer returns a server with every timeout set. Routes that need more time
// extend them for themselves.
func newServer(h http.Handler, log slog.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second,
		IdleTimeout: 75 * time.Second, MaxHeaderBytes: 16 << 10, DisableGeneralOptionsHandler: true,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 100},
		ErrorLog: slog.NewLogLogger(log, slog.LevelWarn),
	}
}

func serve(srv *http.Server, ln net.Listener) error { return unlessClosed(srv.Serve(ln)) }

func unlessClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("server: serve: %w", err)
}
