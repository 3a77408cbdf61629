package pg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Final is the statement that ends a transaction of [InTwoTrips]. Its values are in
// PostgreSQL's binary format. It returns one row.
type Final struct {
	Name   string // under which it is prepared
	SQL    string
	Values [][]byte
}

// Snapshot is a transaction of [InTwoTrips] in progress, for reading.
type Snapshot struct {
	// Timeline is that of the server: it changes when a standby takes over, and only
	// then. It is set once something was read.
	Timeline string

	conn  *pgx.Conn
	begun bool
}

const (
	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ"
	// The name of every WAL file starts with the timeline.
	readTimeline = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"
)

// InTwoTrips runs a transaction with one snapshot like [InSnapshot], in two round trips
// instead of four: BEGIN is sent with the first batch of queries of read, and COMMIT with
// the statement that read returns. It returns the values of that statement's row. If read
// returns no statement, nothing is committed.
//
// The statement has the time that COMMIT has: once both are sent, a lost connection leaves
// it unknown whether they took effect. An error that the server reports for the statement
// is certain: the server skips a COMMIT that was sent behind it.
func InTwoTrips(ctx context.Context, pool *pgxpool.Pool, read func(s *Snapshot) (*Final, error)) ([][]byte, error) {
	conn, err := Acquire(ctx, pool)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	s := &Snapshot{conn: conn.Conn()}
	defer s.rollback(ctx)
	final, err := read(s)
	if err != nil || final == nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	statement, err := s.conn.Prepare(ctx, final.Name, final.SQL)
	if err != nil {
		return nil, fmt.Errorf("pg: prepare: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pg: before commit: %w", err) // the caller has gone, and nothing was promised to it
	}
	commitCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime(ctx))
	defer cancel()
	row, err := s.commit(commitCtx, statement, final.Values)
	if syncWaitLost(s.conn.PgConn()) {
		_ = s.conn.Close(commitCtx)
		return nil, errSyncWaitLost()
	}
	return row, err
}

// commit sends the last statement and COMMIT, and returns the row of the first.
func (s *Snapshot) commit(ctx context.Context, statement *pgconn.StatementDescription, values [][]byte) (row [][]byte, err error) {
	binaryFormat := []int16{1}
	p := s.conn.PgConn().StartPipeline(ctx)
	defer func() {
		if closeErr := p.Close(); err == nil && closeErr != nil {
			err = ErrUnknown.Because(fmt.Errorf("pg: commit: %w", closeErr))
		}
	}()
	p.SendQueryStatement(statement, values, binaryFormat, binaryFormat)
	p.SendQueryParams("COMMIT", nil, nil, nil, nil)
	if err := p.Sync(); err != nil {
		return nil, ErrUnknown.Because(fmt.Errorf("pg: send: %w", err))
	}
	written := nextResult(p)
	if _, certain := errors.AsType[*pgconn.PgError](written.Err); certain {
		return nil, fmt.Errorf("pg: write: %w", written.Err)
	}
	if written.Err != nil {
		return nil, ErrUnknown.Because(fmt.Errorf("pg: write: %w", written.Err))
	}
	committed := nextResult(p)
	switch {
	case committed.Err != nil && rolledBack(committed.Err):
		return nil, fmt.Errorf("pg: commit: %w", committed.Err)
	case committed.Err != nil:
		return nil, ErrUnknown.Because(fmt.Errorf("pg: commit: %w", committed.Err))
	case committed.CommandTag.String() != "COMMIT":
		return nil, fmt.Errorf("pg: commit: %w", pgx.ErrTxCommitRollback)
	case len(written.Rows) != 1:
		return nil, errors.New("pg: the last statement returned no row")
	}
	return written.Rows[0], nil
}

// nextResult reads the result of the next statement of a pipeline.
func nextResult(p *pgconn.Pipeline) *pgconn.Result {
	results, err := p.GetResults()
	if err != nil {
		return &pgconn.Result{Err: err}
	}
	reader, ok := results.(*pgconn.ResultReader)
	if !ok {
		return &pgconn.Result{Err: fmt.Errorf("unexpected %T", results)}
	}
	return reader.Read()
}

// rollback ends the transaction unless it was committed.
func (s *Snapshot) rollback(ctx context.Context) {
	if s.conn.IsClosed() || s.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	if _, err := s.conn.Exec(ctx, "ROLLBACK"); err != nil {
		_ = s.conn.Close(ctx)
	}
}

// begin starts the transaction by itself, unless a batch of queries has started it.
func (s *Snapshot) begin(ctx context.Context) error {
	if s.begun {
		return nil
	}
	return fault.Wrap(s.SendBatch(ctx, &pgx.Batch{}).Close(), "pg: begin")
}

// SendBatch sends queries, the first ones together with BEGIN.
func (s *Snapshot) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if s.begun {
		return s.conn.SendBatch(ctx, b)
	}
	s.begun = true
	all := &pgx.Batch{}
	all.Queue(beginSnapshot)
	all.Queue(readTimeline)
	all.QueuedQueries = append(all.QueuedQueries, b.QueuedQueries...)
	results := s.conn.SendBatch(ctx, all)
	// An error of these two is the error of every later result.
	if _, err := results.Exec(); err == nil {
		_ = results.QueryRow().Scan(&s.Timeline)
	}
	return results
}

// Exec runs a statement.
func (s *Snapshot) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := s.begin(ctx); err != nil {
		return pgconn.CommandTag{}, err
	}
	return s.conn.Exec(ctx, sql, args...) //nolint:wrapcheck // as the connection's own
}

// Query runs a query.
func (s *Snapshot) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return s.conn.Query(ctx, sql, args...) //nolint:wrapcheck // as the connection's own
}

// QueryRow runs a query that returns one row.
func (s *Snapshot) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := s.begin(ctx); err != nil {
		return failedRow{err}
	}
	return s.conn.QueryRow(ctx, sql, args...)
}

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }
