// Package server assembles the service from its packages and runs it.
//
// Parts are started in the order in which they depend on each other. When the service stops,
// the node first reports that it is not ready and its runners end; then the public listener
// closes and the requests in flight are answered; then counts are stored and the jobs end; then
// the private listener closes, so that monitoring sees the whole shutdown; the database
// connections close last.
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

	"golang.org/x/sync/errgroup"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/server/jobs"
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

	s := &service{cfg: cfg, log: log, metrics: telemetry.NewMetrics(), breaker: &pg.Breaker{}, closing: make(chan struct{})}
	defer s.close()
	if err := s.open(ctx); err != nil {
		return err
	}
	public, err := listen(ctx, "LINEPROOF_LISTEN", cfg.Listen)
	if err != nil {
		return err
	}
	private, err := listen(ctx, "LINEPROOF_PRIVATE_LISTEN", cfg.PrivateListen)
	if err != nil {
		return errors.Join(err, public.Close())
	}
	return s.run(ctx, public, private)
}

func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("server: %s: %w", setting, err)
	}
	return ln, nil
}

// run serves on both listeners until ctx ends or one of them breaks.
func (s *service) run(ctx context.Context, public, private net.Listener) error {
	var draining atomic.Bool
	handler := web.Reporting(web.StrictTransport(s.handler, s.cfg.TrustedProxies, s.cfg.HSTSSubdomains), s.cfg.ReportURL)
	front := newServer(handler, &handshakeLog{Handler: s.log.Handler(), failed: s.metrics.HandshakeFailed})
	back := newServer(s.private(&draining), s.log.Handler())
	public = capConnections(public, s.cfg.AddressConns, slices.Concat(s.cfg.TrustedProxies, thisMachine), s.metrics.ConnectionRefused)
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
	answering, closed := context.WithCancel(context.WithoutCancel(ctx))
	defer closed()
	runAll := func(ctx context.Context, runners []func(context.Context)) {
		for _, run := range runners {
			group.Go(func() error {
				run(ctx)
				return nil
			})
		}
	}
	runAll(answering, s.behindAnswers())
	runAll(groupCtx, s.background())
	group.Go(func() error {
		<-groupCtx.Done()
		draining.Store(true)
		s.log.LogAttrs(ctx, slog.LevelInfo, "draining")
		return s.drain(context.WithoutCancel(ctx), front, back, closed)
	})
	s.log.LogAttrs(ctx, slog.LevelInfo, "listening", slog.String("public", public.Addr().String()),
		slog.String("private", private.Addr().String()), slog.Bool("tls", s.certs != nil))
	err := group.Wait()
	s.log.LogAttrs(ctx, slog.LevelInfo, "stopped")
	return err
}

// behindAnswers is what an answer relies on: what ended elsewhere is heard of, scans are stopped,
// what was asked is counted and published. It runs as long as requests are answered, which is
// longer than the service was asked to stop if LINEPROOF_DRAIN_DELAY is set.
func (s *service) behindAnswers() []func(context.Context) {
	list := []func(context.Context){
		s.watchDatabase, s.watchSupply, s.watchDiskUsage, s.watchDocuments, s.watchFeeds, s.watchLog, s.watchScanner,
		s.listener.Run, s.node.Run, s.guard.Run, s.refused.Run, s.meter.Run, s.feed.Run,
	}
	if s.public.worker != nil {
		list = append(list, s.logging(s.public.worker.Run))
	}
	if s.public.promises != nil {
		list = append(list, s.logging(s.public.promises.Run))
	}
	return list
}

// background is work that other nodes take over, and that ends at once.
func (s *service) background() []func(context.Context) {
	return []func(context.Context){
		s.sender.Run, s.logging(s.distributor.Run), s.logging(s.lists.Run), s.logging(s.impact.Run),
		s.logging(s.supply(s.lanes.imports).RunImports), s.logging(s.fileJobs.run),
	}
}

func (s *service) logging(run func(context.Context, *slog.Logger)) func(context.Context) {
	return func(ctx context.Context) { run(ctx, s.log) }
}

// drain shuts the parts down in order, and calls closed when no request is answered any more.
// Requests, what is stored for other nodes, and jobs each have a timeout of their own, so that a
// request that hangs cannot block the rest.
func (s *service) drain(ctx context.Context, front, back *http.Server, closed func()) error {
	if s.cfg.DrainDelay > 0 {
		<-time.After(s.cfg.DrainDelay)
	}
	close(s.closing)
	drainCtx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	var errs []error
	if err := front.Shutdown(drainCtx); err != nil {
		errs = append(errs, fmt.Errorf("server: drain: %w", err), front.Close())
	}
	closed()
	flushCtx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = s.guard.Sync(flushCtx) // the counts of the last moments; if the database does not answer, the stored counts stay a little too low
	_ = s.meter.Flush(flushCtx)
	_ = s.refused.Flush(flushCtx)
	_ = s.journal.Close(flushCtx) // otherwise another node ends the epoch
	_ = s.node.Remove(flushCtx)   // otherwise it counts as gone without a word
	drainCtx, cancel = context.WithTimeout(ctx, s.cfg.DrainTimeout)
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
