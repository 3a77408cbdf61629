package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// eraseArchived erases records of a day that is only in the archive.
func (a *Archiver) eraseArchived(ctx context.Context, conn *pgx.Conn, day time.Time, covered *archivefile.ErasedSet) (erased int64, err error) {
	if erased, err = a.rewriteArchive(ctx, conn, day, covered); err != nil {
		return erased, err
	}
	_, err = conn.Exec(ctx, `DELETE FROM journal_rewrite WHERE day = $1::timestamptz::date`, day)
	return erased, err
}

// rewriteArchive rewrites the archive of a day without the personal parts of the
// covered records, and then deletes the old files. The batches and their roots stay.
func (a *Archiver) rewriteArchive(ctx context.Context, conn *pgx.Conn, day time.Time, covered *archivefile.ErasedSet) (erased int64, err error) {
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
	readBack, err := archivefile.CheckArchive(ctx, a.Files, &archive, covered, 1, func(int64) {})
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
	return fault.Wrap(err, "journal: replace an archive")
}

// deleteReplaced deletes the files of archives that were rewritten.
func (a *Archiver) deleteReplaced(ctx context.Context, conn *pgx.Conn) error {
	keys, err := pg.Collect(ctx, conn, pgx.RowTo[uuid.UUID], `SELECT key FROM journal_replaced WHERE deleted_at IS NULL`)
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

// RestoreReplaced records the archive of a day that was rewritten, if the database
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
		return nil // rewritten once more
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
