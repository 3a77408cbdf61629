package verify

import (
	"context"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// AnswerIn answers requests at the caller's own pace, beside the queue. The caller writes
// the records that it returns in the transaction from, and gives no answer before that is
// committed. A request without an answer, such as one of a test key about a number that
// is not a test number, has no record and its own error, at the same index.
func (v *Verifier) AnswerIn(ctx context.Context, from pg.DB, requests []Request) (entries []record.Entry, errs []error, err error) {
	batch := make([]*pending, len(requests))
	for i := range requests {
		batch[i] = &pending{request: requests[i]}
	}
	if entries, err = v.answerBatch(ctx, from, batch); err != nil {
		return nil, nil, err
	}
	errs = make([]error, len(batch))
	for i, p := range batch {
		errs[i] = p.err
	}
	return entries, errs, nil
}
