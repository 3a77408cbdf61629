package verify

import (
	"context"
	"time"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/pg"
)

// enqueue puts requests of one entity into the queue, all or none, and starts a
// flush loop if another one may run. In a full queue each of them needs the
// place of a request of another entity; see [queue.evictFor].
func (v *Verifier) enqueue(ctx context.Context, requests ...*pending) error {
	if err := v.databaseDown(); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	excess := v.queue.size + len(requests) - v.queueLimit(time.Now())
	for range min(excess, len(requests)) {
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
	if v.inFlight < v.MaxInFlight {
		v.inFlight++
		go v.flushLoop(context.WithoutCancel(ctx)) // the loop serves other callers too, so it outlives this one
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

// queueLimit returns how many requests may wait now: MaxQueue, or overloadLimit
// when the queue has been congested for more than half of the timeout. The
// package comment explains why. The caller holds the lock.
func (v *Verifier) queueLimit(now time.Time) int {
	if v.inFlight == 0 {
		v.lastUncongested = now
	}
	if now.Sub(v.lastUncongested) > v.Timeout/2 {
		return v.overloadLimit()
	}
	return v.MaxQueue
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
