package verify

import "time"

// congestion tells a burst from an overload. A burst, or the requests that arrive while
// the disk stalls, may fill the queue: it shrinks again, and everybody is answered a
// little later. When more requests arrive than can be committed, the queue stays long,
// and a long queue would only make every answer late.
//
// The queue is uncongested in two cases: it is shorter than the low limit and no request was
// refused lately; or it drains: no request is refused, and again and again it is shorter than
// ever since it was longest. A queue that goes up and down, as it does when all callers wait
// for their answers and can't fill it, does not drain.
//
// A congestion is tolerated for some time. Then the limit drops from the high to the low one,
// until the queue is uncongested again.
type congestion struct {
	low, high int
	tolerated time.Duration

	lastUncongested time.Time
	refusedAt       time.Time // when somebody was last refused

	measuredAt time.Time
	longest    int // the most that the queue had since it was last shorter than the low limit
	shortest   int // the least that it had since it was longest
}

// measuredPart is the part of the tolerated time after which the size of the queue is measured
// again. Within it a queue that drains has become shorter, and one batch or another makes
// no difference.
const measuredPart = 16

// unrefusedPart is the part of the tolerated time for which no request may have been refused
// before a short queue is uncongested. Under overload a queue at its low limit is a little shorter at
// times, and would be allowed to fill up again.
const unrefusedPart = 4

// observe notes the size of the queue, before a batch is taken from it.
func (c *congestion) observe(now time.Time, size int) {
	if size < c.low && now.Sub(c.refusedAt) > c.tolerated/unrefusedPart {
		c.lastUncongested, c.longest = now, 0
	}
	if now.Sub(c.measuredAt) < c.tolerated/measuredPart {
		return
	}
	switch {
	case size > c.longest:
		c.longest, c.shortest = size, size
	case size < c.shortest:
		c.shortest = size
		if c.refusedAt.Before(c.measuredAt) {
			c.lastUncongested = now
		}
	}
	c.measuredAt = now
}

// refuse notes that somebody is refused.
func (c *congestion) refuse(now time.Time) { c.refusedAt = now }

// idle notes that nothing waits.
func (c *congestion) idle(now time.Time) { c.lastUncongested = now }

// limit returns how many requests may wait.
func (c *congestion) limit(now time.Time) int {
	if now.Sub(c.lastUncongested) > c.tolerated {
		return c.low
	}
	return c.high
}
