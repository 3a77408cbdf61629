package verify

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// enqueue puts requests of one entity into the queue, all or none, and starts a
// batch if one may start. In a full queue each of them needs the
// place of a request of another entity; see [queue.evictFor].
func (v *Verifier) enqueue(ctx context.Context, requests ...*pending) error {
	if err := v.databaseDown(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	excess := v.queue.size + len(requests) - v.queueLimit(now)
	for range min(excess, len(requests)) {
		v.congestion.refuse(now)
		evicted := v.queue.evictFor(requests[0].request.Entity, len(requests))
		if evicted == nil {
			return ErrBusy
		}
		if !evicted.abandoned {
			evicted.fail(ErrBusy)
		}
	}
	for _, p := range requests {
		v.queue.push(p)
	}
	if v.mayStart() {
		v.startBatch(context.WithoutCancel(ctx)) // the batch serves other callers too, so it outlives this one
	}
	return nil
}

// databaseDown returns an error while the breaker knows that nothing can be
// recorded.
func (v *Verifier) databaseDown() error {
	if v.Breaker.Open() {
		return journal.ErrNotRecorded.Because(pg.ErrDatabaseDown)
	}
	return nil
}

// queueLimit returns how many requests may wait now. The caller holds the lock.
func (v *Verifier) queueLimit(now time.Time) int {
	c := &v.congestion
	if c.high == 0 {
		c.low, c.high, c.tolerated = v.overloadLimit(), v.MaxQueue, v.Timeout/2
	}
	if v.inFlight == 0 {
		c.idle(now)
	}
	return c.limit(now)
}

// overloadLimit is how many requests may wait under overload. A queue shorter
// than this is not congested.
func (v *Verifier) overloadLimit() int { return max(v.MaxQueue/16, 1) }

// Waiting returns how many requests wait for a commit.
func (v *Verifier) Waiting() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.queue.size
}
