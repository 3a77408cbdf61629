package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync/atomic"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// private returns the handler of the private listener: metrics, health and
// profiles.
func (s *service) private(draining *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	// The liveness check uses nothing outside the process: an outage of the database
	// must not make an orchestrator restart every node at once.
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { report(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if draining.Load() {
			report(w, map[string]error{"draining": errors.New("the node is shutting down")})
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

// checks runs the readiness checks of the node.
func (s *service) checks(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	skew, _, err := pg.ClockSkew(ctx, s.lanes.verify)
	if err != nil {
		return map[string]error{"database": errors.New("the database does not answer")}
	}
	checks := map[string]error{"database": nil}
	checks["clock"] = checkClock(skew)
	checks["migrations"] = pg.CheckSchema(ctx, s.lanes.verify)
	ahead, err := journal.DaysAhead(ctx, s.lanes.verify, time.Now())
	if err == nil && ahead < 1 {
		err = errors.New("the journal has no partition for tomorrow; see the job make_partitions")
	}
	checks["partitions"] = err
	return checks
}

func checkClock(skew time.Duration) error {
	if skew.Abs() > pg.MaxClockSkew {
		return fmt.Errorf("the clock differs from the database's by %s; synchronise both with NTP", skew.Round(time.Millisecond))
	}
	return nil
}

// pingInterval is the time between two checks of the database.
const pingInterval = 5 * time.Second

// watchDatabase pings the database until ctx ends, so that a node without any
// requests notices an outage too.
func (s *service) watchDatabase(ctx context.Context) {
	pause.Loop{Interval: pingInterval, Limit: 2 * time.Second}.Run(ctx, func(ctx context.Context) error {
		err := pg.Ping(ctx, s.lanes.verify)
		if !errors.Is(ctx.Err(), context.Canceled) { // what the end of the service stops is no outage
			s.breaker.ReportFailure(err)
		}
		return err
	})
}

// health is the response to a health check.
type health struct {
	OK     bool              `json:"ok"`
	Checks map[string]string `json:"checks"`
}

// report responds with 200 if every check passed, else with 503 and the failures.
func report(w http.ResponseWriter, checks map[string]error) {
	status, texts := http.StatusOK, map[string]string{}
	for name, err := range checks {
		texts[name] = "ok"
		if err != nil {
			status, texts[name] = http.StatusServiceUnavailable, err.Error()
		}
	}
	body, err := json.Marshal(health{OK: status == http.StatusOK, Checks: texts})
	if err != nil {
		panic(err) // it has only strings and a bool
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have disconnected
}
