// Package publiclog keeps the public log: an append-only list of entries about every
// batch of the journal, and about whatever else decides an answer, over which the service
// publishes a Merkle tree.
//
// PostgreSQL has the order. [Log.Tick] gives the batches that were committed since the
// last tick an index each, once and for ever, in one transaction that holds the lock of
// the one row of log_head. Any node may call it, at any time; there is no leader. A node
// that is killed leaves nothing half done.
//
// Which batches are new is not a matter of time or number: transactions become visible in
// another order than they began. The head keeps the snapshot in which batches were last
// read, and the next tick takes those that this snapshot did not see. A transaction that
// stays open for long therefore delays its own batch and no other.
//
// Entries of the other kinds are put into log_pending by triggers, in the transaction of
// what they are about, and a tick takes them from there.
//
// Entries about batches leave the database when their day was archived: the archive has
// their indexes, and [Check] and [Rebuild] read them from there.
package publiclog

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Log is the public log.
type Log struct {
	Pool *pgxpool.Pool
	// Origin is the name of the log, such as lineproof.example/log/0/2027. It never changes.
	Origin string

	monthsNoted atomic.Int64 // the hour in which months were last looked at
}

// Added describes the entries that a tick added.
type Added struct {
	Entries int
	Oldest  time.Time // the time of the oldest of them
}

// Head is the end of the log.
type Head struct {
	Origin string
	Began  time.Time // when the log was turned on
	Size   int64
	Root   merkle.Hash

	edge []byte // what is needed to go on
}

// ErrOff reports that the log was never turned on.
var ErrOff = errors.New("publiclog: there is no public log; set LINEPROOF_LOG_ORIGIN to turn it on")

// Open turns the log on unless it is on. From then on every batch of the journal is in it.
func (l *Log) Open(ctx context.Context) error {
	none := (&merkle.Tree{}).Root()
	_, err := l.Pool.Exec(ctx, `INSERT INTO log_head (origin, began, size, edge, root, seen, since, system)
		SELECT $1, now(), 0, '', $2, pg_current_snapshot(), now(), system_identifier FROM pg_control_system() ON CONFLICT DO NOTHING`, l.Origin, none[:])
	if err != nil {
		return fmt.Errorf("publiclog: turn the log on: %w", err)
	}
	if _, err := l.Pool.Exec(ctx, `INSERT INTO log_published (written, published, note, at) VALUES (0, 0, '', now()) ON CONFLICT DO NOTHING`); err != nil {
		return fmt.Errorf("publiclog: turn the log on: %w", err)
	}
	h, err := ReadHead(ctx, l.Pool)
	if err != nil {
		return err
	}
	if h.Origin != l.Origin {
		return fmt.Errorf("publiclog: LINEPROOF_LOG_ORIGIN is not the origin of the log in the database, which is %q", h.Origin)
	}
	return nil
}

// ReadHead returns the end of the log, or [ErrOff].
func ReadHead(ctx context.Context, from pg.DB) (Head, error) {
	var h Head
	var root []byte
	err := from.QueryRow(ctx, `SELECT origin, began, size, root, edge FROM log_head`).Scan(&h.Origin, &h.Began, &h.Size, &root, &h.edge)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, ErrOff
	}
	if err != nil {
		return h, fmt.Errorf("publiclog: read the head: %w", err)
	}
	h.Root = merkle.Hash(root)
	return h, nil
}

// UseKey records that a key is used from now on, unless it is the last one of its role; the
// log then gets an entry about it.
func (l *Log) UseKey(ctx context.Context, role, value string) error {
	_, err := l.Pool.Exec(ctx, `INSERT INTO log_key (role, value) SELECT $1, $2
		WHERE $2 IS DISTINCT FROM (SELECT value FROM log_key WHERE role = $1 ORDER BY id DESC LIMIT 1)`, role, value)
	return fault.Wrap(err, "publiclog: record a key")
}
