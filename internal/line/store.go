package line

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// ErrConcurrentUpdate reports that another transaction changed a row between
// reading and writing. The transaction must be retried.
var ErrConcurrentUpdate = errors.New("line: a row was changed by another transaction")

// columns has the columns in the order in which scanRow reads them.
const columns = `number, version, baseline, network, state, state_since, tenure_start, sim_at, newest, until, ended_after, port_at,
	bar_at, order_at, black_at, flag_at, flag_by, flag_level, bar_reason, order_reason`

// Rows returns the rows of numbers; a number without a row is not in the map.
func Rows(ctx context.Context, from pg.DB, numbers []phone.Number) (map[phone.Number]Row, error) {
	return readRows(ctx, from, numbers, "")
}

// LockedRows is [Rows] for a transaction that will change the rows. It locks them
// in the order of the numbers, like every other writer, to avoid deadlocks. A
// number without a row has nothing to lock; so a transaction that may insert rows
// first takes one advisory lock for all new rows, before it locks any row.
func LockedRows(ctx context.Context, tx pg.DB, numbers []phone.Number) (map[phone.Number]Row, error) {
	known, err := readRows(ctx, tx, numbers, "")
	if err != nil {
		return nil, err
	}
	if len(known) < len(numbers) {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof new lines', 0))`); err != nil {
			return nil, fmt.Errorf("line: lock new rows: %w", err)
		}
	}
	return readRows(ctx, tx, numbers, " ORDER BY number FOR UPDATE")
}

func readRows(ctx context.Context, from pg.DB, numbers []phone.Number, suffix string) (map[phone.Number]Row, error) {
	keys := make([]int64, len(numbers))
	for i, n := range numbers {
		keys[i] = n.Int()
	}
	rows, err := from.Query(ctx, `SELECT `+columns+` FROM line_now WHERE number = ANY($1)`+suffix, keys)
	if err != nil {
		return nil, fmt.Errorf("line: read rows: %w", err)
	}
	defer rows.Close()
	found := make(map[phone.Number]Row, len(numbers))
	for rows.Next() {
		n, r := scanRow(rows.RawValues())
		found[n] = r
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("line: read rows: %w", err)
	}
	return found, nil
}

// AnyBetween reports whether any number from low to high has a row.
func AnyBetween(ctx context.Context, from pg.DB, low, high phone.Number) (found bool, err error) {
	err = from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM line_now WHERE number BETWEEN $1 AND $2)`, low.Int(), high.Int()).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("line: look for rows: %w", err)
	}
	return found, nil
}

// RowsAfter returns up to limit rows whose numbers follow a number, in order.
func RowsAfter(ctx context.Context, from pg.DB, after phone.Number, limit int) ([]Record, error) {
	rows, err := from.Query(ctx, `SELECT `+columns+` FROM line_now WHERE number > $1 ORDER BY number LIMIT $2`, after.Int(), limit)
	if err != nil {
		return nil, fmt.Errorf("line: read rows: %w", err)
	}
	defer rows.Close()
	records := make([]Record, 0, limit)
	for rows.Next() {
		n, r := scanRow(rows.RawValues())
		records = append(records, Record{Number: n, Row: r})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("line: read rows: %w", err)
	}
	return records, nil
}

// scanRow decodes columns from PostgreSQL's binary format.
func scanRow(v [][]byte) (phone.Number, Row) {
	r := Row{
		Version: int4(v[1]), Baseline: int4(v[2]), Network: numbering.Network(int2(v[3])), State: State(int2(v[4])),
		StateSince: instant(v[5]), Tenure: instant(v[6]), SIM: instant(v[7]), Newest: instant(v[8]), Until: instant(v[9]),
		EndedAfter: instant(v[10]), PortAt: instant(v[11]), BarAt: instant(v[12]), OrderAt: instant(v[13]), BlackAt: instant(v[14]),
		FlagAt: instant(v[15]), FlagBy: int4(v[16]), FlagLevel: Code(int2(v[17])), BarReason: Code(int2(v[18])), OrderReason: Code(int2(v[19])),
	}
	r.Newest = max(r.Newest, r.newestColumn())
	return number(v[0]), r
}

// number decodes a phone number, as [phone.Number.Int] encodes it.
func number(b []byte) phone.Number {
	n, _ := phone.FromInt(int64(binary.BigEndian.Uint64(b))) //nolint:gosec // it was an int64
	return n
}

func instant(b []byte) Instant {
	if b == nil {
		return Never
	}
	return Instant(int4(b))
}

func int4(b []byte) int32 {
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b)) //nolint:gosec // it was an int32
}

func int2(b []byte) int16 {
	if b == nil {
		return 0
	}
	return int16(binary.BigEndian.Uint16(b)) //nolint:gosec // it was an int16
}

// ReserveSeqs returns n seqs for new events, in the order of reporting.
func ReserveSeqs(ctx context.Context, tx pg.Tx, n int) ([]int64, error) {
	rows, err := tx.Query(ctx, `SELECT nextval('line_event_seq') FROM generate_series(1, $1)`, n)
	if err != nil {
		return nil, fmt.Errorf("line: reserve seqs: %w", err)
	}
	seqs, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("line: reserve seqs: %w", err)
	}
	return seqs, nil
}
