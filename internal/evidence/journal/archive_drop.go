package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// drop removes an archived day from the database. Detaching concurrently does not
// block writers: it waits for the transactions in progress, and no transaction
// waits for it.
func (a *Archiver) drop(ctx context.Context, conn *pgx.Conn, archive Archive) error {
	for _, parent := range []string{entryTable, batchTable} {
		if err := detach(ctx, conn, parent, archive.Day); err != nil {
			return err
		}
	}
	err := pg.InTx(ctx, a.Pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT journal_drop_day($1::timestamptz::date)`, archive.Day); err != nil {
			return fmt.Errorf("journal: drop a day: %w", err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM journal_checked WHERE day = $1::timestamptz::date`, archive.Day); err != nil {
			return fmt.Errorf("journal: forget the check of a day: %w", err)
		}
		return a.audit(ctx, tx, audit.JournalDropped, &archive)
	})
	if pg.Refused(err) {
		// Something was written to the day after it was archived. Attach it again.
		return errors.Join(err, attach(ctx, conn, archive.Day))
	}
	return err
}

func detach(ctx context.Context, conn *pgx.Conn, parent string, day time.Time) error {
	all, err := partitions(ctx, conn)
	if err != nil {
		return err
	}
	for i := range all {
		p := &all[i]
		if p.parent != parent || !p.day.Equal(day) || !p.attached {
			continue
		}
		mode := "CONCURRENTLY"
		if p.pending {
			mode = "FINALIZE"
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE public.%s DETACH PARTITION public.%s %s", parent, partitionOf(parent, day), mode)); err != nil {
			return fmt.Errorf("journal: detach a day: %w", err)
		}
	}
	return nil
}

func attach(ctx context.Context, conn *pgx.Conn, day time.Time) error {
	for _, parent := range []string{batchTable, entryTable} {
		_, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE public.%s ATTACH PARTITION public.%s FOR VALUES FROM ('%s 00:00:00+00') TO ('%s 00:00:00+00')", parent,
			partitionOf(parent, day), day.Format(time.DateOnly), day.AddDate(0, 0, 1).Format(time.DateOnly)))
		if err != nil {
			return fmt.Errorf("journal: attach a day again: %w", err)
		}
	}
	return nil
}
