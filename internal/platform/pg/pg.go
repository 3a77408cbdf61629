// Package pg connects to PostgreSQL for all domain packages: the connection
// pool with its circuit breaker, transactions whose errors distinguish "rolled
// back" from "unknown whether committed", the roles and the migrations. It
// queries no table of a domain package.
package pg

import (
	"cmp"
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

	"github.com/lineproof/lineproof/internal/platform/peer"
)

// Tx is a transaction in progress. Functions accept one so that several domain
// packages can write in the same transaction.
type Tx = pgx.Tx

// DB is a pool or a transaction, for functions that can use either.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Options tune [Open]. The zero value connects as the login itself with pgx's
// own defaults.
type Options struct {
	Name  string // of the connections in pg_stat_activity, unless the url has one; "" means lineproof
	Role  string // set in every session; "" keeps the login's own
	Conns int32  // size of the pool; 0 means 8
	// StatementTimeout bounds one statement; 0 means none. It does not bound the
	// wait for a synchronous standby: COMMIT has a deadline of its own.
	StatementTimeout time.Duration
	Breaker          *Breaker // fails calls fast while the database does not answer; nil for none
	// ReadOnly makes every transaction read-only, and lets the server be a standby.
	ReadOnly bool
	// Lazy lets [Open] return before the database answers, for one that the service can
	// do without.
	Lazy bool
	// Unverified lets the url name hosts on other machines without TLS that verifies them. Otherwise
	// every connection that the driver could open is checked, also the ones it would fall back to.
	Unverified bool
}

// Config returns the configuration of the pool that [Open] creates.
func Config(ctx context.Context, url string, o Options) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's error contains the url, and with it the password.
		return nil, errors.New("pg: the database url is malformed")
	}
	if err := peer.CheckConnection(&cfg.ConnConfig.Config); err != nil && !o.Unverified {
		return nil, fmt.Errorf("pg: the database url: %w", err)
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
		params["application_name"] = cmp.Or(o.Name, "lineproof")
	}
	params["timezone"] = "UTC"
	params["client_min_messages"] = "notice" // triggers report in notices which rows have to be signed
	params["jit"] = "off"                    // compiling one of our queries takes longer than running it
	params["idle_in_transaction_session_timeout"] = "10s"
	params["lock_timeout"] = "2s"
	// This overrides the setting of the database and of the login: if COMMIT
	// returned before the journal entry is durable, callers would have answers
	// that the journal may lose.
	params["synchronous_commit"] = "on"
	if o.Role != "" {
		params["role"] = o.Role
	}
	if o.StatementTimeout > 0 {
		params["statement_timeout"] = fmt.Sprintf("%dms", o.StatementTimeout.Milliseconds())
	}
	cfg.ConnConfig.OnNotice = watchNotices
	keepRowKeys(cfg)
	if o.ReadOnly {
		params["default_transaction_read_only"] = "on"
	} else if cfg.ConnConfig.ValidateConnect == nil { // unless the url chooses otherwise, use only the primary of several hosts
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}

	if o.Breaker != nil {
		o.Breaker.guard(ctx, cfg)
	}
	return cfg, nil
}

// Open connects to the database at url and waits until it answers.
func Open(ctx context.Context, url string, o Options) (*pgxpool.Pool, error) {
	cfg, err := Config(ctx, url, o)
	if err != nil {
		return nil, err
	}
	if o.Breaker != nil && o.Breaker.hosts.primary.Load() == nil { // the first of its pools looks for all
		// A host that accepts connections and does not answer must not delay the start.
		look, cancel := context.WithTimeout(ctx, cfg.ConnConfig.ConnectTimeout)
		o.Breaker.hosts.find(look, cfg.ConnConfig)
		cancel()
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("pg: create the pool: %w", err)
	}
	if o.Lazy {
		return pool, nil
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, unreachable(err, o.Role)
	}
	if o.Breaker != nil {
		o.Breaker.add(pool)
	}
	return pool, nil
}

// unreachable adds what to do, if the server's error code tells.
func unreachable(err error, role string) error {
	code := ""
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = e.Code
	}
	switch {
	case code == "22023" && role != "": // from SET ROLE at the start of the session
		return fmt.Errorf("%w (the database has no role %s)", ErrSchema, role)
	case code == "3D000":
		return fmt.Errorf("pg: the server has no such database; create it with createdb, or correct LINEPROOF_DATABASE_URL: %w", err)
	case strings.HasPrefix(code, "28"):
		return fmt.Errorf("pg: the server rejects the login; correct LINEPROOF_DATABASE_URL, or allow the login in pg_hba.conf: %w", err)
	}
	return fmt.Errorf("pg: reach the database: %w", err)
}

// Violated returns the name of the constraint that err reports as violated, or
// "".
func Violated(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.ConstraintName
	}
	return ""
}

// Refused reports whether the database rejected a statement for its content. It
// has then certainly stored nothing of it.
func Refused(err error) bool {
	_, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !IsUnavailable(err) && !errors.Is(err, ErrUnknown)
}

// IsUnavailable reports whether err means that the database cannot serve at the
// moment: it could not be reached, was busy, or broke the connection. A later
// retry may succeed.
func IsUnavailable(err error) bool {
	// This comes first, because it may wrap a PgError: a server that rejects a
	// login, for example while its password is being changed, counts as
	// unreachable.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case len(e.Code) != 5:
			return false
		case e.Code == "25006", e.Code == "25P03", e.Code == "55P03": // former primary, now read-only; idle transaction timed out; lock timeout
			return true
		}
		switch e.Code[:2] {
		case "08", "40", "53", "57", "58": // connection, transaction rollback, resources, operator intervention, system
			return true
		}
		return false
	}
	// Not net.Error: every syscall.Errno implements that.
	op, isNet := errors.AsType[*net.OpError](err)
	return isNet && op.Op != "listen" || errors.Is(err, ErrDatabaseDown) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		// pgx has no error type for these two.
		(err != nil && (strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool")))
}
