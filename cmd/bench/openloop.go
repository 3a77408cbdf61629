package main

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// shortNap bounds how often the clock wakes the generator: questions that are
	// due within it leave together, and the wait counts.
	shortNap = 200 * time.Microsecond
	// mostBehind is how many seconds' questions may wait for a free connection.
	mostBehind = 10
)

// open makes questions due at a steady rate, whether or not earlier ones were
// answered, and counts the time of an answer from when its question was due.
// What waits behind a slow answer is slow, too.
func (g *generator) open(ctx context.Context, callers []*caller) error {
	queue := make(chan time.Duration, max(int(g.job.Rate*mostBehind), 1))
	start := time.Now()
	ends := g.job.Warm + g.job.Window
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			defer c.hangUp()
			for due := range queue {
				counts := due >= g.job.Warm
				if counts {
					g.late.add(time.Since(start) - due)
				}
				if time.Now().After(c.deadline) {
					g.note(counts, reply{}, errBehind, time.Since(start)-due)
					continue
				}
				r, err := c.ask(ctx, g.number())
				g.note(counts, r, err, time.Since(start)-due)
				if err != nil {
					rest(ctx)
				}
			}
		})
	}
	paced := make(chan struct{})
	go func() {
		defer close(paced)
		defer close(queue)
		g.pace(ctx, queue, start, ends)
	}()
	wait(ctx, g.job.Warm)
	err := g.begin()
	wait(ctx, ends-time.Since(start))
	if err == nil {
		err = g.end()
	}
	<-paced
	all.Wait() // the deadline of the connections bounds it
	return err
}

// pace makes the questions due. It has a thread of its own and sleeps in the
// kernel, because the timers of the runtime are a millisecond late on an idle
// machine, which would be counted as the service's.
func (g *generator) pace(ctx context.Context, queue chan<- time.Duration, start time.Time, ends time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for n := 0; ctx.Err() == nil; n++ {
		due := time.Duration(float64(n) / g.job.Rate * float64(time.Second))
		if due >= ends {
			return
		}
		for {
			ahead := due - time.Since(start)
			if ahead <= 0 {
				break
			}
			nap := syscall.NsecToTimespec(int64(max(ahead, shortNap)))
			_ = syscall.Nanosleep(&nap, nil) // a signal may wake it; the loop looks at the clock
		}
		if due >= g.job.Warm {
			g.due.Add(1)
		}
		select {
		case queue <- due:
		default:
			// Nobody can take it for many seconds to come. It has no answer.
			g.note(due >= g.job.Warm, reply{}, errBehind, mostBehind*time.Second)
		}
	}
}
