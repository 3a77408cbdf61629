package verify

import (
	"context"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
)

// flushLoop commits batches until the queue is empty. Every batch works under
// the deadline that trimExpired returns.
func (v *Verifier) flushLoop(ctx context.Context) {
	for {
		batch := v.nextBatch()
		if len(batch) == 0 {
			return
		}
		batch, deadline := v.trimExpired(batch)
		withDeadline, cancel := context.WithDeadline(ctx, deadline)
		attempts := maxAttempts
		v.commit(withDeadline, batch, &attempts)
		cancel()
	}
}

// nextBatch takes the next batch from the queue. If there is none, it counts the
// calling flush loop as ended, under the same lock, so that a request that
// arrives next starts a new loop.
func (v *Verifier) nextBatch() []*pending {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.queue.size < v.overloadLimit() {
		v.lastUncongested = time.Now()
	}
	batch := v.queue.take(v.MaxBatch)
	if len(batch) == 0 {
		v.inFlight--
	}
	return batch
}

// trimExpired refuses the requests of a batch that have used more than half of
// their timeout: their short deadline would apply to the others as well. It
// returns the rest, and the deadline for the batch: that of its oldest request,
// less a quarter of the timeout as a reserve for the commit.
func (v *Verifier) trimExpired(batch []*pending) (rest []*pending, deadline time.Time) {
	now := time.Now()
	oldest := now.Add(v.Timeout)
	rest = slices.DeleteFunc(batch, func(p *pending) bool {
		if p.deadline.Sub(now) < v.Timeout/2 {
			p.fail(ErrTimeout)
			return true
		}
		if p.deadline.Before(oldest) {
			oldest = p.deadline
		}
		return false
	})
	return rest, oldest.Add(-v.Timeout / 4)
}

// maxAttempts limits the commits that one batch may cost when the database
// refuses it. Forty are enough to isolate a few bad requests. When no request
// can be recorded, for example because the journal has no partition for today, trying each of them alone
// would only add load.
const maxAttempts = 40

// commit answers a batch of requests, records the answers in one commit, and
// delivers them. If the database refuses the batch because of its content, the
// halves are committed separately, as long as attempts are left.
func (v *Verifier) commit(ctx context.Context, batch []*pending, attempts *int) {
	if len(batch) == 0 {
		return
	}
	err := v.databaseDown()
	if err == nil {
		err = v.Journal.Record(ctx, func(tx pg.Tx) ([]record.Entry, error) { return v.answerBatch(ctx, tx, batch) })
	}
	if *attempts--; err != nil && len(batch) > 1 && *attempts > 0 && pg.Refused(err) {
		half := len(batch) / 2
		v.commit(ctx, batch[:half], attempts)
		v.commit(ctx, batch[half:], attempts)
		return
	}
	v.Breaker.ReportFailure(err)
	for _, p := range batch {
		if err != nil {
			p.answer, p.err = Answer{}, err
		}
		close(p.done)
	}
}
