package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrLapsed reports a segment whose key has lapsed.
	ErrLapsed = fault.New(fault.Gone, "The key of this day has lapsed, and nobody can read it any more.")
	// ErrNoSegment reports a day that is not archived.
	ErrNoSegment = fault.New(fault.NotFound, "The feeds of this day are not archived: it is still in the database, or no event was added on it.")

	errChanged = errors.New("feed: the day was changed while it was archived; run it again")
)

// tableOf returns the partition of a day.
func tableOf(day time.Time) string { return "feed_entry_" + day.Format("20060102") }

// Due returns the days before a time that are in the database, oldest first.
func (a *Archive) Due(ctx context.Context, before time.Time) ([]time.Time, error) {
	days, err := pg.Collect(ctx, a.Pool, pgx.RowTo[time.Time], `SELECT to_date(right(c.relname, 8), 'YYYYMMDD') AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'feed_entry'::regclass AND to_date(right(c.relname, 8), 'YYYYMMDD') < $1::date ORDER BY day`, before.UTC())
	return days, fault.Wrap(err, "feed: list the days")
}

// Archive moves a day from the database into a segment. It can be stopped at any moment: the
// day then is still in the database, and the file that was begun is never used. A day without
// events has no segment.
func (a *Archive) Archive(ctx context.Context, day time.Time) (s Segment, err error) {
	s = Segment{Day: day}
	bodies, err := a.count(ctx, a.Pool, day, &s.Entries)
	if err != nil {
		return s, err
	}
	if s.Entries > 0 {
		s, err = a.write(ctx, day, func(add func(*Row) error) error { return a.eachRow(ctx, day, add) })
	}
	if err == nil {
		err = a.replace(ctx, &s, bodies)
	}
	if err != nil && s.file != uuid.Nil && !errors.Is(err, pg.ErrUnknown) {
		_ = a.Files.Delete(context.WithoutCancel(ctx), s.file.String()) // nobody knows its key any more
	}
	return s, err
}

// replace records a segment and drops its day from the database.
func (a *Archive) replace(ctx context.Context, s *Segment, bodies int64) error {
	return pg.InTx(ctx, a.Pool, func(tx pg.Tx) error {
		table := pgx.Identifier{"public", tableOf(s.Day)}.Sanitize()
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '5s'; LOCK TABLE ONLY `+table+` IN SHARE MODE`); err != nil { // it can be read, and not changed
			return fmt.Errorf("feed: lock a day: %w", err)
		}
		var entries int64
		if now, err := a.count(ctx, tx, s.Day, &entries); err != nil || now != bodies || entries != s.Entries {
			return errors.Join(err, errChanged)
		}
		if s.Entries > 0 {
			_, err := tx.Exec(ctx, `INSERT INTO feed_segment (day, file, key, sha256, entries, bytes, written_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
				s.Day, s.file, s.key, s.sha256[:], s.Entries, s.Bytes, a.Now())
			if err != nil {
				return fmt.Errorf("feed: record a segment: %w", err)
			}
		}
		// Everybody who reads a feed waits from here on.
		_, err := tx.Exec(ctx, `LOCK TABLE ONLY feed_entry, ONLY `+table+` IN ACCESS EXCLUSIVE MODE; ALTER TABLE feed_entry DETACH PARTITION `+table+`; DROP TABLE `+table)
		return fault.Wrap(err, "feed: drop a day")
	})
}

// count counts the entries of a day, and those that are not erased.
func (a *Archive) count(ctx context.Context, from pg.DB, day time.Time, entries *int64) (bodies int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*), count(body) FROM `+pgx.Identifier{tableOf(day)}.Sanitize()).Scan(entries, &bodies)
	return bodies, fault.Wrap(err, "feed: count the entries of a day")
}

func (a *Archive) eachRow(ctx context.Context, day time.Time, add func(*Row) error) error {
	rows, err := a.Pool.Query(ctx, `SELECT entity_id, mode, epoch, seq, at, type, coalesce(number, 0), body, digest, hash FROM `+pgx.Identifier{tableOf(day)}.Sanitize()+` ORDER BY entity_id, mode, seq`)
	if err != nil {
		return fmt.Errorf("feed: read a day: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r Row
		if err := rows.Scan(&r.Entity, &r.Mode, &r.Epoch, &r.Seq, &r.At, &r.Type, &r.Number, &r.Body, &r.Digest, &r.Hash); err != nil {
			return fmt.Errorf("feed: read a day: %w", err)
		}
		r.At = r.At.UTC()
		if err := add(&r); err != nil {
			return err
		}
	}
	return fault.Wrap(rows.Err(), "feed: read a day")
}

// segments returns the segments that a condition selects, oldest first.
func (a *Archive) segments(ctx context.Context, condition string, args ...any) ([]Segment, error) {
	list, err := pg.Collect(ctx, a.Pool, func(row pgx.CollectableRow) (s Segment, err error) {
		var sum []byte
		err = row.Scan(&s.Day, &s.Entries, &s.Bytes, &s.file, &s.key, &sum)
		copy(s.sha256[:], sum)
		return s, err
	}, `SELECT day, entries, bytes, file, key, sha256 FROM feed_segment WHERE `+condition+` ORDER BY day`, args...)
	return list, fault.Wrap(err, "feed: list the segments")
}

// Read calls each for every entry of an archived day, in the order of feed and sequence.
func (a *Archive) Read(ctx context.Context, day time.Time, each func(*Row) error) error {
	found, err := a.segments(ctx, `day = $1`, day)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return ErrNoSegment
	}
	return a.read(ctx, &found[0], each)
}

// Lapse destroys the keys of the days before a time, and then their files. It returns how
// many there were.
func (a *Archive) Lapse(ctx context.Context, before time.Time) (int, error) {
	due, err := a.segments(ctx, `day < $1 AND key IS NOT NULL`, before)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	if _, err := a.Pool.Exec(ctx, `UPDATE feed_segment SET key = NULL, lapsed_at = $2 WHERE day < $1 AND key IS NOT NULL`, before, a.Now()); err != nil {
		return 0, fmt.Errorf("feed: let keys lapse: %w", err)
	}
	if err := a.rewrite(ctx, "feed_segment"); err != nil {
		return 0, err
	}
	for _, s := range due {
		if err := a.Files.Delete(ctx, s.file.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return 0, fmt.Errorf("feed: delete a segment: %w", err)
		}
	}
	return len(due), nil
}

// rewrite writes a table anew, so that its file no longer has what was removed from it.
func (a *Archive) rewrite(ctx context.Context, table string) error {
	conn, err := a.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("feed: acquire a connection: %w", err)
	}
	defer conn.Release()
	_, err = pg.RewriteTable(ctx, conn.Conn(), table)
	return err
}
