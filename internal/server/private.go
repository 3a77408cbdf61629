package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
)

// private returns the handler of the private listener: metrics, health and
// profiles.
func (s *service) private(draining *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	// Alive touches nothing outside: a database that is away must not make an
	// orchestrator kill every node at once.
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { report(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if draining.Load() {
			report(w, map[string]error{"draining": errors.New("the node is being stopped")})
			return
		}
		report(w, s.checks(r.Context()))
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// checks looks at everything that must hold for the node to take requests.
func (s *service) checks(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	skew, _, err := pg.ClockSkew(ctx, s.pool)
	if err != nil {
		return map[string]error{"database": errors.New("the database does not answer")}
	}
	checks := map[string]error{"database": nil}
	checks["clock"] = judgeClock(skew)
	checks["migrations"] = pg.CheckSchema(ctx, s.pool)
	ahead, err := journal.DaysAhead(ctx, s.pool, time.Now())
	if err == nil && ahead < 1 {
		err = errors.New("the journal has no partition for tomorrow; look at the job make_partitions")
	}
	checks["partitions"] = err
	return checks
}

func judgeClock(skew time.Duration) error {
	if skew.Abs() > pg.MaxClockSkew {
		return fmt.Errorf("the clock differs from the database's by %s; set both by NTP", skew.Round(time.Millisecond))
	}
	return nil
}

// watchEvery is how often the node looks whether its database is there.
const watchEvery = 5 * time.Second

// sayAway returns what says once when the database is away and once when it is
// back. Each request that fails says so for itself.
func sayAway(ctx context.Context, log *slog.Logger) func(away bool, after time.Duration) {
	return func(away bool, after time.Duration) {
		if away {
			log.LogAttrs(ctx, slog.LevelError, "the database is away; verify and everything else is refused until it is back")
			return
		}
		log.LogAttrs(ctx, slog.LevelInfo, "the database is back", slog.Duration("after", after))
	}
}

// watch looks whether the database is there, until ctx ends, so that a node of
// which nobody asks anything knows, too.
func (s *service) watch(ctx context.Context) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		look, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := pg.Ping(look, s.pool)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		s.breaker.Lost(err)
	}
}

// health is what a probe is told.
type health struct {
	OK     bool              `json:"ok"`
	Checks map[string]string `json:"checks"`
}

// report answers 200 when every check holds, else 503 with what does not.
func report(w http.ResponseWriter, checks map[string]error) {
	status, words := http.StatusOK, map[string]string{}
	for name, err := range checks {
		words[name] = "ok"
		if err != nil {
			status, words[name] = http.StatusServiceUnavailable, err.Error()
		}
	}
	body, err := json.Marshal(health{OK: status == http.StatusOK, Checks: words})
	if err != nil {
		panic(err) // a struct of text
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a probe that left needs no answer
}
