package verify

import (
	"math/rand/v2"
	"testing"
	"time"
)

// simulate lets requests arrive at a rate at a service that commits batches at a
// capacity, and stalls once for a while. It returns how many were refused before and
// after a second had passed since the start, and the longest queue at the end.
func simulate(rate, capacity int, stall time.Duration) (early, late, waiting int) {
	const tick = 500 * time.Microsecond
	c := congestion{low: 256, high: 4096, tolerated: 500 * time.Millisecond}
	start := time.Unix(0, 0)
	c.idle(start)
	arrived, nextBatch := 0.0, start
	for now := start; now.Before(start.Add(5 * time.Second)); now = now.Add(tick) {
		for arrived += float64(rate) * tick.Seconds(); arrived >= 1; arrived-- {
			if waiting >= c.limit(now) {
				c.refuse(now)
				if now.Sub(start) < time.Second {
					early++
				} else {
					late++
				}
				continue
			}
			waiting++
		}
		if now.Before(nextBatch) {
			continue
		}
		c.observe(now, waiting)
		batch := min(waiting, 256)
		waiting -= batch
		took := time.Duration(float64(max(batch, 1)) / float64(capacity) * float64(time.Second))
		if nextBatch.Sub(start) < 200*time.Millisecond && now.Sub(start) >= 200*time.Millisecond {
			took += stall
		}
		nextBatch = now.Add(took)
	}
	return early, late, waiting
}

func TestStallRefusesNobodyWhileTheQueueDrains(t *testing.T) {
	t.Parallel()
	for _, stall := range []time.Duration{0, 200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond} {
		if early, late, _ := simulate(10_000, 16_000, stall); early+late > 0 {
			t.Errorf("a stall of %v refused %d requests", stall, early+late)
		}
	}
}

func TestOverloadRefusesAtOnceAndKeepsTheQueueShort(t *testing.T) {
	t.Parallel()
	for _, rate := range []int{20_000, 48_000} {
		early, late, waiting := simulate(rate, 16_000, 0)
		if early+late < (rate-16_000)*3 {
			t.Errorf("%d/s: only %d requests were refused", rate, early+late)
		}
		if waiting > 512 {
			t.Errorf("%d/s: %d requests wait at the end", rate, waiting)
		}
	}
}

// Callers that wait for their answers, and send again, never fill the queue. Its length
// then goes up and down, which must not pass for a queue that drains.
func TestOverloadByCallersThatWaitKeepsTheQueueShort(t *testing.T) {
	t.Parallel()
	const callers, batch, tick = 2048, 256, 50 * time.Millisecond
	c := congestion{low: 256, high: 4096, tolerated: 500 * time.Millisecond}
	rng := rand.New(rand.NewPCG(1, 2))
	now, long := time.Unix(0, 0), 0
	c.idle(now)
	waiting := 0
	const measurements = 400
	for i := range measurements {
		arriving := callers - waiting - rng.IntN(callers/8) // some are on their way
		if free := c.limit(now) - waiting; arriving > free {
			c.refuse(now)
			arriving = free
		}
		waiting += max(arriving, 0)
		c.observe(now, waiting)
		if i > measurements/10 && waiting > 2*c.low {
			long++
		}
		waiting -= min(waiting, batch)
		now = now.Add(tick)
	}
	if long > measurements/10 {
		t.Errorf("the queue was long %d of %d times", long, measurements)
	}
}

// Under overload the queue is at its low limit, and at times a little shorter when a batch is
// taken: that does not end the overload. Otherwise the queue would fill up again and again,
// and each time all answers would be late.
func TestOverloadDoesNotEndWhileRequestsAreRefused(t *testing.T) {
	t.Parallel()
	const batch, tick = 256, 25 * time.Millisecond
	c := congestion{low: 256, high: 4096, tolerated: 500 * time.Millisecond}
	rng := rand.New(rand.NewPCG(3, 4))
	now, long, waiting := time.Unix(0, 0), 0, 0
	c.idle(now)
	const measurements = 2000
	for i := range measurements {
		arriving := 3 * batch
		if free := c.limit(now) - waiting; arriving > free {
			c.refuse(now)
			arriving = free
		}
		waiting += max(arriving, 0)
		seen := waiting
		if rng.IntN(20) == 0 {
			seen -= min(seen, rng.IntN(batch/8)) // the batch starts before the last of them have arrived
		}
		c.observe(now, seen)
		if i > measurements/10 && waiting > 2*c.low {
			long++
		}
		waiting -= min(waiting, batch)
		now = now.Add(tick)
	}
	if long > 0 {
		t.Errorf("the queue was long %d of %d times", long, measurements)
	}
	for range 10 { // the load ends
		now = now.Add(tick)
		c.observe(now, 1)
	}
	if c.limit(now) != c.high {
		t.Error("the overload has not ended a quarter of a second after the load")
	}
}
