package main

import (
	"context"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// minSleep bounds how often the generator wakes up: requests that are due within
	// it are sent together, and their wait is part of the latency.
	minSleep = 200 * time.Microsecond
	// maxQueueSeconds bounds the queue of requests that wait for a free connection:
	// as many as are due in this many seconds.
	maxQueueSeconds = 10
)

// openLoop makes requests due at a constant rate, whether or not earlier ones were
// answered, and measures latency from the time a request was due. A request that
// waits behind a slow response is therefore slow, too.
func (g *generator) openLoop(ctx context.Context, callers []*caller) error {
	queue := make(chan time.Duration, max(int(g.job.Rate*maxQueueSeconds), 1))
	start := time.Now()
	ends := g.job.Warm + g.job.Window
	var all sync.WaitGroup
	for _, c := range callers {
		all.Go(func() {
			defer c.close()
			for due := range queue {
				inWindow := due >= g.job.Warm
				if inWindow {
					g.sendDelay.add(time.Since(start) - due)
				}
				if time.Now().After(c.deadline) {
					g.count(inWindow, response{}, errQueueFull, time.Since(start)-due)
					continue
				}
				r, err := c.send(ctx, g.number())
				g.count(inWindow, r, err, time.Since(start)-due)
				if err != nil {
					backOff(ctx)
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
	err := g.startWindow()
	wait(ctx, ends-time.Since(start))
	if err == nil {
		err = g.endWindow()
	}
	<-paced
	all.Wait() // bounded by the deadline of the connections
	return err
}

// pace makes the requests due. It has its own thread and sleeps in the kernel,
// because Go's timers are a millisecond late on an idle machine, which would be
// counted as latency of the service.
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
			nap := syscall.NsecToTimespec(int64(max(ahead, minSleep)))
			_ = syscall.Nanosleep(&nap, nil) // a signal may wake it early; the loop checks the clock
		}
		if due >= g.job.Warm {
			g.due.Add(1)
		}
		select {
		case queue <- due:
		default:
			// The queue is full: the request counts as unanswered.
			g.count(due >= g.job.Warm, response{}, errQueueFull, maxQueueSeconds*time.Second)
		}
	}
}
