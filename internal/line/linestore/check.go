package linestore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// ReplayReport is the result of a replay of all lines.
type ReplayReport struct {
	Lines         int64          // rows
	Replayed      int64          // rows with events
	Events        int64          // of the replayed rows
	Orphaned      int64          // events without a row
	Mismatched    []phone.Number // rows that differ from what their baseline and events give; the first hundred
	MismatchCount int64          // how many there are
}

// OK reports whether the replay found no error.
func (r *ReplayReport) OK() bool { return r.MismatchCount == 0 && r.Orphaned == 0 }

// Replay computes every row again from its baseline and its events and compares.
// Rows without events are their own baseline and are only counted. It may run
// while events are written: rows with events are read again, together with their
// events, in one snapshot. progress is called after each batch.
func Replay(ctx context.Context, pool *pgxpool.Pool, progress func(ReplayReport)) (ReplayReport, error) {
	const batchSize = 20_000
	var r ReplayReport
	versions, err := policy.History(ctx, pool)
	if err != nil {
		return r, err
	}
	terms := line.TermsOf(versions)
	var after phone.Number
	for {
		records, err := RowsAfter(ctx, pool, after, batchSize)
		if err != nil {
			return r, err
		}
		if len(records) == 0 {
			break
		}
		after = records[len(records)-1].Number
		if err := r.replay(ctx, pool, terms, records); err != nil {
			return r, err
		}
		progress(r)
	}
	err = pool.QueryRow(ctx, `SELECT count(*) FROM line_event e WHERE NOT EXISTS (SELECT FROM line_now l WHERE l.number = e.number)`).Scan(&r.Orphaned)
	if err != nil {
		return r, fmt.Errorf("linestore: look for events without a row: %w", err)
	}
	return r, nil
}

func (r *ReplayReport) replay(ctx context.Context, pool *pgxpool.Pool, terms line.TermsAt, records []Record) error {
	var numbers []phone.Number
	for i := range records {
		r.Lines++
		if records[i].Row.HasEvents() {
			numbers = append(numbers, records[i].Number)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	// One snapshot for rows and events, so that no event is added between the two
	// queries.
	return pg.InTx(ctx, pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(ctx, `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`); err != nil {
			return fmt.Errorf("linestore: replay: %w", err)
		}
		rows, err := Rows(ctx, tx, numbers)
		if err != nil {
			return err
		}
		histories, err := Histories(ctx, tx, numbers, rows)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			r.Replayed++
			r.Events += int64(len(histories[n].Events))
			if replayed := histories[n].Row(terms); replayed != rows[n] {
				r.MismatchCount++
				if len(r.Mismatched) < 100 {
					r.Mismatched = append(r.Mismatched, n)
				}
			}
		}
		return nil
	})
}
