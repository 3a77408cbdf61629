package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ArchiveDelay is how long after its end a day may be archived. No node writes to it
// after a few seconds; the rest is a margin for wrong clocks.
const ArchiveDelay = time.Hour

var (
	// ErrArchiving reports that another process is archiving.
	ErrArchiving = fault.New(fault.Aborted, "The journal is being archived by another process. Wait until that is done.")

	// ErrOpenDay reports a day to which nodes may still write.
	ErrOpenDay = fault.New(fault.InvalidArgument, "A day of the journal can be archived from one hour after its end.")

	// ErrDamaged reports a day that was changed after it was written. It stays in
	// the database.
	ErrDamaged = fault.New(fault.IncompatibleState, "The journal of that day is damaged and was not archived. For details run: lineproof journal check")

	// ErrNoDay reports a day without records.
	ErrNoDay = fault.New(fault.NotFound, "The journal has nothing of that day, neither in the database nor in the archive.")

	// ErrChanging reports a day to which something was written while it was archived.
	ErrChanging = fault.New(fault.Aborted, "Something was written to that day of the journal while it was archived. Run the command again.")

	// ErrNotArchived reports a day whose partitions someone has detached by hand.
	ErrNotArchived = fault.New(fault.IncompatibleState, "The partitions of that day are detached, but the day was never archived. Attach them again.")
)

// Archiver moves past days out of the database into files. Its pool must have
// the rights of the owner: the serving role can remove nothing from the journal.
//
// A day is written to files, read back and checked, and recorded in
// journal_archive; only then are its partitions detached and dropped, by a
// database function that checks journal_archive once more. So at any moment the
// day is in the database or in a checked archive, and an interrupted run can be
// repeated.
//
// A day is read in slices, several at the same time, and each slice becomes a part of the
// archive ([Archiver.write]).
type Archiver struct {
	Pool *pgxpool.Pool
	// Read, if set, is a database that is only read, such as a standby, from which the
	// records are read. It may lag behind: the rows of the batches come from Pool.
	Read       *pgxpool.Pool
	Files      blob.Store
	Now        func() time.Time
	OnProgress func(day time.Time, doing string, entries int64) // reports progress; may be nil
	// BeforeReplacing, if set, is called before an archive that was written anew after an
	// erasure takes the place of the old one, whose files are then deleted.
	BeforeReplacing func(context.Context, Archive) error
	// LogIndexes, if set, returns the indexes in the public log of the batches of a period. A
	// batch that is not among them has none.
	LogIndexes func(ctx context.Context, from, to time.Time) (map[archivefile.BatchKey]int64, error)
	// OldTransactions is how long an erasure waits for transactions that began before it;
	// 0 means a minute.
	OldTransactions time.Duration

	partEntries  int  // for tests; 0 means archivefile.PartEntries
	trustStandby bool // for tests: do not wait for the standby
}

// Due returns the days before a time that are still in the database and can be
// archived, oldest first.
func (a *Archiver) Due(ctx context.Context, before time.Time) ([]time.Time, error) {
	all, err := partitions(ctx, a.Pool)
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

func (a *Archiver) closed(day time.Time) bool {
	return !a.Now().Before(day.AddDate(0, 0, 1).Add(ArchiveDelay))
}

// Archive moves one day and returns its archive. It continues where an earlier
// call was interrupted.
func (a *Archiver) Archive(ctx context.Context, day time.Time) (Archive, error) {
	day = dayOf(day)
	if !a.closed(day) {
		return Archive{}, ErrOpenDay
	}
	var archive Archive
	err := a.locked(ctx, func(conn *pgx.Conn) (err error) {
		var dropped bool
		if archive, dropped, err = a.ensureArchive(ctx, day); err != nil || dropped {
			return err
		}
		return a.drop(ctx, conn, archive)
	})
	return archive, err
}

// locked runs a function while no other process archives or erases.
func (a *Archiver) locked(ctx context.Context, work func(*pgx.Conn) error) error {
	conn, err := a.Pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("journal: acquire a connection: %w", err)
	}
	// The advisory lock and lock_timeout belong to the session and end with it. The
	// lock is released explicitly, because the session ends a moment after its
	// connection.
	defer func() {
		endCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.Exec(endCtx, `SELECT pg_advisory_unlock_all()`)
		_ = conn.Hijack().Close(endCtx)
	}()
	var locked bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('lineproof journal archive', 0))`).Scan(&locked); err != nil {
		return fmt.Errorf("journal: lock the archive: %w", err)
	}
	if !locked {
		return ErrArchiving
	}
	if _, err := conn.Exec(ctx, `SET lock_timeout = '1min'`); err != nil {
		return fmt.Errorf("journal: archive: %w", err)
	}
	return work(conn.Conn())
}

// ensureArchive returns the complete archive of a day, and creates it if there is
// none. Dropped says that nothing of the day is left in the database.
func (a *Archiver) ensureArchive(ctx context.Context, day time.Time) (archive Archive, dropped bool, err error) {
	archives, err := Archives(ctx, a.Pool, day, day)
	if err != nil {
		return archive, false, err
	}
	if len(archives) > 0 {
		archive = archives[len(archives)-1]
	}
	existing, readable, err := a.countPartitions(ctx, day)
	if err != nil {
		return archive, false, err
	}
	switch {
	case existing == 0 && len(archives) == 0:
		return archive, false, ErrNoDay
	case existing == 0:
		return archive, true, nil
	case readable < bothTables && len(archives) == 0:
		return archive, false, ErrNotArchived
	case readable < bothTables:
		return archive, false, nil // an earlier call has begun to drop it
	}
	var batches, entries int64
	err = a.Pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(count), 0) FROM journal_batch`+whereDay(day)).Scan(&batches, &entries)
	if err != nil {
		return archive, false, fmt.Errorf("journal: count a day: %w", err)
	}
	if len(archives) == 0 || archive.Batches != batches || archive.Entries != entries {
		archive, err = a.write(ctx, day)
		if err == nil && (archive.Batches != batches || archive.Entries != entries) {
			err = ErrChanging
		}
		if err == nil {
			err = a.recordArchive(ctx, &archive)
		}
	}
	return archive, false, err
}

// bothTables is how many partitions a day has: one of batches and one of entries.
const bothTables = 2

// countPartitions returns how many partitions of a day exist, and how many of
// them are still attached to their tables.
func (a *Archiver) countPartitions(ctx context.Context, day time.Time) (existing, readable int, err error) {
	all, err := partitions(ctx, a.Pool)
	for i := range all {
		if !all[i].day.Equal(day) {
			continue
		}
		existing++
		if all[i].readable() {
			readable++
		}
	}
	return existing, readable, err
}

func (a *Archiver) progress(day time.Time, doing string, entries int64) {
	if a.OnProgress != nil {
		a.OnProgress(day, doing, entries)
	}
}

// recordArchive records that a day is archived.
func (a *Archiver) recordArchive(ctx context.Context, archive *Archive) error {
	return pg.InTx(ctx, a.Pool, func(tx pg.Tx) error {
		return a.insertArchive(ctx, tx, archive)
	})
}

func (a *Archiver) insertArchive(ctx context.Context, tx pg.Tx, archive *Archive) error {
	_, err := tx.Exec(ctx, `INSERT INTO journal_archive (manifest, day, sha256, batches, entries, logged, bytes, root, archived_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (manifest) DO NOTHING`,
		archive.Manifest, archive.Day, archive.SHA256[:], archive.Batches, archive.Entries, archive.Logged, archive.Bytes, archive.Root, archive.At)
	if err != nil {
		return fmt.Errorf("journal: record an archive: %w", err)
	}
	if err := keepRuns(ctx, tx, archive.Day); err != nil {
		return err
	}
	return a.audit(ctx, tx, audit.JournalArchived, archive)
}

func (a *Archiver) audit(ctx context.Context, tx pg.Tx, action audit.Action, archive *Archive) error {
	return audit.Write(ctx, tx, audit.Entry{
		At: a.Now(), Actor: audit.Actor{Kind: audit.Operator}, Action: action, Subject: archive.Manifest,
		After: map[string]any{"day": archive.Day, "entries": archive.Entries},
	})
}
