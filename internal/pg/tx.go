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

	"github.com/lineproof/lineproof/internal/fault"
)

// ErrUnknown reports a transaction of which nobody can say whether it
// committed. The caller must be told so, never that it worked and never that
// it failed.
var ErrUnknown = fault.New(fault.Unavailable,
	"The service could not confirm that the request took effect. Send it again, with the same Idempotency-Key where the operation takes one.")

// COMMIT may take until the caller's deadline, within these bounds. It is the
// wait for a synchronous standby that can be long; past its time the outcome is
// called unknown.
const (
	minCommit = 250 * time.Millisecond
	maxCommit = 5 * time.Second
	// Behind a large transaction the disk may have much to write, and nobody
	// waits at the other end.
	longCommit = 2 * time.Minute
)

// InTx runs fn in a transaction and commits it if fn returns nil. The error
// that fn returns is passed on unchanged so that faults survive.
//
// COMMIT runs to its own deadline, not the caller's: a caller who leaves during
// the wait for a standby would turn a committed row into an error, and its
// retry into an acknowledged loss.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{}, commitTime, fn)
}

// InSnapshot is [InTx] for a transaction whose statements all see the database
// as it was at one moment.
func InSnapshot(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, commitTime, fn)
}

// InLongTx is [InTx] for work that nobody waits for: COMMIT has more time.
func InLongTx(ctx context.Context, pool *pgxpool.Pool, fn func(tx Tx) error) error {
	return inTx(ctx, pool, pgx.TxOptions{}, func(context.Context) time.Duration { return longCommit }, fn)
}

func inTx(ctx context.Context, pool *pgxpool.Pool, kind pgx.TxOptions, commit func(context.Context) time.Duration, fn func(tx Tx) error) error {
	conn, err := Take(ctx, pool)
	if err != nil {
		return err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, kind)
	if err != nil {
		return fmt.Errorf("pg: begin: %w", err)
	}
	defer rollback(ctx, tx)

	if err := fn(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("pg: before commit: %w", err) // the caller has gone; nothing is owed
	}
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), commit(ctx))
	defer cancel()
	err = tx.Commit(patient)
	if syncWaitLost(conn.Conn().PgConn()) {
		_ = conn.Conn().Close(patient)
		return ErrUnknown.Because(errors.New("pg: the wait for a synchronous standby was cancelled"))
	}
	if err != nil && !rolledBack(err) {
		return ErrUnknown.Because(fmt.Errorf("pg: commit: %w", err))
	}
	if err != nil {
		return fmt.Errorf("pg: commit: %w", err)
	}
	return nil
}

// rollback does nothing after a commit.
func rollback(ctx context.Context, tx Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
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

// rolledBack reports whether a failed COMMIT certainly left nothing behind: the
// server refused it for the sake of integrity or concurrency. Every other
// error, a lost connection above all, leaves the outcome open.
func rolledBack(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && len(e.Code) == 5 && (e.Code[:2] == "23" || e.Code[:2] == "40" || e.Code[:2] == "25")
}

const lostKey = "lineproof: sync wait lost"

// watchSyncWait marks a connection whose COMMIT returned before a synchronous
// standby had confirmed it. The server reports that by a warning beside a
// success, and the driver's error is nil. The text is translated where the
// server speaks another language; the routine's name is not.
func watchSyncWait(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" || strings.HasPrefix(n.Message, "canceling wait for synchronous replication") ||
		strings.HasPrefix(n.Message, "canceling the wait for synchronous replication") {
		conn.CustomData()[lostKey] = true
	}
}

func syncWaitLost(conn *pgconn.PgConn) bool {
	lost, _ := conn.CustomData()[lostKey].(bool)
	return lost
}
