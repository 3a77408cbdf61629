package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Record calls decide in a transaction, writes the entries that it returns as
// one batch in the same transaction, and returns nil once all is committed.
// Everything that decide reads comes from one snapshot, and what it read from a
// primary cannot be committed on the standby that took over from it. An error of
// decide is returned unchanged; if it returns no entries, nothing is written.
func (j *Journal) Record(ctx context.Context, decide func(from pg.DB) ([]record.Entry, error)) error {
	return j.RecordPrepared(ctx, decide, func(*Prepared) {})
}

// RecordPrepared is Record, and calls prepared when the batch is as it will be committed. It
// does not wait for anything that prepared starts. Nobody may be told of the batch unless
// RecordPrepared returns nil.
func (j *Journal) RecordPrepared(ctx context.Context, decide func(from pg.DB) ([]record.Entry, error), prepared func(*Prepared)) error {
	var b *batch
	var snapshot *pg.Snapshot
	var decideErr error
	start := time.Now()
	number, err := j.numbers.Take(ctx)
	if err != nil {
		return j.finish(1, start, err)
	}
	row, err := pg.InTwoTrips(ctx, j.pool, func(s *pg.Snapshot) (*pg.Final, error) {
		var entries []record.Entry
		if entries, decideErr = decide(s); decideErr != nil || len(entries) == 0 {
			return nil, decideErr
		}
		var err error
		if b, err = j.prepare(number, entries); err != nil {
			return nil, err
		}
		snapshot = s
		prepared(b.prepared())
		return &pg.Final{Name: insertName, SQL: insertBatch, Values: b.values()}, nil
	})
	if b == nil || err != nil && !errors.Is(err, pg.ErrUnknown) {
		number.NotWritten()
	}
	if decideErr != nil {
		return decideErr
	}
	if b == nil {
		return j.finish(0, start, err)
	}
	b.timeline = snapshot.Timeline
	switch {
	case err == nil:
		err = requireWritten(row)
	case errors.Is(err, pg.ErrUnknown):
		err = j.settle(ctx, b, err)
	default:
		return j.finish(len(b.entries), start, err)
	}
	if err == nil {
		number.Written()
	} else {
		number.Unknown() // also if the last attempt was refused: the first may still be in progress
	}
	return j.finish(len(b.entries), start, err)
}

// finish reports a batch and returns what the caller of Record gets.
func (j *Journal) finish(entries int, start time.Time, err error) error {
	if j.Observe != nil && (entries > 0 || err != nil) {
		j.Observe(max(entries, 1), time.Since(start), err)
	}
	if err != nil {
		return ErrNotRecorded.Because(fmt.Errorf("journal: record: %w", err))
	}
	return nil
}

// requireWritten returns an error unless the first attempt wrote its batch. The key can
// be taken only if the database was restored to an earlier time and a node uses an epoch
// again: then the record of another answer is there.
func requireWritten(row [][]byte) error {
	written, _, err := readInserted(row)
	if err == nil && !written {
		return errors.New("journal: the key of the batch is taken; after a restore run lineproof journal new-epoch and start the nodes again")
	}
	return err
}

// retryPause is the time before a batch whose commit was not confirmed is retried.
const retryPause = 25 * time.Millisecond

// settle retries a batch whose commit was not confirmed, under the same key,
// until it is certain that it is stored or ctx ends. Unknown is the error of the
// first attempt.
func (j *Journal) settle(ctx context.Context, b *batch, unknown error) error {
	for {
		select {
		case <-ctx.Done():
			return unknown
		case <-time.After(retryPause):
		}
		err := pg.InTx(ctx, j.pool, func(tx pg.Tx) error { return b.retry(ctx, tx) })
		if err == nil || !pg.IsUnavailable(err) && !errors.Is(err, pg.ErrUnknown) {
			return err
		}
	}
}

var errFailover = errors.New("journal: a standby has taken over since the lookup, and it does not have the batch")

// retry writes a batch unless it exists. If it exists, it may not be durable yet:
// rows can be visible while their commit still waits for a standby. So a second
// transaction is committed, later in the WAL, and the batch is acknowledged only
// when that commit is confirmed.
func (b *batch) retry(ctx context.Context, tx pg.Tx) error {
	written, timeline, err := b.insert(ctx, tx)
	if err != nil {
		return err
	}
	if written {
		if timeline != b.timeline {
			return errFailover // the lookup on the old server may be out of date on this one
		}
		return nil
	}
	_, err = tx.Exec(ctx, `INSERT INTO journal_fence (node, at) VALUES ($1, now()) ON CONFLICT (node) DO UPDATE SET at = excluded.at`, b.node)
	return fault.Wrap(err, "journal: fence")
}
