package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Days returns the days whose records can be read from the database, from the
// oldest to the newest.
func Days(ctx context.Context, from pg.DB) ([]time.Time, error) { return readableDays(ctx, from) }

// Span is a period of time: From is included, To is not.
type Span struct{ From, To time.Time }

// Position is the position of a record in the order by time and then by id.
type Position struct {
	At time.Time
	ID uuid.UUID
}

// Query selects the records to list.
type Query struct {
	Entity       uuid.UUID // uuid.Nil for every entity
	Mode, Status string    // "" for all
	Key          uuid.UUID // uuid.Nil for every key
	Number       int64     // 0 for every number
	Correlator   string    // "" for all
	Spans        []Span    // the periods to read; they do not overlap
	Before       Position  // only records before this one; the zero value is no limit
	Limit        int
}

// listEntries reads each span by the index on the time. It has no bounds around
// all spans together: with them, the plan would read everything in between.
const listEntries = `SELECT ` + entryColumns + ` FROM unnest($1::timestamptz[], $2::timestamptz[]) AS s (low, high)
	CROSS JOIN LATERAL (SELECT * FROM journal_entry j WHERE j.at >= s.low AND j.at < s.high
		AND ($3::uuid IS NULL OR j.entity_id = $3) AND ($4 = '' OR j.mode = $4) AND ($5 = '' OR j.status = $5)
		AND ($9::uuid IS NULL OR j.key_id = $9) AND ($10::bigint = 0 OR j.number = $10) AND ($11 = '' OR j.correlator = $11)
		AND ($6::timestamptz IS NULL OR (j.at, j.request_id) < ($6, $7::uuid))) e
	ORDER BY at DESC, request_id DESC LIMIT $8`

// List returns the records of some periods, newest first. It reads all records of
// these periods, of every entity; package tally knows which periods have records
// of one. A record that does not match its hash is an error.
func List(ctx context.Context, pool *pgxpool.Pool, q Query) (list []record.Entry, err error) {
	if len(q.Spans) == 0 || q.Limit < 1 {
		return nil, nil
	}
	lows, highs := make([]time.Time, len(q.Spans)), make([]time.Time, len(q.Spans))
	for i, s := range q.Spans {
		lows[i], highs[i] = s.From, s.To
	}
	var before *time.Time
	if !q.Before.At.IsZero() {
		before = &q.Before.At
	}
	args := []any{
		lows, highs, pg.ID(q.Entity), q.Mode, q.Status, before, q.Before.ID, q.Limit, pg.ID(q.Key), q.Number, q.Correlator,
	}
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		// The planner scans tables that are empty according to the statistics, and the
		// statistics of a new day say that it is empty. Without sequential scans the
		// estimated cost is high, and JIT compilation would start because of it.
		if _, err := tx.Exec(ctx, `SELECT set_config('enable_seqscan', 'off', true)`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, listEntries, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(pgx.CollectableRow) (record.Entry, error) {
			e, err := scanEntry(rows)
			if err != nil {
				return record.Entry{}, err
			}
			if h := e.Hash(); !bytes.Equal(h[:], e.StoredHash) {
				return record.Entry{}, errors.New("a record does not match its hash; it was changed after it was written")
			}
			return e.Entry.Entry, nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("journal: list: %w", err)
	}
	return list, nil
}
