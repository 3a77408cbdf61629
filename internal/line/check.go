package line

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// Audit is what a replay of all lines found.
type Audit struct {
	Lines    int64          // rows
	Replayed int64          // of them with events
	Events   int64          // behind them
	Strayed  int64          // events that belong to no row
	Wrong    []phone.Number // rows that are not what their baseline and events make; the first hundred
	Wrongs   int64
}

// OK reports whether nothing was wrong.
func (a *Audit) OK() bool { return a.Wrongs == 0 && a.Strayed == 0 }

// Replay makes every row anew from its baseline and its events and compares.
// Rows without events are their own baseline and are only counted. It reads
// while others write: a row that changes meanwhile is looked at again.
func Replay(ctx context.Context, pool *pgxpool.Pool, watch func(Audit)) (Audit, error) {
	const bite = 20_000
	var a Audit
	var after phone.Number
	for {
		records, err := After(ctx, pool, after, bite)
		if err != nil {
			return a, err
		}
		if len(records) == 0 {
			break
		}
		after = records[len(records)-1].Number
		if err := a.replay(ctx, pool, records); err != nil {
			return a, err
		}
		watch(a)
	}
	err := pool.QueryRow(ctx, `SELECT count(*) FROM line_event e WHERE NOT EXISTS (SELECT FROM line_now l WHERE l.number = e.number)`).Scan(&a.Strayed)
	if err != nil {
		return a, fmt.Errorf("line: look for stray events: %w", err)
	}
	return a, nil
}

func (a *Audit) replay(ctx context.Context, pool *pgxpool.Pool, records []Record) error {
	var numbers []phone.Number
	for i := range records {
		a.Lines++
		if records[i].Row.Eventful() {
			numbers = append(numbers, records[i].Number)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	// One snapshot for rows and events, so that nothing comes in between.
	return pg.InTx(ctx, pool, func(tx pg.Tx) error {
		if _, err := tx.Exec(ctx, `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`); err != nil {
			return fmt.Errorf("line: replay: %w", err)
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
			a.Replayed++
			a.Events += int64(len(histories[n].Events))
			if made := histories[n].Row(); made != rows[n] {
				a.Wrongs++
				if len(a.Wrong) < 100 {
					a.Wrong = append(a.Wrong, n)
				}
			}
		}
		return nil
	})
}
