package verify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/sandbox"
)

// answerBatch answers a batch of requests from one look-up, and returns the
// journal records of the answers. A request that ends with an error has no
// record.
func (v *Verifier) answerBatch(ctx context.Context, tx pg.Tx, batch []*pending) ([]journal.Entry, error) {
	// The clock is read once: the same time is the answer's timestamp, the time
	// inside its id, the key of the record's partition, and the time for which
	// the status is computed.
	at := v.Now().UTC().Truncate(time.Millisecond)
	numbers := make([]phone.Number, 0, len(batch))
	for _, p := range batch {
		if !p.request.isTest() {
			numbers = append(numbers, p.request.Number)
		}
	}
	lines, err := v.Lines.LookupAll(ctx, tx, numbers, at)
	if err != nil {
		return nil, err
	}
	var clocks map[uuid.UUID]sandbox.Clock
	if len(numbers) < len(batch) {
		if clocks, err = testClocks(ctx, tx, batch); err != nil {
			return nil, err
		}
	}
	entries := make([]journal.Entry, 0, len(batch))
	for _, p := range batch {
		r, statusAt := &p.request, at
		var l linestore.Lookup
		if r.isTest() {
			l, statusAt, p.err = v.simulate(r, clocks[r.Key], at, lines.Policy())
		} else {
			l = lines.Get(r.Number)
		}
		if p.err == nil {
			p.answer, p.err = newAnswer(r, &l, at, statusAt)
		}
		if p.err != nil {
			continue
		}
		entries = append(entries, journal.Entry{
			RequestID: p.answer.RequestID, At: at, Entity: r.Entity, Key: r.Key, Mode: r.Mode, Purpose: r.Purpose, Correlator: r.Correlator,
			Number: r.Number.Int(), PhoneNumber: r.RawNumber, Options: r.options(), Status: string(p.answer.Status), MobileNetwork: p.answer.Network,
			Extra: p.answer.ExtraJSON, LineVersion: int64(l.Row.Version), PolicyVersion: l.Policy.Version, PlanVersion: l.Plan.Version, Nonce: journal.NewNonce(),
		})
	}
	return entries, nil
}

// newAnswer computes an answer that is given at one time about the status at
// another. The two differ only for test keys, whose clock can be ahead.
func newAnswer(r *Request, l *linestore.Lookup, at, statusAt time.Time) (a Answer, err error) {
	view := l.View(statusAt)
	a = Answer{RequestID: journal.NewRequestID(at), At: at, Status: view.Status, Network: l.NetworkName(view.Network)}
	if !r.wantsExtra() {
		return a, nil
	}
	a.Extra = r.extra(l, view, statusAt)
	a.ExtraJSON, err = a.Extra.text()
	return a, err
}
