package verify

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/rehearsal"
)

// rehearsed reports whether a key for tests asks, which never sees a line. A key
// is live or for tests; the database has no other.
func (q *Question) rehearsed() bool { return q.Mode == "test" }

// rehearse lets questions about test numbers wait, and refuses the others before
// they are asked.
func (v *Verifier) rehearse(ctx context.Context, questions []Question) []error {
	numbers := make([]phone.Number, len(questions))
	for i := range questions {
		numbers[i] = questions[i].Number
	}
	errs := v.Stage.Await(ctx, v.Patience, numbers...)
	for i, err := range errs {
		if errors.Is(err, context.DeadlineExceeded) {
			errs[i] = ErrTooLate.Because(err)
		}
	}
	return errs
}

// askRehearsed is [Verifier.AskAll] for a key for tests.
func (v *Verifier) askRehearsed(ctx context.Context, questions []Question) ([]Answer, []error, error) {
	answers, errs := make([]Answer, len(questions)), v.rehearse(ctx, questions)
	var rest []Question
	for i, err := range errs {
		if err == nil {
			rest = append(rest, questions[i])
		}
	}
	if len(rest) == 0 {
		return answers, errs, nil
	}
	given, failed, err := v.askAll(ctx, rest)
	if err != nil {
		return nil, nil, err
	}
	for i, err := range errs {
		if err == nil {
			answers[i], errs[i] = given[0], failed[0]
			given, failed = given[1:], failed[1:]
		}
	}
	return answers, errs, nil
}

// clocksOf returns the test clocks of the keys for tests in a batch.
func clocksOf(ctx context.Context, tx pg.Tx, batch []*waiting) (map[uuid.UUID]rehearsal.Clock, error) {
	var keys []uuid.UUID
	for _, w := range batch {
		if w.question.rehearsed() {
			keys = append(keys, w.question.Key)
		}
	}
	return rehearsal.Clocks(ctx, tx, keys)
}

// play returns what a test number plays, and the moment for which it holds.
func (v *Verifier) play(q *Question, c rehearsal.Clock, at time.Time, p *policy.Policy) (l line.Look, of time.Time, err error) {
	part, ok := v.Stage.Play(q.Number, c, at, p)
	switch {
	case !ok:
		return l, of, v.Stage.Outside()
	case part.Fault != nil:
		return l, of, part.Fault
	}
	return *part.Look, part.At, nil
}
