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

// flood asks at a steady rate, whether or not anything is answered. A question
// counts from when it was due, so that what waits behind another is slow, too.
// What it is told is on its crowd's tape.
type flood struct {
	*crowd

	t     *testing.T
	conns []*floodConn
}

// floodConn is one connection of a flood. There are as many as there may be
// questions under way; a due question that finds none waits on the clock.
type floodConn struct {
	wire  wire
	track *track
	rng   *rand.Rand
	asked []ripple
}

// ripple is one question of a flood.
type ripple struct {
	due  time.Time
	late time.Duration // until it was sent
	took time.Duration // until it ended
	mark byte
}

// tide is a time in which questions are due.
type tide struct {
	name    string
	rate    int // a second
	ripples []ripple
	cost    time.Duration // CPU that the flood itself took
	dropped int64         // questions that were due and never sent
}

// mostLate is how late a question may be and still be sent. Where all
// connections are busy for longer, or this machine is, the flood is not what it
// was meant to be, and says so.
const mostLate = 2 * time.Second

func newFlood(t *testing.T, c *crowd, conns int) *flood {
	t.Helper()
	f := &flood{crowd: c, t: t}
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

// run makes questions due at that rate for that long, and returns what became
// of them.
func (f *flood) run(name string, rate int, long time.Duration) *tide {
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
				if late > mostLate {
					dropped.Add(1)
					continue
				}
				mark := f.ask(&conn.wire, conn.track, conn.rng)
				conn.asked = append(conn.asked, ripple{at, late, time.Since(at), mark})
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
	d := &tide{name: name, rate: rate, cost: ownCPU() - cost, dropped: dropped.Load()}
	for _, conn := range f.conns {
		d.ripples = append(d.ripples, conn.asked...)
	}
	slices.SortFunc(d.ripples, func(a, b ripple) int { return a.due.Compare(b.due) })
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

// times returns how long the questions took that ended so, in order.
func (d *tide) times(mark byte) []time.Duration {
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

// p99 returns the time within which 99 in 100 answers came.
func (d *tide) p99() time.Duration { return quantile(d.times(markAnswered), 0.99) }

// late returns the time after which 99 in 100 questions were sent that were due.
// If that is long, the flood was not what it was meant to be.
func (d *tide) late() time.Duration {
	all := make([]time.Duration, len(d.ripples))
	for i, r := range d.ripples {
		all[i] = r.late
	}
	slices.Sort(all)
	return quantile(all, 0.99)
}

// String implements fmt.Stringer.
func (d *tide) String() string {
	show := func(mark byte) string {
		times := d.times(mark)
		at := func(q float64) time.Duration { return quantile(times, q).Round(10 * time.Microsecond) }
		return fmt.Sprintf("%7d (p50 %s, p99 %s, longest %s)", len(times), at(0.5), at(0.99), at(1))
	}
	each := d.cost / time.Duration(max(1, len(d.ripples)))
	return fmt.Sprintf("%-32s %6d/s offered (p99 %s late, %d never sent, %s of CPU each): answered %s; put off %s", d.name, d.rate,
		d.late().Round(10*time.Microsecond), d.dropped, each.Round(time.Microsecond), show(markAnswered), show(markLater))
}

// itself returns how long after its begin the service was itself again: from
// then on nobody was put off, and in every window 99 in 100 answers came
// within the limit. It is negative if that did not come.
func (d *tide) itself(limit time.Duration) time.Duration {
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
