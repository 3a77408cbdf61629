package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Erased names a record whose personal part is to be erased.
type Erased struct {
	RequestID uuid.UUID
	Hash      [32]byte
}

// MarkErased records in the caller's transaction that an erasure covers records, or a
// whole day. From then on [Archiver.Erase] blanks them, and a check accepts them as
// erased.
func MarkErased(ctx context.Context, tx pg.Tx, erasure uuid.UUID, records []Erased, days []time.Time) error {
	ids, times, hashes := make([]uuid.UUID, len(records)), make([]time.Time, len(records)), make([][]byte, len(records))
	for i := range records {
		at, ok := record.TimeOf(records[i].RequestID)
		if !ok {
			return ErrNotFound
		}
		ids[i], times[i], hashes[i] = records[i].RequestID, at, records[i].Hash[:]
	}
	_, err := tx.Exec(ctx, `INSERT INTO journal_erased (request_id, at, hash, erasure) SELECT r, t, h, $4 FROM unnest($1::uuid[], $2::timestamptz[], $3::bytea[]) AS e (r, t, h)
		ON CONFLICT DO NOTHING`, ids, times, hashes, erasure)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO journal_erased_day (day, erasure) SELECT d::date, $2 FROM unnest($1::timestamptz[]) d ON CONFLICT DO NOTHING`, days, erasure)
	}
	return fault.Wrap(err, "journal: mark records as erased")
}

// erasedOf returns the records of a day, within a period of it, that an erasure covers.
func erasedOf(ctx context.Context, from pg.DB, day time.Time, within Span) (s archivefile.ErasedSet, err error) {
	s.Records = make(map[uuid.UUID][32]byte)
	if err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM journal_erased_day WHERE day = $1::timestamptz::date)`, day).Scan(&s.All); err != nil {
		return s, fmt.Errorf("journal: read what is erased: %w", err)
	}
	var id uuid.UUID
	var hash []byte
	err = pg.ForEach(ctx, from, []any{&id, &hash}, func() error {
		s.Records[id] = [32]byte(hash)
		return nil
	}, `SELECT request_id, hash FROM journal_erased`+whereSpan(within))
	return s, fault.Wrap(err, "journal: read what is erased")
}

// MarkedDays returns the days in which an erasure covers records.
func MarkedDays(ctx context.Context, from pg.DB, erasure uuid.UUID) ([]time.Time, error) {
	return collectDays(ctx, from, `SELECT day::timestamptz FROM (SELECT (at AT TIME ZONE 'UTC')::date AS day FROM journal_erased WHERE erasure = $1
		UNION SELECT day FROM journal_erased_day WHERE erasure = $1) d ORDER BY day`, erasure)
}

// DaysToRewrite returns the days whose file still has bytes of erased records.
func DaysToRewrite(ctx context.Context, from pg.DB) ([]time.Time, error) {
	return collectDays(ctx, from, `SELECT day::timestamptz FROM journal_rewrite ORDER BY day`)
}

// DaysBefore returns the days before a time that are not erased as a whole.
func DaysBefore(ctx context.Context, from pg.DB, before time.Time) ([]time.Time, error) {
	days, err := readableDays(ctx, from)
	if err != nil {
		return nil, err
	}
	archived, err := collectDays(ctx, from, `SELECT DISTINCT day::timestamptz FROM journal_archive`)
	if err != nil {
		return nil, err
	}
	erased, err := collectDays(ctx, from, `SELECT day::timestamptz FROM journal_erased_day`)
	if err != nil {
		return nil, err
	}
	days = slices.DeleteFunc(append(days, archived...), func(day time.Time) bool {
		return !day.Before(dayOf(before)) || slices.ContainsFunc(erased, day.Equal)
	})
	slices.SortFunc(days, time.Time.Compare)
	return slices.CompactFunc(days, time.Time.Equal), nil
}

func collectDays(ctx context.Context, from pg.DB, query string, args ...any) ([]time.Time, error) {
	days, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (day time.Time, err error) {
		err = row.Scan(&day)
		return day.UTC(), err
	}, query, args...)
	return days, fault.Wrap(err, "journal: list days")
}

// Erase blanks the personal part of every record of a day that an erasure covers, in
// the database or in the archive, and removes the bytes from the files. It returns how
// many it blanked. It continues where an earlier call was interrupted.
//
// In the database, PostgreSQL keeps the bytes of the old row in the table's file. They
// are removed by rewriting the file, for which nobody may write to the day: today's
// are removed by the first call after the day has ended.
func (a *Archiver) Erase(ctx context.Context, day time.Time) (erased int64, err error) {
	day = dayOf(day)
	err = a.locked(ctx, func(conn *pgx.Conn) error {
		covered, err := erasedOf(ctx, conn, day, wholeDay(day))
		if err != nil {
			return err
		}
		returned, err := a.eraseReturned(ctx, conn, day, &covered)
		if err != nil {
			return err
		}
		archived, err := a.finishArchive(ctx, conn, day)
		if err != nil {
			return err
		}
		if archived {
			erased, err = a.eraseArchived(ctx, conn, day, &covered)
		} else {
			erased, err = a.eraseStored(ctx, conn, day, &covered)
		}
		erased += returned
		return err
	})
	return erased, err
}

// finishArchive reports whether a day is archived. Of a run that was interrupted after it stored
// the archive it does the rest, so that the day is in one place only: what was erased in the
// database alone would stay in the archive, which then takes its place.
func (a *Archiver) finishArchive(ctx context.Context, conn *pgx.Conn, day time.Time) (archived bool, err error) {
	archives, err := Archives(ctx, conn, day, day)
	if err != nil {
		return false, err
	}
	existing, readable, err := a.countPartitions(ctx, day)
	switch {
	case err != nil:
		return false, err
	case len(archives) == 0 && existing > 0 && readable < bothTables:
		return false, ErrNotArchived
	case len(archives) == 0:
		return false, nil
	}
	archive, dropped, err := a.ensureArchive(ctx, day)
	if err == nil && !dropped {
		err = a.drop(ctx, conn, archive)
	}
	return true, err
}

// eraseStored erases records of a day that is in the database.
func (a *Archiver) eraseStored(ctx context.Context, conn *pgx.Conn, day time.Time, covered *archivefile.ErasedSet) (erased int64, err error) {
	if erased, err = a.blank(ctx, conn, day, covered); err != nil {
		return erased, err
	}
	return erased, a.rewriteDay(ctx, conn, day)
}

const blankPerCommit = 1000

// notErased is the condition for records that have their personal part. Its nonce has 16
// bytes; in an erased record the 32 bytes of [record.Entry.InnerHash] stand in its place, so
// that the hash of the record can still be computed.
const notErased = ` AND octet_length(nonce) = 16`

// blank blanks the covered records of a day that is in the database.
func (a *Archiver) blank(ctx context.Context, conn *pgx.Conn, day time.Time, covered *archivefile.ErasedSet) (blanked int64, err error) {
	which := ` AND request_id IN (SELECT request_id FROM journal_erased` + whereDay(day) + `)`
	if covered.All {
		which = ""
	}
	for {
		rows, err := conn.Query(ctx, `SELECT `+entryColumns+` FROM journal_entry`+whereDay(day)+which+notErased+` LIMIT $1`, blankPerCommit)
		if err != nil {
			return blanked, fmt.Errorf("journal: read what to erase: %w", err)
		}
		found, err := pgx.CollectRows(rows, func(pgx.CollectableRow) (keyedEntry, error) { return scanEntry(rows) })
		if err != nil || len(found) == 0 {
			return blanked, err
		}
		ids, personalHashes := make([]uuid.UUID, len(found)), make([][]byte, len(found))
		for i := range found {
			e := &found[i].Entry
			if h := e.Hash(); string(h[:]) != string(e.StoredHash) || !covered.Covers(e) {
				return blanked, fmt.Errorf("%w: record %s is not the one that is to be erased", ErrDamaged, e.RequestID)
			}
			hash := e.InnerHash()
			ids[i], personalHashes[i] = e.RequestID, hash[:]
		}
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO journal_rewrite (day) VALUES ($1::timestamptz::date) ON CONFLICT DO NOTHING`, day); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE journal_entry e SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '',
				nonce = x.personal_hash FROM unnest($1::uuid[], $2::bytea[]) AS x (id, personal_hash)`+whereDay(day)+` AND e.request_id = x.id`, ids, personalHashes)
			return err
		})
		if err != nil {
			return blanked, fmt.Errorf("journal: erase: %w", err)
		}
		blanked += int64(len(found))
		a.progress(day, "erasing", blanked)
	}
}

// How long an erasure waits for older transactions if the archiver does not say, and the
// first pause of that, which doubles.
const (
	oldTransactions = time.Minute
	rewritePause    = 100 * time.Millisecond
)

var errOldTransaction = errors.New("a transaction that began before the erasure still runs; run `lineproof journal erase run` again when it has ended")

// rewriteDay rewrites the file of a day from which records were erased, so that it no longer
// has their bytes.
func (a *Archiver) rewriteDay(ctx context.Context, conn *pgx.Conn, day time.Time) error {
	var due bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM journal_rewrite WHERE day = $1::timestamptz::date)`, day).Scan(&due)
	if err != nil || !due || !a.closed(day) {
		return err
	}
	if err := a.rewriteErased(ctx, conn, partitionOf(entryTable, day)); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `DELETE FROM journal_rewrite WHERE day = $1::timestamptz::date`, day)
	return err
}

// rewriteErased rewrites the file of a table until it has no bytes of erased rows. An older
// transaction keeps them in the new file: a check or an analyze that is just running, or one
// that writes to another database of the same server.
func (a *Archiver) rewriteErased(ctx context.Context, conn *pgx.Conn, table string) error {
	patience := cmp.Or(a.OldTransactions, oldTransactions)
	for wait := rewritePause; ; wait *= 2 {
		kept, err := pg.RewriteTable(ctx, conn, table)
		if err != nil {
			return fmt.Errorf("journal: write %s anew: %w", table, err)
		}
		if kept == 0 {
			return nil
		}
		if patience <= 0 || ctx.Err() != nil {
			return fmt.Errorf("journal: the file of %s still has %d erased rows: %w", table, kept, errOldTransaction)
		}
		pause.For(ctx, min(wait, patience))
		patience -= wait
	}
}
