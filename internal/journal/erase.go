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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/journalslice"
	"github.com/lineproof/lineproof/internal/pause"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
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
	if err != nil {
		return fmt.Errorf("journal: mark records as erased: %w", err)
	}
	return nil
}

// erasedOf returns the records of a day, within a period of it, that an erasure covers.
func erasedOf(ctx context.Context, from pg.DB, day time.Time, within Span) (s journalslice.ErasedSet, err error) {
	s.Records = make(map[uuid.UUID][32]byte)
	if err := from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM journal_erased_day WHERE day = $1::timestamptz::date)`, day).Scan(&s.All); err != nil {
		return s, fmt.Errorf("journal: read what is erased: %w", err)
	}
	rows, err := from.Query(ctx, `SELECT request_id, hash FROM journal_erased`+whereSpan(within))
	if err != nil {
		return s, fmt.Errorf("journal: read what is erased: %w", err)
	}
	var id uuid.UUID
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &hash}, func() error {
		s.Records[id] = [32]byte(hash)
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("journal: read what is erased: %w", err)
	}
	return s, nil
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
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("journal: list days: %w", err)
	}
	days, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (day time.Time, err error) {
		err = row.Scan(&day)
		return day.UTC(), err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: list days: %w", err)
	}
	return days, nil
}

// Erase blanks the personal part of every record of a day that an erasure covers, in
// the database or in the archive, and removes the bytes from the files. It returns how
// many it blanked. It continues where an earlier call was interrupted.
//
// In the database, PostgreSQL keeps the bytes of the old row in the table's file. They
// are removed by writing the file anew, for which nobody may write to the day: today's
// are removed by the first call after the day has ended.
func (a *Archiver) Erase(ctx context.Context, day time.Time) (erased int64, err error) {
	day = dayOf(day)
	err = a.locked(ctx, func(conn *pgx.Conn) error {
		covered, err := erasedOf(ctx, conn, day, wholeDay(day))
		if err != nil {
			return err
		}
		_, readable, err := a.countPartitions(ctx, day)
		if err != nil {
			return err
		}
		cameBack, err := eraseReturned(ctx, conn, day, &covered)
		if err != nil {
			return err
		}
		defer func() { erased += cameBack }()
		if readable > 0 {
			if erased, err = a.blank(ctx, conn, day, &covered); err != nil {
				return err
			}
			return a.rewriteDay(ctx, conn, day)
		}
		if erased, err = a.rewriteArchive(ctx, conn, day, &covered); err != nil {
			return err
		}
		_, err = conn.Exec(ctx, `DELETE FROM journal_rewrite WHERE day = $1::timestamptz::date`, day)
		return err
	})
	return erased, err
}

const blankPerCommit = 1000

// blank blanks the covered records of a day that is in the database.
func (a *Archiver) blank(ctx context.Context, conn *pgx.Conn, day time.Time, covered *journalslice.ErasedSet) (blanked int64, err error) {
	which := ` AND request_id IN (SELECT request_id FROM journal_erased` + whereDay(day) + `)`
	if covered.All {
		which = ""
	}
	for {
		rows, err := conn.Query(ctx, `SELECT `+entryColumns+` FROM journal_entry`+whereDay(day)+which+` AND octet_length(nonce) = 16 LIMIT $1`, blankPerCommit)
		if err != nil {
			return blanked, fmt.Errorf("journal: read what to erase: %w", err)
		}
		found, err := pgx.CollectRows(rows, func(pgx.CollectableRow) (keyedEntry, error) { return scanEntry(rows) })
		if err != nil || len(found) == 0 {
			return blanked, err
		}
		ids, inner := make([]uuid.UUID, len(found)), make([][]byte, len(found))
		for i := range found {
			e := &found[i].Entry
			if h := e.Hash(); string(h[:]) != string(e.StoredHash) || !covered.Covers(e) {
				return blanked, fmt.Errorf("%w: record %s is not the one that is to be erased", ErrDamaged, e.RequestID)
			}
			hash := e.InnerHash()
			ids[i], inner[i] = e.RequestID, hash[:]
		}
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO journal_rewrite (day) VALUES ($1::timestamptz::date) ON CONFLICT DO NOTHING`, day); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE journal_entry e SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '',
				nonce = x.personal_hash FROM unnest($1::uuid[], $2::bytea[]) AS x (id, personal_hash)`+whereDay(day)+` AND e.request_id = x.id`, ids, inner)
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

// rewriteDay writes the file of a day anew from which records were erased, so that it
// no longer has their bytes.
func (a *Archiver) rewriteDay(ctx context.Context, conn *pgx.Conn, day time.Time) error {
	var due bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM journal_rewrite WHERE day = $1::timestamptz::date)`, day).Scan(&due)
	if err != nil || !due || !a.closed(day) {
		return err
	}
	// An older transaction keeps erased rows in the new file: a check or an analyze that is
	// just running, or one that writes to another database of the same server.
	patience := cmp.Or(a.OldTransactions, oldTransactions)
	for wait := rewritePause; ; wait *= 2 {
		kept, err := pg.RewriteTable(ctx, conn, partitionOf(entryTable, day))
		if err != nil {
			return fmt.Errorf("journal: write a day anew: %w", err)
		}
		if kept == 0 {
			break
		}
		if patience <= 0 || ctx.Err() != nil {
			return fmt.Errorf("journal: the file of %s still has %d erased rows: %w", day.Format(time.DateOnly), kept, errOldTransaction)
		}
		pause.For(ctx, min(wait, patience))
		patience -= wait
	}
	_, err = conn.Exec(ctx, `DELETE FROM journal_rewrite WHERE day = $1::timestamptz::date`, day)
	return err
}

// rewriteArchive writes the archive of a day anew without the personal parts of the
// covered records, and then deletes the old files. The batches and their roots stay.
func (a *Archiver) rewriteArchive(ctx context.Context, conn *pgx.Conn, day time.Time, covered *journalslice.ErasedSet) (erased int64, err error) {
	archives, err := Archives(ctx, conn, day, day)
	if err != nil || len(archives) == 0 {
		return 0, err
	}
	old := archives[len(archives)-1]
	before, err := old.Open(ctx, a.Files)
	if err != nil {
		return 0, err
	}
	parts, err := archivefile.NewPartWriter(a.Files)
	if err != nil {
		return 0, err
	}
	to := archivefile.NewWriter(a.Files, day)
	for i, p := range before.Parts {
		// The parts end where they ended: what has nothing erased stays the same file.
		if err := parts.Start(before.Day, i+1); err != nil {
			return 0, err
		}
		err := p.Read(ctx, a.Files, before.Day, i+1, func(b *archivefile.Batch) error {
			for k := range b.Entries {
				if e := &b.Entries[k]; !e.Erased() && covered.Covers(e) {
					e.Inner, e.Personal, e.Nonce = e.InnerHash(), record.Personal{}, [16]byte{}
					erased++
				}
			}
			return parts.Add(b)
		})
		if err != nil {
			return 0, err
		}
		stored, err := parts.Store(ctx)
		if err != nil {
			return 0, err
		}
		to.Add(stored)
		a.progress(day, "erasing", erased)
	}
	if erased == 0 {
		return 0, a.deleteReplaced(ctx, conn)
	}
	archive, err := to.Finish(ctx, day)
	if err != nil {
		return 0, err
	}
	readBack, err := journalslice.CheckArchive(ctx, a.Files, &archive, covered, 1, func(int64) {})
	if err != nil {
		return 0, err
	}
	if !readBack.OK() || string(archive.Root) != string(old.Root) {
		return 0, fmt.Errorf("%w: it could not be written anew: %v", archivefile.ErrDamaged, readBack.Findings)
	}
	if err := a.replace(ctx, conn, archives, &archive, &before, &to.Manifest); err != nil {
		return 0, err
	}
	return erased, a.deleteReplaced(ctx, conn)
}

// replace makes an archive the only one of its day, and lists the files to delete.
func (a *Archiver) replace(ctx context.Context, conn *pgx.Conn, old []Archive, by *Archive, before, after *archivefile.Manifest) error {
	kept := map[string]bool{}
	for _, p := range after.Parts {
		kept[p.Key] = true
	}
	kept[after.Filters.Key] = true
	var gone []string
	if !kept[before.Filters.Key] {
		gone = append(gone, before.Filters.Key)
	}
	for _, p := range before.Parts {
		if !kept[p.Key] {
			gone = append(gone, p.Key)
		}
	}
	by.At = a.Now().UTC().Truncate(time.Microsecond)
	if a.BeforeReplacing != nil {
		if err := a.BeforeReplacing(ctx, *by); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for i := range old {
			gone = append(gone, old[i].Manifest.String())
			if _, err := tx.Exec(ctx, `DELETE FROM journal_archive WHERE manifest = $1`, old[i].Manifest); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, `INSERT INTO journal_replaced (key, day, by_sha256, at) SELECT k::uuid, $2::timestamptz::date, $3, $4 FROM unnest($1::text[]) k ON CONFLICT DO NOTHING`,
			gone, by.Day, by.SHA256[:], by.At); err != nil {
			return err
		}
		return a.insertArchive(ctx, tx, by)
	})
	if err != nil {
		return fmt.Errorf("journal: replace an archive: %w", err)
	}
	return nil
}

// deleteReplaced deletes the files of archives that were written anew.
func (a *Archiver) deleteReplaced(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `SELECT key FROM journal_replaced WHERE deleted_at IS NULL`)
	if err != nil {
		return fmt.Errorf("journal: list replaced files: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return fmt.Errorf("journal: list replaced files: %w", err)
	}
	for _, key := range keys {
		if err := deleteFile(ctx, a.Files, key.String()); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, `UPDATE journal_replaced SET deleted_at = $2 WHERE key = $1`, key, a.Now()); err != nil {
			return fmt.Errorf("journal: delete a replaced file: %w", err)
		}
	}
	return nil
}

func deleteFile(ctx context.Context, files blob.Store, key string) error {
	if err := files.Delete(ctx, key); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("journal: delete a replaced file: %w", err)
	}
	return nil
}

// RestoreReplaced records the archive of a day that was written anew, if the database
// names an earlier one, whose files are gone: it was restored to an earlier time.
func RestoreReplaced(ctx context.Context, pool *pgxpool.Pool, files blob.Store, by Archive) error {
	archives, err := Archives(ctx, pool, by.Day, by.Day)
	if err != nil || len(archives) == 0 {
		return err
	}
	if _, err := archives[len(archives)-1].Open(ctx, files); err == nil || !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	if _, err := by.Open(ctx, files); errors.Is(err, blob.ErrNotFound) {
		return nil // written anew once more
	} else if err != nil {
		return err
	}
	a := &Archiver{Pool: pool, Files: files, Now: time.Now}
	return a.locked(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `DELETE FROM journal_archive WHERE day = $1::timestamptz::date`, by.Day); err != nil {
				return err
			}
			return a.insertArchive(ctx, tx, &by)
		})
	})
}
