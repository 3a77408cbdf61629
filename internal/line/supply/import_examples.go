package supply

import (
	"context"
	"errors"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// searchExamples is how long a held file is searched for examples of numbers that it
// lacks. Where many are missing, which is why it is held, the first are found at once.
const searchExamples = 10 * time.Second

var errEnoughExamples = errors.New("supply: enough examples")

// saveExamples stores examples of what a held file would change. Of the numbers that are
// missing from it the check has only an estimate, so some are searched for.
func (r *importRun) saveExamples(ctx context.Context) error {
	if r.im.Counts.Ended > 0 {
		inTime, cancel := context.WithTimeout(ctx, searchExamples)
		err := r.eachMissing(inTime, r.addMissing)
		cancel()
		late := ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
		if err != nil && !late && !errors.Is(err, errEnoughExamples) {
			return err
		}
	}
	return r.service.inLongTx(ctx, func(tx pg.Tx) error { return r.examples.Save(ctx, tx, r.im.id) })
}

// addMissing adds examples of numbers that are missing from the file.
func (r *importRun) addMissing(ctx context.Context, missing []phone.Number, _ int64) error {
	cs, err := r.service.load(ctx, r.service.Pool, r.rules, missing, false)
	if err != nil {
		return err
	}
	cs.seqs = &seqAllocator{}
	asOf := line.InstantOf(r.im.AsOf)
	for _, c := range cs.ordered {
		var counts Counts
		before := c.RowAt(asOf)
		if err := r.applyMissing(ctx, cs, c, &counts); err != nil {
			return err
		}
		if counts.Ended > 0 {
			after := c.RowAt(asOf)
			r.examples.Add(filerows.Ended, c.Number, &before, &after)
		}
		if !r.examples.Wants(filerows.Ended) {
			return errEnoughExamples
		}
		r.seen.Add(c.Number) // so that the round of ported numbers does not find it again
	}
	return nil
}
