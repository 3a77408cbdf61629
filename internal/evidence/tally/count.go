package tally

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// A record carries the time at which its answer was decided, and may be
// committed later than others that carry a later time. So no moment is counted
// once and for all as long as somebody may still write about it.
//
// When can nobody? A transaction begins to write, and is given its number, no
// later than lateness after the time that its records carry: past that the
// request is given up. From then on its number shows whether it is over,
// however long its commit takes. So a fence is put up: a moment, and the first
// transaction number that was not given out by then. Once every transaction
// before that number is over, everything that carries a time earlier than the
// fence, less the lateness, is there or never will be. It is counted a last
// time, for good, and a new fence is put up.
//
// Everything since is counted anew with every count. Counting replaces: it may
// be broken off, repeated, and done by any node.

const (
	// lateness is how long a record may wait before its transaction is given a
	// number, by the clock of the node that counts. A request waits 30 seconds at
	// most; the rest is for clocks that are wrong.
	lateness = time.Minute
	// window is how much of the journal the first transaction counts.
	window = 5 * time.Minute
	// fastCount is how fast that must be for the next window to be twice as long.
	fastCount = 100 * time.Millisecond
	// maxWindow is how long a window gets where there is little to count.
	maxWindow = 12 * time.Hour
	// countTime is for how long one call continues with a backlog.
	countTime = 40 * time.Second
	// deleteBatch is how many old rows are deleted at once.
	deleteBatch = 10_000
)

// mark is how far the journal is counted.
type mark struct {
	settled, seen, fence time.Time
	fenced               bool // transactions from before the fence are not over
	now                  time.Time
}

// Count counts what is new, and goes on with what it is behind with for as long
// as it has time. It returns how far the counts are final.
func (t *Tally) Count(ctx context.Context) (settled time.Time, err error) {
	until := time.Now().Add(countTime)
	if _, err := t.Pool.Exec(ctx, `SELECT journal_summarize()`); err != nil && !locked(err) {
		return settled, fmt.Errorf("tally: bring the index up to date: %w", err)
	}
	if err := t.createMark(ctx); err != nil {
		return settled, err
	}
	// What is new comes first: it is what people look for.
	if err := t.step(ctx, t.countNew); err != nil {
		return settled, err
	}
	for more, length := true, window; more && time.Now().Before(until); {
		began := time.Now()
		err := t.step(ctx, func(ctx context.Context, tx pg.Tx, m mark) (err error) {
			settled, more, err = t.settle(ctx, tx, m, length)
			return err
		})
		if err != nil {
			return settled, err
		}
		if length = min(2*length, maxWindow); time.Since(began) > fastCount {
			length = window
		}
	}
	return settled, t.deleteOld(ctx, settled)
}

// createMark creates the mark, once: the journal is counted from its oldest day on.
func (t *Tally) createMark(ctx context.Context) error {
	var there bool
	if err := t.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM tally_mark)`).Scan(&there); err != nil || there {
		return wrap("look for the mark", err)
	}
	days, err := journal.Days(ctx, t.Pool)
	if err != nil {
		return err
	}
	now := t.Now()
	first := dayOf(now)
	if len(days) > 0 && days[0].Before(first) {
		first = days[0]
	}
	_, err = t.Pool.Exec(ctx, `INSERT INTO tally_mark (settled, seen, fence_at, fence_xact)
		VALUES ($1, $2, $3, pg_current_xact_id()) ON CONFLICT DO NOTHING`, first, now.Add(-lateness), now)
	return wrap("make the mark", err)
}

// prepareSQL makes a transaction fit for counting. Nobody waits for it. What is
// empty may be scanned, and the statistics of a day that has just begun say that
// it is empty; a plan that shuns scans at any price must not be taken for one
// that is worth compiling.
const prepareSQL = `SELECT set_config('statement_timeout', '30s', true), set_config('enable_seqscan', 'off', true)`

// step locks the mark and does something with it. Whoever else counts waits.
func (t *Tally) step(ctx context.Context, do func(context.Context, pg.Tx, mark) error) error {
	m := mark{now: t.Now()} // before the transaction is given its number, and before anything is read
	return pg.InTx(ctx, t.Pool, func(tx pg.Tx) error {
		for _, sql := range []string{prepareSQL, `SELECT FROM tally_mark FOR UPDATE`} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return wrap("lock the mark", err)
			}
		}
		// Only now: what is read here must not be older than the lock, and what is
		// counted below must not be older than what is read here. A number from
		// another cluster, as after a restored dump, says nothing.
		err := tx.QueryRow(ctx, `SELECT settled, seen, fence_at, fence_xact > pg_snapshot_xmin(s) AND fence_xact < pg_snapshot_xmax(s)
			FROM tally_mark, pg_current_snapshot() s`).Scan(&m.settled, &m.seen, &m.fence, &m.fenced)
		if err != nil {
			return wrap("read the mark", err)
		}
		return do(ctx, tx, m)
	})
}

// countNew counts what may have come since the last time.
func (t *Tally) countNew(ctx context.Context, tx pg.Tx, m mark) error {
	// Behind by more than a window, the rest is left to settle.
	from := latest(m.settled, latest(m.seen, m.now.Add(-window)).Add(-lateness).Truncate(time.Minute))
	// Clocks may be ahead, but not by as much as that.
	if err := recount(ctx, tx, from, m.now.Add(time.Hour)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE tally_mark SET seen = $1`, m.now)
	return wrap("move the mark", err)
}

// settle counts what nobody writes to any more, a window at the most, and says
// whether there is more of it.
func (t *Tally) settle(ctx context.Context, tx pg.Tx, m mark, length time.Duration) (settled time.Time, more bool, err error) {
	if m.fenced {
		return m.settled, false, nil
	}
	end := m.fence.Add(-lateness).Truncate(time.Minute)
	to := end
	if m.settled.Add(length).Before(end) {
		to, more = m.settled.Add(length), true
	}
	if to.After(m.settled) {
		if err := recount(ctx, tx, m.settled, to); err != nil {
			return m.settled, false, err
		}
		m.settled = to
	}
	if more {
		_, err = tx.Exec(ctx, `UPDATE tally_mark SET settled = $1`, m.settled)
		return m.settled, true, wrap("move the mark", err)
	}
	// This transaction was given its number after the moment of the fence, so that
	// whoever was given a lower one is watched, if it was before the fence or not.
	_, err = tx.Exec(ctx, `UPDATE tally_mark SET settled = $1, fence_at = $2, fence_xact = pg_current_xact_id()`, m.settled, m.now)
	return m.settled, false, wrap("put up a fence", err)
}

// recountSQL counts whole minutes and stores what is more than what is stored.
// It is never less: nothing leaves the journal but days that were archived, and
// what was counted of those stays.
const recountSQL = `WITH counted AS (
		SELECT entity_id, to_timestamp(s / 60 * 60) AS minute, mode, status, sum(n)::integer AS n, bit_or(1::bigint << (s % 60)::integer) AS seconds
		FROM (SELECT entity_id, mode, status, floor(date_part('epoch', at))::bigint AS s, count(*) AS n
			FROM journal_entry WHERE at >= $1 AND at < $2 GROUP BY 1, 2, 3, 4) e
		GROUP BY entity_id, s / 60, mode, status),
	fresh AS (SELECT c.*, c.n - coalesce(m.n, 0) AS more FROM counted c
		LEFT JOIN journal_minute m ON m.minute >= $1 AND m.minute < $2 AND m.entity_id = c.entity_id AND m.minute = c.minute AND m.mode = c.mode AND m.status = c.status
		WHERE c.n > coalesce(m.n, 0)),
	minutes AS (INSERT INTO journal_minute (entity_id, minute, mode, status, n, seconds)
		SELECT entity_id, minute, mode, status, n, seconds FROM fresh ORDER BY minute, entity_id
		ON CONFLICT (entity_id, minute, mode, status) DO UPDATE SET n = excluded.n, seconds = excluded.seconds),
	days AS (SELECT entity_id, (minute AT TIME ZONE 'UTC')::date AS day, mode, status, sum(more) AS n FROM fresh GROUP BY 1, 2, 3, 4)
	INSERT INTO journal_day AS d (entity_id, day, mode, status, n)
		TABLE days UNION ALL SELECT '00000000-0000-0000-0000-000000000000', day, mode, status, sum(n) FROM days GROUP BY 2, 3, 4
		ON CONFLICT (entity_id, day, mode, status) DO UPDATE SET n = d.n + excluded.n`

// recount counts the minutes between from and to anew.
func recount(ctx context.Context, tx pg.Tx, from, to time.Time) error {
	_, err := tx.Exec(ctx, recountSQL, from, to)
	return wrap("count", err)
}

// deleteOld deletes the minutes that are no longer kept. What is not settled will
// be counted again, and must find what was counted of it.
func (t *Tally) deleteOld(ctx context.Context, settled time.Time) error {
	old := t.Now().Add(-Retention).Truncate(time.Minute)
	if settled.Before(old) {
		old = settled
	}
	_, err := pg.InBatches(func() (int64, error) {
		tag, err := t.Pool.Exec(ctx, `DELETE FROM journal_minute WHERE (entity_id, minute, mode, status) IN
			(SELECT entity_id, minute, mode, status FROM journal_minute WHERE minute < $1 ORDER BY minute LIMIT $2)`, old, deleteBatch)
		return tag.RowsAffected(), err
	})
	return wrap("delete old minutes", err)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// locked reports that another process works on a table: a vacuum, which brings its
// index up to date as well.
func locked(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "55P03"
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("tally: %s: %w", what, err)
}
