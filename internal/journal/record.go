package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/pg"
)

// Record calls decide in a transaction, writes the entries that it returns as
// one batch in the same transaction, and returns nil once all is committed.
// Everything that decide reads is of one moment, and what was read from a
// primary that has been deposed cannot be committed on its successor. An error
// of decide is passed on unchanged; if it returns no entries, nothing is written.
func (j *Journal) Record(ctx context.Context, decide func(tx pg.Tx) ([]Entry, error)) error {
	var b *batch
	var undecided error
	entries, start := 0, time.Now()
	err := pg.InSnapshot(ctx, j.pool, func(tx pg.Tx) error {
		var decided []Entry
		if decided, undecided = decide(tx); undecided != nil || len(decided) == 0 {
			return undecided
		}
		sealed, err := j.seal(decided)
		if err != nil {
			return err
		}
		entries = len(decided)
		if _, sealed.timeline, err = sealed.insert(ctx, tx); err != nil {
			return err
		}
		b = sealed
		return nil
	})
	if undecided != nil {
		return undecided
	}
	if b != nil && errors.Is(err, pg.ErrUnknown) {
		err = j.settle(ctx, b, err)
	}
	if j.Observe != nil && (entries > 0 || err != nil) {
		j.Observe(max(entries, 1), time.Since(start), err)
	}
	if err != nil {
		return ErrNotRecorded.Because(fmt.Errorf("journal: record: %w", err))
	}
	return nil
}

// pause is how long a batch of unknown outcome waits before it is tried again.
const pause = 25 * time.Millisecond

// settle tries a batch whose commit was not confirmed again, under the same key,
// until it is known to be there or the time is up. Unknown is what the first try
// ended with.
func (j *Journal) settle(ctx context.Context, b *batch, unknown error) error {
	for {
		select {
		case <-ctx.Done():
			return unknown
		case <-time.After(pause):
		}
		err := pg.InTx(ctx, j.pool, func(tx pg.Tx) error { return b.again(ctx, tx) })
		if err == nil || !pg.Away(err) && !errors.Is(err, pg.ErrUnknown) {
			return err
		}
	}
}

var errDeposed = errors.New("journal: another server has taken over since the look-up, and the batch did not reach it")

// again writes a batch unless it is there. That it is there is seen by reading,
// and what can be read may not be durable yet: its own commit may still wait for
// a standby. So one more commit is made, behind it in the log, and the batch is
// acknowledged only when that one is confirmed.
func (b *batch) again(ctx context.Context, tx pg.Tx) error {
	written, timeline, err := b.insert(ctx, tx)
	if err != nil {
		return err
	}
	if written {
		if timeline != b.timeline {
			return errDeposed // what was looked up there may be out of date here
		}
		return nil
	}
	_, err = tx.Exec(ctx, `INSERT INTO journal_fence (node, at) VALUES ($1, now()) ON CONFLICT (node) DO UPDATE SET at = excluded.at`, b.node)
	if err != nil {
		return fmt.Errorf("journal: fence: %w", err)
	}
	return nil
}
