package verify

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// mayStart reports whether a batch may start: none is being looked up, not as many are on
// their way as may be, and as many requests wait as the last batch took. With fewer, two
// small commits would cost the database more than one, and the caller little time. The
// caller holds the lock.
func (v *Verifier) mayStart() bool {
	return !v.lookingUp && v.inFlight < v.MaxInFlight && (v.inFlight == 0 || v.queue.size >= v.lastBatch)
}

// startBatch takes the next batch from the queue and commits it in a goroutine of its
// own, if one may start. It is called whenever that may have changed. The caller holds
// the lock.
func (v *Verifier) startBatch(ctx context.Context) {
	if !v.mayStart() {
		return
	}
	v.congestion.observe(time.Now(), v.queue.size)
	batch := v.queue.take(v.MaxBatch)
	if len(batch) == 0 {
		return
	}
	v.inFlight++
	v.lookingUp, v.lastBatch = true, len(batch)
	go v.flush(ctx, batch)
}

// flush commits one batch. While its commit waits for the disk, the next one is looked
// up. It works under the deadline that trimExpired returns.
func (v *Verifier) flush(ctx context.Context, batch []*pending) {
	lookedUp := sync.OnceFunc(func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lookingUp = false
		v.startBatch(ctx)
	})
	batch, deadline := v.trimExpired(batch)
	withDeadline, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	attempts := maxAttempts
	v.commit(withDeadline, batch, &attempts, lookedUp)
	lookedUp() // also if nothing could be looked up
	v.mu.Lock()
	defer v.mu.Unlock()
	v.inFlight--
	v.startBatch(ctx)
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
// halves are committed separately, as long as attempts are left. It calls lookedUp once the
// answers are known.
func (v *Verifier) commit(ctx context.Context, batch []*pending, attempts *int, lookedUp func()) {
	if len(batch) == 0 {
		return
	}
	err := v.databaseDown()
	var promised *logreceipt.PromisedBatch
	if err == nil {
		err = v.Journal.RecordPrepared(ctx, func(from pg.DB) ([]record.Entry, error) {
			defer lookedUp()
			return v.answerBatch(ctx, from, batch)
		}, func(b *journal.Prepared) { promised = v.promise(b, batch) })
	}
	if *attempts--; err != nil && len(batch) > 1 && *attempts > 0 && pg.Refused(err) {
		half := len(batch) / 2
		v.commit(ctx, batch[:half], attempts, lookedUp)
		v.commit(ctx, batch[half:], attempts, lookedUp)
		return
	}
	v.Breaker.ReportFailure(err)
	for _, p := range batch {
		if err != nil {
			p.answer, p.err = Answer{}, err
		} else if p.err == nil && p.request.Include.Receipt {
			p.answer.Receipt = logreceipt.Promise{Batch: promised, Index: p.place}
		}
		close(p.done)
	}
}

// promise starts to sign the promise about a batch, if one of its requests wants a receipt.
func (v *Verifier) promise(b *journal.Prepared, batch []*pending) *logreceipt.PromisedBatch {
	if v.Promises == nil || !slices.ContainsFunc(batch, func(p *pending) bool { return p.request.Include.Receipt }) {
		return nil
	}
	return v.Promises.Sign(b)
}
