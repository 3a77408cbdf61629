package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// Closed is how long a day must be over before it may be archived. Nobody writes
// to it any more after seconds; the rest is for clocks that are wrong.
const Closed = time.Hour

var (
	// ErrArchiving reports that another process archives at this moment.
	ErrArchiving = fault.New(fault.Aborted, "The journal is being archived by another process. Wait until that is done.")

	// ErrOpenDay reports a day that may still be written to.
	ErrOpenDay = fault.New(fault.InvalidArgument, "A day of the journal can be archived when it has been over for an hour.")

	// ErrDamaged reports a day that is not as it was written. It stays where it is.
	ErrDamaged = fault.New(fault.IncompatibleState, "The journal of that day is damaged and is not archived. See what is wrong with: lineproof journal check")

	// ErrNoDay reports a day of which there is nothing.
	ErrNoDay = fault.New(fault.NotFound, "The journal has nothing of that day, neither in the database nor in the archive.")

	// ErrNotArchived reports a day that somebody took out of the journal by hand.
	ErrNotArchived = fault.New(fault.IncompatibleState, "The partitions of that day are detached, and it was never archived. Attach them again.")
)

// Archivist moves closed days out of the database into files. Its pool must have
// the rights of the owner: the serving role can take nothing out of the journal.
//
// A day is written, read back and checked, and noted as archived; only then are
// its partitions detached and dropped, by a function of the database that looks
// for the note once more. So at any moment the day is in the database or in an
// archive that was checked, and whoever is broken off can begin again.
type Archivist struct {
	Pool  *pgxpool.Pool
	Files blob.Store
	Now   func() time.Time
	Watch func(day time.Time, doing string, entries int64) // told of progress; may be nil

	partBytes int // for tests; 0 means as usual
}

// Due returns the days before a time that are still in the database and can be
// archived, from the oldest on.
func (a *Archivist) Due(ctx context.Context, before time.Time) ([]time.Time, error) {
	all, err := partitions(ctx, a.Pool, false)
	if err != nil {
		return nil, err
	}
	var days []time.Time
	for i := range all {
		day := all[i].day
		if day.Before(dayOf(before)) && a.closed(day) && (len(days) == 0 || !days[len(days)-1].Equal(day)) {
			days = append(days, day)
		}
	}
	return days, nil
}

func (a *Archivist) closed(day time.Time) bool {
	return !a.Now().Before(day.AddDate(0, 0, 1).Add(Closed))
}

// Archive moves one day and returns its archive. It goes on where an earlier
// call was broken off.
func (a *Archivist) Archive(ctx context.Context, day time.Time) (Archive, error) {
	day = dayOf(day)
	if !a.closed(day) {
		return Archive{}, ErrOpenDay
	}
	conn, err := a.Pool.Acquire(ctx)
	if err != nil {
		return Archive{}, fmt.Errorf("journal: take a connection: %w", err)
	}
	// The lock and the patience are the session's: they are gone with it, however
	// this ends. The lock is let go before, for a session outlives its connection
	// by a moment.
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.Exec(end, `SELECT pg_advisory_unlock_all()`)
		_ = conn.Hijack().Close(end)
	}()
	var mine bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('lineproof journal archive', 0))`).Scan(&mine); err != nil {
		return Archive{}, fmt.Errorf("journal: lock the archive: %w", err)
	}
	if !mine {
		return Archive{}, ErrArchiving
	}
	if _, err := conn.Exec(ctx, `SET lock_timeout = '1min'`); err != nil {
		return Archive{}, fmt.Errorf("journal: archive: %w", err)
	}
	kept, gone, err := a.keep(ctx, day)
	if err != nil || gone {
		return kept, err
	}
	return kept, a.drop(ctx, conn, kept)
}

// keep returns the archive of a day that holds all of it, and makes one if there
// is none. Gone says that nothing of the day is left in the database.
func (a *Archivist) keep(ctx context.Context, day time.Time) (kept Archive, gone bool, err error) {
	archives, err := Archives(ctx, a.Pool, day, day)
	if err != nil {
		return kept, false, err
	}
	if len(archives) > 0 {
		kept = archives[len(archives)-1]
	}
	there, inside, err := a.left(ctx, day)
	if err != nil {
		return kept, false, err
	}
	const both = 2
	switch {
	case there == 0 && len(archives) == 0:
		return kept, false, ErrNoDay
	case there == 0:
		return kept, true, nil
	case inside < both && len(archives) == 0:
		return kept, false, ErrNotArchived
	case inside < both:
		return kept, false, nil // on its way out
	}
	var batches, entries int64
	err = a.Pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(count), 0) FROM journal_batch`+onDay(day)).Scan(&batches, &entries)
	if err != nil {
		return kept, false, fmt.Errorf("journal: count a day: %w", err)
	}
	if len(archives) == 0 || kept.Batches != batches || kept.Entries != entries {
		kept, err = a.write(ctx, day)
	}
	return kept, false, err
}

// left returns how many partitions of a day there are, and how many of them are
// still inside their tables.
func (a *Archivist) left(ctx context.Context, day time.Time) (there, inside int, err error) {
	all, err := partitions(ctx, a.Pool, false)
	for i := range all {
		if !all[i].day.Equal(day) {
			continue
		}
		there++
		if all[i].inside() {
			inside++
		}
	}
	return there, inside, err
}

// write makes the archive of a day, checks it, and notes it.
func (a *Archivist) write(ctx context.Context, day time.Time) (Archive, error) {
	var (
		t  *trial
		to *partWriter
	)
	err := readDay(ctx, a.Pool, day, reading{
		begin: func(tx pg.Tx) (err error) {
			t = &trial{day: day}
			if to, err = newPartWriter(a.Files, day); err != nil {
				return err
			}
			if a.partBytes > 0 {
				to.most = a.partBytes
			}
			return t.twice(ctx, tx)
		},
		each: func(f *flush) error {
			if err := t.flush(f); err != nil {
				return err
			}
			if !t.OK() {
				return ErrDamaged
			}
			return to.add(ctx, f)
		},
		watch: func(int) { a.watch(day, "archiving", t.Entries) },
	})
	if err == nil && !t.OK() {
		err = ErrDamaged
	}
	if err != nil {
		return Archive{}, err
	}
	made, err := to.finish(ctx, day)
	if err != nil {
		return Archive{}, err
	}
	back := &trial{day: day, limit: 1}
	if err := back.archive(ctx, a.Files, &made, func() { a.watch(day, "reading back", back.Entries) }); err != nil {
		return Archive{}, err
	}
	if !back.OK() {
		return Archive{}, fmt.Errorf("%w: %s %s; remove the file from LINEPROOF_DATA/journal and begin again", errArchive, back.Findings[0].Where, back.Findings[0].What)
	}
	made.At = a.Now().UTC().Truncate(time.Microsecond)
	return made, a.note(ctx, &made)
}

func (a *Archivist) watch(day time.Time, doing string, entries int64) {
	if a.Watch != nil {
		a.Watch(day, doing, entries)
	}
}

// note records that a day is archived.
func (a *Archivist) note(ctx context.Context, made *Archive) error {
	return pg.InTx(ctx, a.Pool, func(tx pg.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO journal_archive (manifest, day, sha256, batches, entries, bytes, root, archived_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (manifest) DO NOTHING`,
			made.Manifest, made.Day, made.SHA256[:], made.Batches, made.Entries, made.Bytes, made.Root, made.At)
		if err != nil {
			return fmt.Errorf("journal: note an archive: %w", err)
		}
		return a.audit(ctx, tx, audit.JournalArchived, made)
	})
}

func (a *Archivist) audit(ctx context.Context, tx pg.Tx, action audit.Action, of *Archive) error {
	return audit.Write(ctx, tx, audit.Entry{
		At: a.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: action, Subject: of.Manifest,
		After: map[string]any{"day": of.Day, "entries": of.Entries},
	})
}
