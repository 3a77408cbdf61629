package pg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrLocked means that another session has the lock.
var ErrLocked = errors.New("pg: another session has the lock")

// SessionLocks keeps work from being done by two processes. All locks belong to one
// session, so that they take one connection, however many there are, and end with the
// process, however that ends. If the session is lost, so are its locks, and the work goes
// on: what it saves must notice when another process has continued it.
type SessionLocks struct {
	Pool *pgxpool.Pool

	mu   sync.Mutex
	conn *pgxpool.Conn // nil while no lock is held
	held int
}

// Lock takes a lock, or returns [ErrLocked]. A session may take the same lock twice, so
// the caller must not.
func (l *SessionLocks) Lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		if l.conn, err = l.Pool.Acquire(ctx); err != nil {
			return nil, fmt.Errorf("pg: acquire a connection: %w", err)
		}
	}
	var locked bool
	if err := l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, name).Scan(&locked); err != nil {
		if l.conn.Conn().IsClosed() {
			l.dropSession()
		} else {
			l.releaseIfUnused()
		}
		return nil, fmt.Errorf("pg: take a lock: %w", err)
	}
	if !locked {
		l.releaseIfUnused()
		return nil, ErrLocked
	}
	l.held++
	session := l.conn
	return func() { l.unlock(context.WithoutCancel(ctx), session, name) }, nil
}

func (l *SessionLocks) unlock(ctx context.Context, session *pgxpool.Conn, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != session {
		return // the session was lost, and the lock with it
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := session.Exec(ctx, `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, name); err != nil {
		_ = session.Conn().Close(ctx) // which unlocks, too
		l.dropSession()
		return
	}
	l.held--
	l.releaseIfUnused()
}

func (l *SessionLocks) dropSession() {
	l.conn.Release() // the pool discards a closed connection
	l.conn, l.held = nil, 0
}

func (l *SessionLocks) releaseIfUnused() {
	if l.held == 0 {
		l.conn.Release()
		l.conn = nil
	}
}
