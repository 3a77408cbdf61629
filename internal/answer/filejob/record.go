package filejob

import (
	"context"
	"errors"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Records numbers and writes the batches of file jobs of one process, beside those of
// verifications.
type Records struct {
	Node    string
	Numbers *journal.EpochWriter
}

// writeBatch writes what decide returns as one batch, and calls also in the same transaction,
// which stores how far the job has come. Its batch is nil if there are no entries. When
// the outcome of the commit is unknown, what also has stored says what happened.
func (r *jobRun) writeBatch(ctx context.Context, decide func(from pg.DB) ([]record.Entry, error), also func(tx pg.Tx, b *journal.Prepared) error) error {
	number, err := r.Records.Numbers.Take(ctx)
	if err != nil {
		return err
	}
	var batch *journal.Prepared
	err = pg.InSnapshot(ctx, r.Pool, func(tx pg.Tx) error {
		entries, err := decide(tx)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			if batch, err = journal.Write(ctx, tx, r.Records.Node, number, entries); err != nil {
				return err
			}
		}
		return also(tx, batch)
	})
	switch {
	case errors.Is(err, pg.ErrUnknown):
		number.Unknown()
	case err == nil && batch != nil:
		number.Written()
	default:
		number.NotWritten()
	}
	return err
}
