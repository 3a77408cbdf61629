package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrUnknown means that it is unknown whether a transaction committed. The
// response must say so, and neither claim success nor failure.
var ErrUnknown = fault.New(fault.Unavailable,
	"The service could not confirm that the request took effect. Send it again, with the same Idempotency-Key where the operation takes one.")

// COMMIT may take until the caller's deadline, but at least minCommit and at most
// maxCommit. The wait for a synchronous standby can be long; when the time is up,
// the result is ErrUnknown.
const (
	minCommit = 250 * time.Millisecond
	maxCommit = 5 * time.Second
	// longCommit is for large transactions in the background: the disk may have
	// much to write, and no caller waits.
	longCommit = 2 * time.Minute
)

// InTx runs fn in a transaction and commits it if fn returns nil, or an error made by
// [Keep]. An error of fn is returned unchanged, so that the caller can still examine
// faults.
//
// COMMIT has its own deadline and ignores the cancellation of ctx: if a client
// that disconnects during the wait for a standby cancelled it, a committed row
// would be reported as failed, and the retry could acknowledge a row that no
// standby has.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{}, commitTime, fn)
}

// InSnapshot is [InTx] with isolation level repeatable read: all statements see
// the same snapshot of the database.
func InSnapshot(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, commitTime, fn)
}

// InLongTx is [InTx] for background work: COMMIT may take up to longCommit.
func InLongTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{}, func(context.Context) time.Duration { return longCommit }, fn)
}

func inTx(ctx context.Context, pool *pgxpool.Pool, options pgx.TxOptions, commit func(context.Context) time.Duration, fn func(tx Tx) error) error {
	conn, err := Acquire(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	takeChangedRows(conn.Conn())
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("pg: begin: %w", err)
	}
	defer rollback(ctx, tx)

	err = fn(tx)
	kept, keep := errors.AsType[*keptError](err)
	if err != nil && !keep {
		return err
	}
	if err := signRows(ctx, conn.Conn()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pg: before commit: %w", err) // the caller has gone, and nothing was promised to it
	}
	commitCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commit(ctx))
	defer cancel()
	err = tx.Commit(commitCtx)
	if syncWaitLost(conn.Conn().PgConn()) {
		_ = conn.Conn().Close(commitCtx)
		return errSyncWaitLost()
	}
	if err != nil && !rolledBack(err) {
		return ErrUnknown.Because(fmt.Errorf("pg: commit: %w", err))
	}
	if err != nil {
		return fmt.Errorf("pg: commit: %w", err)
	}
	if keep {
		return kept.error
	}
	return nil
}

// keptError is an error after which the transaction commits.
type keptError struct{ error }

// Unwrap returns the error itself.
func (e *keptError) Unwrap() error { return e.error }

// Keep makes [InTx] commit what fn wrote although it returns an error: a request was
// refused, and that is what was written. InTx returns err when it has committed.
func Keep(err error) error { return &keptError{err} }

// rollbackTime is how long a rollback may take before its connection is given up.
const rollbackTime = time.Second

// rollback does nothing after a commit.
func rollback(ctx context.Context, tx Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_ = tx.Rollback(ctx)
}

func commitTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return maxCommit
	}
	return min(max(time.Until(deadline), minCommit), maxCommit)
}

// rolledBack reports whether a failed COMMIT certainly rolled back: the server
// rejected it because of an integrity constraint, a serialization failure or the
// state of the transaction. After any other error, above all a lost connection,
// the outcome is unknown.
func rolledBack(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(e.Code) == 5 && (e.Code[:2] == "23" || e.Code[:2] == "40" || e.Code[:2] == "25")
}

const syncWaitLostKey = "lineproof: sync wait lost"

// watchSyncWait marks a connection whose COMMIT returned before a synchronous
// standby had confirmed it. The server reports success with a warning, so the
// driver returns no error. The warning's text depends on the server's language
// (lc_messages); the routine's name does not.
func watchSyncWait(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" || strings.HasPrefix(n.Message, "canceling wait for synchronous replication") ||
		strings.HasPrefix(n.Message, "canceling the wait for synchronous replication") {
		conn.CustomData()[syncWaitLostKey] = true
	}
}

func errSyncWaitLost() error {
	return ErrUnknown.Because(errors.New("pg: the wait for a synchronous standby was cancelled"))
}

func syncWaitLost(conn *pgconn.PgConn) bool {
	lost, _ := conn.CustomData()[syncWaitLostKey].(bool)
	return lost
}
