// Package pg is what every domain package stands on: the connection pool, the
// transaction that tells "refused" from "unknown", the roles and the
// migrations. It knows no table.
package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Tx is a transaction in progress. Domain packages that must write together
// accept one.
type Tx = pgx.Tx

// DB is a pool or a transaction, for what can be asked of either.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Options tune [Open]. The zero value connects as the login itself with pgx's
// own defaults.
type Options struct {
	Role  string // role to take in every session; "" means the login's own
	Conns int32  // size of the pool; 0 means 8
	// StatementTimeout bounds one statement; 0 means none. It does not bound the
	// wait for a synchronous standby: COMMIT has a deadline of its own.
	StatementTimeout time.Duration
	Breaker          *Breaker // keeps callers from a database that has stopped answering; nil for none
}

// Open connects to the database at url and waits until it answers.
func Open(ctx context.Context, url string, o Options) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error of the parser repeats the url, and with it the password.
		return nil, errors.New("pg: the database url is malformed")
	}
	cfg.MaxConns = 8
	if o.Conns > 0 {
		cfg.MaxConns = o.Conns
	}
	cfg.MinConns = min(2, cfg.MaxConns)
	cfg.MaxConnLifetime, cfg.MaxConnLifetimeJitter = 30*time.Minute, 5*time.Minute
	cfg.MaxConnIdleTime, cfg.HealthCheckPeriod = 5*time.Minute, 10*time.Second
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 2 * time.Second
	}
	params := cfg.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "lineproof"
	}
	params["timezone"] = "UTC"
	params["idle_in_transaction_session_timeout"] = "10s"
	params["lock_timeout"] = "2s"
	// Whatever the database or the login were set to: a COMMIT that returns
	// before its record is durable would be an answer before its record.
	params["synchronous_commit"] = "on"
	if o.Role != "" {
		params["role"] = o.Role
	}
	if o.StatementTimeout > 0 {
		params["statement_timeout"] = fmt.Sprintf("%dms", o.StatementTimeout.Milliseconds())
	}
	cfg.ConnConfig.OnNotice = watchSyncWait
	if cfg.ConnConfig.ValidateConnect == nil { // the url does not choose: of several hosts, only the primary will do
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}

	if o.Breaker != nil {
		o.Breaker.guard(ctx, cfg)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("pg: make the pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, unreachable(err, o.Role)
	}
	if o.Breaker != nil {
		o.Breaker.pool = pool
	}
	return pool, nil
}

// unreachable says what to do where the server's answer tells.
func unreachable(err error, role string) error {
	code := ""
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = e.Code
	}
	switch {
	case code == "22023" && role != "": // the role that the session was to take
		return fmt.Errorf("%w (the database has no role %s)", ErrSchema, role)
	case code == "3D000":
		return fmt.Errorf("pg: the server has no such database; make it with createdb, or correct LINEPROOF_DATABASE_URL: %w", err)
	case strings.HasPrefix(code, "28"):
		return fmt.Errorf("pg: the server refuses the login; correct LINEPROOF_DATABASE_URL, or let the login in: %w", err)
	}
	return fmt.Errorf("pg: reach the database: %w", err)
}

// Violated returns the name of the constraint that err breaks, or "".
func Violated(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.ConstraintName
	}
	return ""
}

// Refused reports whether the database would not take what it was given: a
// statement failed for its content, and surely nothing of it was kept.
func Refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !Away(err) && !errors.Is(err, ErrUnknown)
}

// Away reports whether err says that the database could not serve just now: it
// was not reached, was busy, or broke off. Trying again later makes sense.
func Away(err error) bool {
	// First: a server that refuses a login, as during the change of a password,
	// is a database that cannot be reached.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case len(e.Code) != 5:
			return false
		case e.Code == "25006", e.Code == "25P03", e.Code == "55P03": // a deposed primary; idle for too long; a lock not granted in time
			return true
		}
		switch e.Code[:2] {
		case "08", "40", "53", "57", "58": // connection, rollback, resources, operator, system
			return true
		}
		return false
	}
	// Not net.Error: every errno of the system satisfies that.
	op, isNet := errors.AsType[*net.OpError](err)
	return isNet && op.Op != "listen" || errors.Is(err, ErrAway) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		// pgx gives these two no type of their own.
		(err != nil && (strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool")))
}
