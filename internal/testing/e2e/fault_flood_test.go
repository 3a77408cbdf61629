package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// flood sends requests at a steady rate, whether or not they are answered (open
// loop). Latency counts from when a request was due, so that waiting behind another
// counts too. The responses are in the clients' ledger.
type flood struct {
	*clients

	t     *testing.T
	conns []*floodConn
}

// floodConn is one connection of a flood. There are as many as there may be
// requests under way; a due request that finds none waits on the clock.
type floodConn struct {
	wire  wire
	track *workerLog
	rng   *rand.Rand
	asked []timedRequest
}

// timedRequest is one request of a flood.
type timedRequest struct {
	due  time.Time
	late time.Duration // until it was sent
	took time.Duration // until it ended
	mark byte
}

// loadPhase is a period with a constant rate.
type loadPhase struct {
	name    string
	rate    int // a second
	ripples []timedRequest
	cost    time.Duration // CPU that the flood itself took
	dropped int64         // requests that were due and never sent
}

// maxDelay is how late a request may be and still be sent. If all connections or this
// machine are busy for longer, the offered load is not the intended one, and that is
// reported.
const maxDelay = 2 * time.Second

func newFlood(t *testing.T, c *clients, conns int) *flood {
	t.Helper()
	f := &flood{clients: c, t: t}
	for range conns {
		f.conns = append(f.conns, &floodConn{wire: wire{address: c.address}, track: c.tape.track(t), rng: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))})
	}
	t.Cleanup(func() {
		for _, conn := range f.conns {
			conn.wire.close()
			conn.track.close()
		}
	})
	return f
}

// run sends requests at the given rate and duration, and returns the results.
func (f *flood) run(name string, rate int, long time.Duration) *loadPhase {
	f.t.Helper()
	questions := int(long.Seconds() * float64(rate))
	due := make(chan time.Time, questions)
	var all sync.WaitGroup
	var dropped atomic.Int64
	for _, conn := range f.conns {
		conn.asked = conn.asked[:0]
		all.Go(func() {
			for at := range due {
				late := time.Since(at)
				if late > maxDelay {
					dropped.Add(1)
					continue
				}
				mark := f.ask(&conn.wire, conn.track, conn.rng)
				conn.asked = append(conn.asked, timedRequest{at, late, time.Since(at), mark})
			}
		})
	}
	begin, cost := time.Now(), ownCPU()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; n < questions; {
		for ; n < questions; n++ {
			at := begin.Add(time.Duration(n) * time.Second / time.Duration(rate))
			if at.After(time.Now()) {
				break
			}
			due <- at
		}
		<-tick.C
	}
	close(due)
	all.Wait()
	d := &loadPhase{name: name, rate: rate, cost: ownCPU() - cost, dropped: dropped.Load()}
	for _, conn := range f.conns {
		d.ripples = append(d.ripples, conn.asked...)
	}
	slices.SortFunc(d.ripples, func(a, b timedRequest) int { return a.due.Compare(b.due) })
	return d
}

// ownCPU returns how much CPU this process has taken.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// times returns how long the requests took that ended so, in order.
func (d *loadPhase) times(mark byte) []time.Duration {
	var all []time.Duration
	for _, r := range d.ripples {
		if r.mark == mark {
			all = append(all, r.took)
		}
	}
	slices.Sort(all)
	return all
}

// quantile returns the value below which that share of sorted times lies.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// after returns the phase without the requests of its beginning.
func (d *loadPhase) after(begin time.Duration) *loadPhase {
	rest := *d
	rest.ripples = slices.DeleteFunc(slices.Clone(d.ripples), func(r timedRequest) bool { return r.due.Sub(d.ripples[0].due) < begin })
	return &rest
}

// p99 returns the time within which 99 in 100 answers came.
func (d *loadPhase) p99() time.Duration { return quantile(d.times(markAnswered), 0.99) }

// late returns the time after which 99 in 100 requests were sent that were due.
// If that is long, the offered load was not the intended one.
func (d *loadPhase) late() time.Duration {
	all := make([]time.Duration, len(d.ripples))
	for i, r := range d.ripples {
		all[i] = r.late
	}
	slices.Sort(all)
	return quantile(all, 0.99)
}

// String implements fmt.Stringer.
func (d *loadPhase) String() string {
	show := func(mark byte) string {
		times := d.times(mark)
		at := func(q float64) time.Duration { return quantile(times, q).Round(10 * time.Microsecond) }
		return fmt.Sprintf("%7d (p50 %s, p99 %s, longest %s)", len(times), at(0.5), at(0.99), at(1))
	}
	each := d.cost / time.Duration(max(1, len(d.ripples)))
	return fmt.Sprintf("%-32s %6d/s offered (p99 %s late, %d never sent, %s of CPU each): answered %s; put off %s", d.name, d.rate,
		d.late().Round(10*time.Microsecond), d.dropped, each.Round(time.Microsecond), show(markAnswered), show(markUnavailable))
}

// recovery returns how long after the start of the phase the service had recovered:
// from then on no request was refused with 503, and in every window 99 in 100
// answers came within the limit. It is negative if it did not recover.
func (d *loadPhase) recovery(limit time.Duration) time.Duration {
	const window = 250 * time.Millisecond
	if len(d.ripples) == 0 {
		return -1
	}
	begin := d.ripples[0].due
	again := time.Duration(0)
	for from := 0; from < len(d.ripples); {
		start := d.ripples[from].due.Sub(begin).Truncate(window)
		to := from
		late, off := 0, 0
		for to < len(d.ripples) && d.ripples[to].due.Sub(begin) < start+window {
			switch r := d.ripples[to]; {
			case r.mark != markAnswered && r.mark != markRefused:
				off++
			case r.took > limit:
				late++
			}
			to++
		}
		if off > 0 || late*100 > to-from+99 { // one may always be late
			again = start + window
		}
		from = to
	}
	if end := d.ripples[len(d.ripples)-1].due.Sub(begin); again > end {
		return -1
	}
	return again
}
