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

// job is what the generator is told to do.
type job struct {
	Address string        `json:"address"`
	Key     string        `json:"key"`
	First   int64         `json:"first"` // the first number
	Lines   int64         `json:"lines"` // how many follow it
	Callers int           `json:"callers"`
	Warm    time.Duration `json:"warm"` // before anything counts
	Window  time.Duration `json:"window"`
	Rate    float64       `json:"rate"` // questions due a second; 0 means that each caller asks when it is answered
}

// tally is what the generator has seen within the window.
type tally struct {
	Due       uint64        `json:"due"` // with a rate: how many were to be asked
	Answered  uint64        `json:"answered"`
	Refused   uint64        `json:"refused"`        // 503
	Silent    uint64        `json:"no_retry_after"` // of these, without Retry-After
	Failed    uint64        `json:"failed"`         // any other answer, or none
	Window    time.Duration `json:"window_ns"`
	CPU       time.Duration `json:"cpu_ns"`
	Latencies latencies     `json:"latencies"`
	SentLate  latencies     `json:"sent_late"` // with a rate: how much later than due a question left
	Ever      uint64        `json:"ever"`      // answered, outside of the window, too
	Example   string        `json:"example"`   // of what failed
}

// message is one line of what a generator says: that the window begins, that it
// ends, and what was seen.
type message struct {
	Event string `json:"event"`
	Tally *tally `json:"tally,omitempty"`
}

const (
	eventBegin = "begin"
	eventEnd   = "end"
	eventTally = "tally"

	// patience is how long answers may take after the window.
	patience = 10 * time.Second
)

// generator asks questions and counts the answers.
type generator struct {
	job job
	out *json.Encoder

	measuring, stopping            atomic.Bool
	answered, refused, silent      atomic.Uint64
	failed, ever, due              atomic.Uint64
	took, late                     histogram
	example                        atomic.Pointer[string]
	begun                          time.Time // when the window began
	cpuBefore, cpuUsed, windowTook time.Duration
}

// generate is the generator's own process: it reads a job, does it, and says
// what it saw.
func generate(ctx context.Context, in []byte, out io.Writer) error {
	g := &generator{out: json.NewEncoder(out)}
	if err := json.Unmarshal(in, &g.job); err != nil {
		return fmt.Errorf("bench: read the job: %w", err)
	}
	if g.job.Callers < 1 || g.job.Lines < 1 {
		return fmt.Errorf("bench: a job for %d callers and %d lines", g.job.Callers, g.job.Lines)
	}
	callers, err := g.connect(ctx)
	if err != nil {
		return err
	}
	if g.job.Rate > 0 {
		err = g.open(ctx, callers)
	} else {
		err = g.closed(ctx, callers)
	}
	if err != nil {
		return err
	}
	t := tally{
		Due: g.due.Load(), Answered: g.answered.Load(), Refused: g.refused.Load(), Silent: g.silent.Load(), Failed: g.failed.Load(),
		Window: g.windowTook, CPU: g.cpuUsed, Latencies: g.took.latencies(), SentLate: g.late.latencies(), Ever: g.ever.Load(),
	}
	if e := g.example.Load(); e != nil {
		t.Example = *e
	}
	return g.say(message{eventTally, &t})
}

func (g *generator) say(m message) error {
	if err := g.out.Encode(m); err != nil {
		return fmt.Errorf("bench: report: %w", err)
	}
	return nil
}

// connect makes all connections before anything is asked.
func (g *generator) connect(ctx context.Context) ([]*caller, error) {
	deadline := time.Now().Add(g.job.Warm + g.job.Window + patience + 10*time.Second)
	all := make([]*caller, g.job.Callers)
	for i := range all {
		all[i] = &caller{address: g.job.Address, question: newQuestion(g.job.Key), deadline: deadline}
		if err := all[i].connect(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// closed lets each caller ask again as soon as it is answered.
func (g *generator) closed(ctx context.Context, callers []*caller) error {
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			defer c.hangUp()
			for !g.stopping.Load() {
				start := time.Now()
				r, err := c.ask(ctx, g.number())
				g.note(g.measuring.Load(), r, err, time.Since(start))
				if err != nil && !g.stopping.Load() {
					rest(ctx) // a server that is away must not be met by a storm
				}
			}
		})
	}
	wait(ctx, g.job.Warm)
	err := g.begin()
	wait(ctx, g.job.Window)
	if err == nil {
		err = g.end()
	}
	g.stopping.Store(true)
	all.Wait()
	return err
}

// number returns a number at random, of all lines alike.
func (g *generator) number() int64 {
	return g.job.First + rand.Int64N(g.job.Lines) //nolint:gosec // load, not a secret
}

// note counts what became of a question.
func (g *generator) note(counts bool, r reply, err error, took time.Duration) {
	right := err == nil && r.status == http.StatusOK
	if right {
		g.ever.Add(1)
	}
	if !counts {
		return
	}
	switch {
	case right:
		g.answered.Add(1)
		g.took.add(took)
	case err == nil && r.refused():
		// Its time is not one of the answers': a quick refusal must not make them look quick.
		g.refused.Add(1)
		if !r.retryAfter {
			g.silent.Add(1)
		}
	default:
		g.failed.Add(1)
		text := fmt.Sprintf("status %d", r.status)
		if err != nil {
			text = err.Error()
		}
		g.example.CompareAndSwap(nil, &text)
		if g.job.Rate > 0 {
			g.took.add(took) // no answer is slower than any; this is the least that can be said
		}
	}
}

// begin opens the window and says so.
func (g *generator) begin() error {
	g.cpuBefore, g.begun = ownCPU(), time.Now()
	g.measuring.Store(true)
	return g.say(message{Event: eventBegin})
}

// end closes the window and says so at once, because others measure by it.
func (g *generator) end() error {
	g.measuring.Store(false)
	g.windowTook, g.cpuUsed = time.Since(g.begun), ownCPU()-g.cpuBefore
	return g.say(message{Event: eventEnd})
}

// ownCPU returns what this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // Linux has no way to fail here
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func rest(ctx context.Context) { wait(ctx, 20*time.Millisecond) }

// wait lets time pass, or less when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
