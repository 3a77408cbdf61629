// Package outbox keeps what changed about lines until it was passed on.
//
// What it guarantees:
//
//   - A change is written in the transaction that changes the line ([Append]), so
//     that it exists if and only if the line has changed.
//   - A reader that goes on from mark to mark ([Read]) gets every change once, and the
//     changes of one number in the order in which they were made, whichever
//     transactions were open meanwhile. It waits only for transactions that are about
//     to write changes, and not for others.
//   - Nothing about a number is passed on while it is sealed ([Seal]). The readers set its
//     changes aside ([SetAsideForFeed]), and pass them on in their order when the seal has ended.
//
// Numbers of a sequence do not become visible in their order: a reader that asks for
// "n greater than the last one" misses what commits late. So a writer first takes a
// shared advisory lock that carries the last number of the sequence, and only then
// draws numbers, which are all greater. The reader first reads the last number of the
// sequence, then the lowest lock, and then the rows up to the lower of the two. A writer
// whose lock it did not see has either not drawn its numbers yet, and they will be
// above that; or it has ended, and its rows are visible, because PostgreSQL makes a
// commit visible before it releases the locks.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Change is one change of a line, or of many at once.
type Change struct {
	N          int64        // its place in the outbox; of a new change 0
	Number     phone.Number // zero for a class change
	Lines      int64        // of a class change: how many lines
	ReportedAt time.Time
	Import     int32 // that made it; 0 for a call of the API
	Kind       Kind

	// Not of class changes.
	FromVersion, Version int32 // of the row
	Effective            line.Instant
	Until                line.Instant // when After ends by itself; Never if it does not
	Before, After        line.Status  // as if the supply were fresh
	FromNetwork          numbering.Network
	Correction           bool // it changes what was known about an earlier time

	Network numbering.Network
}

// IsClass reports whether the change is about many lines, which it does not list.
func (c *Change) IsClass() bool { return c.Kind >= firstClass }

// Channel is notified whenever changes were committed.
const Channel = "line_change"

// lockClass is the upper part of the keys of the writers' advisory locks; the lower
// 48 bits are a number of the sequence.
const lockClass int64 = 77 << 48

// lastNumber is the last number that the sequence has given out. The function locks the row of
// the sequence. To select from the sequence does not: it can return a number up to 32 above
// the last one, which the row has for a moment while nextval writes to the log.
const lastNumber = `SELECT coalesce(pg_sequence_last_value('line_change_n'), 0)`

// Append writes changes in the transaction that made them, which has the rows of
// their lines locked. From then on until the transaction ends, no reader gets further:
// call it as late in the transaction as possible.
func Append(ctx context.Context, tx pg.Tx, changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	var c columns
	for i := range changes {
		c.add(&changes[i])
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT pg_advisory_xact_lock_shared($1::bigint + (`+lastNumber+`))`, lockClass)
	batch.Queue(`INSERT INTO line_change (number, lines, reported_at, import, kind, from_version, version, effective, until, before, after, from_network, network, correction)
		SELECT nullif(t.number, 0), CASE WHEN t.number = 0 THEN t.lines END, t.reported_at, t.import, t.kind, t.from_version, t.version,
			nullif(t.effective, -2147483648), nullif(t.until, -2147483648), nullif(t.before, 0), nullif(t.after, 0), t.from_network, t.network, t.correction
		FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::int[], $5::smallint[], $6::int[], $7::int[], $8::int[], $9::int[], $10::smallint[], $11::smallint[],
			$12::smallint[], $13::smallint[], $14::bool[])
			AS t (number, lines, reported_at, import, kind, from_version, version, effective, until, before, after, from_network, network, correction)`,
		c.number, c.lines, c.reportedAt, c.imports, c.kind, c.fromVersion, c.version, c.effective, c.until, c.before, c.after, c.fromNetwork, c.network, c.correction)
	batch.Queue(`SELECT pg_notify($1, '')`, Channel)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("outbox: write changes: %w", err)
	}
	return nil
}

// columns holds changes by column.
type columns struct {
	number, lines                                   []int64
	reportedAt                                      []time.Time
	imports, fromVersion, version, effective, until []int32
	kind, before, after, fromNetwork, network       []int16
	correction                                      []bool
}

func (c *columns) add(change *Change) {
	c.number, c.lines = append(c.number, change.Number.Int()), append(c.lines, change.Lines)
	c.reportedAt, c.imports = append(c.reportedAt, change.ReportedAt), append(c.imports, change.Import)
	c.fromVersion, c.version = append(c.fromVersion, change.FromVersion), append(c.version, change.Version)
	c.effective, c.until = append(c.effective, int32(change.Effective)), append(c.until, int32(change.Until))
	c.kind = append(c.kind, int16(change.Kind))
	c.before, c.after = append(c.before, CodeOf(change.Before)), append(c.after, CodeOf(change.After))
	c.fromNetwork, c.network = append(c.fromNetwork, int16(change.FromNetwork)), append(c.network, int16(change.Network))
	c.correction = append(c.correction, change.Correction)
}

// Horizon returns the settled horizon: no change up to it will become visible any more.
func Horizon(ctx context.Context, from pg.DB) (n int64, err error) {
	// Two statements, because the order of the two reads is what the horizon rests on.
	if err := from.QueryRow(ctx, lastNumber).Scan(&n); err != nil {
		return 0, fmt.Errorf("outbox: read the last number: %w", err)
	}
	var lowest *int64
	err = from.QueryRow(ctx, `SELECT min((classid::bigint << 32 | objid::bigint) - $1) FROM pg_locks
		WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = $1 >> 48
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockClass).Scan(&lowest)
	if err != nil {
		return 0, fmt.Errorf("outbox: read the locks of writers: %w", err)
	}
	if lowest != nil {
		n = min(n, *lowest)
	}
	return n, nil
}

// Read returns up to limit changes after a mark, in their order, and the mark from
// which to go on. From may be a transaction, but only at isolation level read
// committed, and on the primary: a standby does not have the locks of writers.
func Read(ctx context.Context, from pg.DB, mark int64, limit int) (changes []Change, next int64, err error) {
	horizon, err := Horizon(ctx, from)
	if err != nil || horizon <= mark {
		return nil, mark, err
	}
	rows, err := from.Query(ctx, `SELECT n, coalesce(number, 0), coalesce(lines, 0), reported_at, import, kind, coalesce(from_version, 0), coalesce(version, 0),
			coalesce(effective, -2147483648), coalesce(until, -2147483648), coalesce(before, 0), coalesce(after, 0), coalesce(from_network, 0), network, correction
		FROM line_change WHERE n > $1 AND n <= $2 ORDER BY n LIMIT $3`, mark, horizon, limit)
	if err != nil {
		return nil, mark, fmt.Errorf("outbox: read changes: %w", err)
	}
	if err := scanChanges(rows, nil, func(c Change) { changes = append(changes, c) }); err != nil {
		return nil, mark, err
	}
	if len(changes) == limit {
		return changes, changes[limit-1].N, nil
	}
	return changes, horizon, nil
}

// scanChanges reads the columns of changes, and further ones.
func scanChanges(rows pgx.Rows, further []any, each func(Change)) error {
	var c Change
	var number int64
	var before, after int16
	_, err := pgx.ForEachRow(rows, append([]any{
		&c.N, &number, &c.Lines, &c.ReportedAt, &c.Import, &c.Kind, &c.FromVersion, &c.Version, &c.Effective, &c.Until, &before, &after, &c.FromNetwork, &c.Network, &c.Correction,
	}, further...), func() error {
		c.Number, _ = phone.FromInt(number)
		c.ReportedAt, c.Before, c.After = c.ReportedAt.UTC(), StatusOf(before), StatusOf(after)
		each(c)
		return nil
	})
	if err != nil {
		return fmt.Errorf("outbox: read changes: %w", err)
	}
	return nil
}

// keptFor is how long a change is kept, and deleteBatch how many one statement deletes.
const (
	keptFor     = 7 * 24 * time.Hour
	deleteBatch = 10_000
)

// DeleteOld deletes the changes that are older than a week and that every reader has
// read, the timers that fell due as long ago, and the seals that nobody has confirmed in
// time and that are as old, and returns how many.
func DeleteOld(ctx context.Context, from pg.DB, now time.Time) (deleted int64, err error) {
	for _, statement := range []string{
		`DELETE FROM line_change WHERE n IN (SELECT n FROM line_change WHERE n <= (SELECT min(n) FROM outbox_mark) ORDER BY n LIMIT $2) AND reported_at < $1`,
		`DELETE FROM line_timer WHERE number IN (SELECT number FROM line_timer WHERE told AND line_time(due) < $1 LIMIT $2)`,
		deleteUnconfirmed,
	} {
		n, err := pg.InBatches(func() (int64, error) {
			done, err := from.Exec(ctx, statement, now.Add(-keptFor), deleteBatch)
			if err != nil {
				return 0, fmt.Errorf("outbox: delete changes: %w", err)
			}
			return done.RowsAffected(), nil
		})
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// LockMark returns up to where the feed has read the outbox, and keeps it from
// reading on until the transaction ends.
func LockMark(ctx context.Context, tx pg.Tx) (mark int64, err error) {
	if err := tx.QueryRow(ctx, `SELECT n FROM outbox_mark WHERE reader = 'feed' FOR UPDATE`).Scan(&mark); err != nil {
		return 0, fmt.Errorf("outbox: lock the mark: %w", err)
	}
	return mark, nil
}

// TryLockMark is [LockMark] for the feed itself. It does not wait, and returns false while
// somebody else has the mark.
func TryLockMark(ctx context.Context, tx pg.Tx) (mark int64, ok bool, err error) {
	err = tx.QueryRow(ctx, `SELECT n FROM outbox_mark WHERE reader = 'feed' FOR UPDATE SKIP LOCKED`).Scan(&mark)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("outbox: lock the mark: %w", err)
	}
	return mark, true, nil
}

// MoveMark records up to where the feed has read. Tx has the mark locked.
func MoveMark(ctx context.Context, tx pg.Tx, mark int64) error {
	if _, err := tx.Exec(ctx, `UPDATE outbox_mark SET n = $1 WHERE reader = 'feed'`, mark); err != nil {
		return fmt.Errorf("outbox: move the mark: %w", err)
	}
	return nil
}

// Unsettled reports whether changes after a mark exist, or are about to be written, that
// cannot be read yet because a writer is still open.
func Unsettled(ctx context.Context, from pg.DB, mark int64) (bool, error) {
	var last int64
	if err := from.QueryRow(ctx, lastNumber).Scan(&last); err != nil {
		return false, fmt.Errorf("outbox: read the last number: %w", err)
	}
	return last > mark, nil
}

// Mark returns up to where a reader has read the outbox. The feed has functions of its
// own: watch-lists lock its mark.
func Mark(ctx context.Context, from pg.DB, reader string) (mark int64, err error) {
	if err := from.QueryRow(ctx, `SELECT n FROM outbox_mark WHERE reader = $1`, reader).Scan(&mark); err != nil {
		return 0, fmt.Errorf("outbox: read a mark: %w", err)
	}
	return mark, nil
}

// AdvanceMark records up to where a reader has read, and returns false if somebody else
// has moved its mark meanwhile.
func AdvanceMark(ctx context.Context, tx pg.Tx, reader string, from, to int64) (bool, error) {
	moved, err := tx.Exec(ctx, `UPDATE outbox_mark SET n = $3 WHERE reader = $1 AND n = $2`, reader, from, to)
	if err != nil {
		return false, fmt.Errorf("outbox: move a mark: %w", err)
	}
	return moved.RowsAffected() == 1, nil
}
