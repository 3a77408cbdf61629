package verify

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// answerBatch answers a batch of requests from one look-up, and returns the
// journal records of the answers. A request that ends with an error has no
// record.
func (v *Verifier) answerBatch(ctx context.Context, from pg.DB, batch []*pending) ([]record.Entry, error) {
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
	lines, err := v.Lines.LookupAll(ctx, from, numbers, at)
	if err != nil {
		return nil, err
	}
	var clocks map[uuid.UUID]sandbox.Clock
	if len(numbers) < len(batch) {
		if clocks, err = testClocks(ctx, from, batch); err != nil {
			return nil, err
		}
	}
	entries := make([]record.Entry, 0, len(batch))
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
		p.place = len(entries)
		entries = append(entries, newEntry(r, &p.answer, &l, statusAt))
	}
	return entries, nil
}

const (
	// typeNumber is the type of a record that answers about one number.
	typeNumber = "number"
	// rulesVersion is the version of the rules of lines by which answers are computed. It
	// changes with docs/explanation/lines.md, when an answer would be another one.
	rulesVersion = 1
)

// newEntry returns the record of an answer.
func newEntry(r *Request, a *Answer, l *linestore.Lookup, statusAt time.Time) record.Entry {
	return record.Entry{
		RequestID: a.RequestID, At: a.At, Type: typeNumber, Entity: r.Entity, Key: r.Key, Mode: r.Mode, Purpose: r.Purpose, PurposeText: r.PurposeText,
		Status: string(a.Status), Reason: string(a.Reason), MobileNetwork: a.Network, LineVersion: int64(l.Row.Version), PolicyVersion: l.Policy.Version,
		PlanVersion: l.Plan.Version, Rules: rulesVersion, Coverage: recordCoverage(l.Topics(l.Policy, statusAt)), Nonce: record.NewNonce(),
		Personal: record.Personal{
			Number: r.Number.Int(), PhoneNumber: r.RawNumber, Correlator: r.Correlator, ExternalID: r.ExternalID, OnBehalfOf: r.OnBehalfOf,
			Options: r.options(), Extra: a.ExtraJSON,
		},
	}
}

// newAnswer computes an answer that is given at one time about the status at
// another. The two differ only for test keys, whose clock can be ahead.
func newAnswer(r *Request, l *linestore.Lookup, at, statusAt time.Time) (a Answer, err error) {
	view := l.View(statusAt)
	a = Answer{RequestID: record.NewRequestID(at), At: at, Status: view.Status, Reason: view.Reason, Network: l.NetworkName(view.Network)}
	if !r.wantsExtra() {
		return a, nil
	}
	a.Extra = r.extra(l, view, statusAt)
	a.ExtraJSON, err = a.Extra.text()
	return a, err
}
