package verify

import "time"

// congestion tells a burst from an overload. A burst, or the requests that arrive while
// the disk stalls, may fill the queue: it shrinks again, and everybody is answered a
// little later. When more requests arrive than can be committed, the queue stays long,
// and a long queue would only make every answer late.
//
// The queue is calm while it is shorter than the low limit and nobody was refused lately,
// and while it shrinks although nobody is refused: that is, while it is shorter than ever
// since it was longest. One that only goes up and down is not, as when callers wait for
// their answers and can't fill it.
// When it has not been calm for as long as the patience, its limit drops from the high to
// the low one until it is calm again.
type congestion struct {
	low, high int
	patience  time.Duration

	lastCalm  time.Time
	refusedAt time.Time // when somebody was last refused

	measuredAt time.Time
	longest    int // the size of the queue, since it was last shorter than the low limit
	shortest   int // since it was longest
}

// measureEvery is the part of the patience after which the size of the queue is measured
// again. Within it a queue that drains has become shorter, and one batch or another makes
// no difference.
const measureEvery = 16

// calmAfter is the part of the patience for which nobody must have been refused before a
// short queue is calm. Under overload a queue at its low limit is a little shorter at
// times, and would be allowed to fill up again.
const calmAfter = 4

// observe notes the size of the queue, before a batch is taken from it.
func (c *congestion) observe(now time.Time, size int) {
	if size < c.low && now.Sub(c.refusedAt) > c.patience/calmAfter {
		c.lastCalm, c.longest = now, 0
	}
	if now.Sub(c.measuredAt) < c.patience/measureEvery {
		return
	}
	switch {
	case size > c.longest:
		c.longest, c.shortest = size, size
	case size < c.shortest:
		c.shortest = size
		if c.refusedAt.Before(c.measuredAt) {
			c.lastCalm = now
		}
	}
	c.measuredAt = now
}

// refuse notes that somebody is refused.
func (c *congestion) refuse(now time.Time) { c.refusedAt = now }

// idle notes that nothing waits.
func (c *congestion) idle(now time.Time) { c.lastCalm = now }

// limit returns how many requests may wait.
func (c *congestion) limit(now time.Time) int {
	if now.Sub(c.lastCalm) > c.patience {
		return c.low
	}
	return c.high
}
