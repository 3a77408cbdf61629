package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// job is the input of the generator.
type job struct {
	Address string        `json:"address"`
	Key     string        `json:"key"`
	First   int64         `json:"first"` // the first number
	Lines   int64         `json:"lines"` // number of consecutive numbers
	Callers int           `json:"callers"`
	Warm    time.Duration `json:"warm"` // before the measurement starts
	Window  time.Duration `json:"window"`
	Rate    float64       `json:"rate"` // requests due per second; 0 means that each caller sends when it has the last response
}

// tally has the counts of the generator within the measurement window.
type tally struct {
	Due          uint64        `json:"due"` // with a rate: number of requests due
	Answered     uint64        `json:"answered"`
	Refused      uint64        `json:"refused"`        // 503
	NoRetryAfter uint64        `json:"no_retry_after"` // refusals without Retry-After
	Failed       uint64        `json:"failed"`         // any other response, or none
	Window       time.Duration `json:"window_ns"`
	CPU          time.Duration `json:"cpu_ns"`
	Latencies    latencies     `json:"latencies"`
	SentLate     latencies     `json:"sent_late"` // with a rate: how much later than due requests were sent
	Total        uint64        `json:"ever"`      // answered inside and outside of the window
	Example      string        `json:"example"`   // of a failure
}

// message is one line of the generator's output: the window starts, the window
// ends, or the tally.
type message struct {
	Event string `json:"event"`
	Tally *tally `json:"tally,omitempty"`
}

const (
	eventBegin = "begin"
	eventEnd   = "end"
	eventTally = "tally"

	// responseTimeout is how long responses may take after the window.
	responseTimeout = 10 * time.Second
)

// generator sends requests and counts the responses.
type generator struct {
	job job
	out *json.Encoder

	measuring, stopping             atomic.Bool
	answered, refused, noRetryAfter atomic.Uint64
	failed, total, due              atomic.Uint64
	latency, sendDelay              histogram
	example                         atomic.Pointer[string]
	started                         time.Time // start of the window
	cpuBefore, cpuUsed, windowTook  time.Duration
}

// generate is the process of the generator: it reads a job, runs it, and writes
// the tally.
func generate(ctx context.Context, in []byte, out io.Writer) error {
	g := &generator{out: json.NewEncoder(out)}
	if err := json.Unmarshal(in, &g.job); err != nil {
		return fmt.Errorf("bench: read the job: %w", err)
	}
	if g.job.Callers < 1 || g.job.Lines < 1 {
		return fmt.Errorf("bench: invalid job: %d callers and %d lines", g.job.Callers, g.job.Lines)
	}
	callers, err := g.connect(ctx)
	if err != nil {
		return err
	}
	if g.job.Rate > 0 {
		err = g.openLoop(ctx, callers)
	} else {
		err = g.closedLoop(ctx, callers)
	}
	if err != nil {
		return err
	}
	t := tally{
		Due: g.due.Load(), Answered: g.answered.Load(), Refused: g.refused.Load(), NoRetryAfter: g.noRetryAfter.Load(), Failed: g.failed.Load(),
		Window: g.windowTook, CPU: g.cpuUsed, Latencies: g.latency.latencies(), SentLate: g.sendDelay.latencies(), Total: g.total.Load(),
	}
	if e := g.example.Load(); e != nil {
		t.Example = *e
	}
	return g.send(message{eventTally, &t})
}

func (g *generator) send(m message) error {
	if err := g.out.Encode(m); err != nil {
		return fmt.Errorf("bench: report: %w", err)
	}
	return nil
}

// connect opens all connections before the first request.
func (g *generator) connect(ctx context.Context) ([]*caller, error) {
	deadline := time.Now().Add(g.job.Warm + g.job.Window + responseTimeout + 10*time.Second)
	all := make([]*caller, g.job.Callers)
	for i := range all {
		all[i] = &caller{address: g.job.Address, request: newRequest(g.job.Key), deadline: deadline}
		if err := all[i].connect(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// closedLoop makes each caller send its next request when it has the response.
func (g *generator) closedLoop(ctx context.Context, callers []*caller) error {
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			defer c.close()
			for !g.stopping.Load() {
				start := time.Now()
				r, err := c.send(ctx, g.number())
				g.count(g.measuring.Load(), r, err, time.Since(start))
				if err != nil && !g.stopping.Load() {
					backOff(ctx) // do not flood a server that is unavailable
				}
			}
		})
	}
	wait(ctx, g.job.Warm)
	err := g.startWindow()
	wait(ctx, g.job.Window)
	if err == nil {
		err = g.endWindow()
	}
	g.stopping.Store(true)
	all.Wait()
	return err
}

// number returns a random number of the lines, uniformly distributed.
func (g *generator) number() int64 {
	return g.job.First + rand.Int64N(g.job.Lines) //nolint:gosec // load, not a secret
}

// count counts the result of a request, if it is inside the window.
func (g *generator) count(inWindow bool, r response, err error, took time.Duration) {
	succeeded := err == nil && r.status == http.StatusOK
	if succeeded {
		g.total.Add(1)
	}
	if !inWindow {
		return
	}
	switch {
	case succeeded:
		g.answered.Add(1)
		g.latency.add(took)
	case err == nil && r.refused():
		// The latency of refusals is left out: fast refusals must not make answers look fast.
		g.refused.Add(1)
		if !r.retryAfter {
			g.noRetryAfter.Add(1)
		}
	default:
		g.failed.Add(1)
		text := fmt.Sprintf("status %d", r.status)
		if err != nil {
			text = err.Error()
		}
		g.example.CompareAndSwap(nil, &text)
		if g.job.Rate > 0 {
			g.latency.add(took) // no response is slower than any response; this is a lower bound
		}
	}
}

// startWindow starts the measurement window and reports it.
func (g *generator) startWindow() error {
	g.cpuBefore, g.started = ownCPU(), time.Now()
	g.measuring.Store(true)
	return g.send(message{Event: eventBegin})
}

// endWindow ends the window and reports it immediately, because the parent
// samples the CPU of the processes at this moment.
func (g *generator) endWindow() error {
	g.measuring.Store(false)
	g.windowTook, g.cpuUsed = time.Since(g.started), ownCPU()-g.cpuBefore
	return g.send(message{Event: eventEnd})
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail on Linux
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func backOff(ctx context.Context) { wait(ctx, 20*time.Millisecond) }

// wait sleeps for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
