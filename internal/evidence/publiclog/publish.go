package publiclog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Publisher publishes the log: first its tiles are durable, then the key signs, then the
// checkpoint is shown. Every node may have one; one at a time publishes.
type Publisher struct {
	Log   *Log
	Tiles blob.Store
	Key   *logkey.Key
	// Witnesses, if set, sign what the key has signed.
	Witnesses *Witnesses

	locks    *pg.SessionLocks
	writer   *merkle.TileWriter // at the size up to which tiles are written; nil before the first time
	timeline string             // of the server when the store was last found not to be ahead
}

// NewPublisher returns a publisher of a log.
func NewPublisher(l *Log, tiles blob.Store, key *logkey.Key) *Publisher {
	return &Publisher{Log: l, Tiles: tiles, Key: key, locks: &pg.SessionLocks{Pool: l.Pool}}
}

// ErrAhead reports that more was published than the database has. Nothing may be signed
// then: it would contradict what was published.
var ErrAhead = errors.New("publiclog: more was published than the database has; was it restored to an earlier moment? Nothing is signed any more")

// errOther reports that a published tile is not the one that belongs there.
var errOther = errors.New("publiclog: a published tile has another content; is this the store of another log, or was the database restored?")

// state describes the log before it is published.
type state struct {
	written, published, size int64
	root                     merkle.Hash
	timeline                 string
	age                      time.Duration // of what is published
}

// freshness is how old the newest signatures of witnesses may become. A log that is quiet for
// longer is signed again, so that monitors can tell it from one that is held back.
const freshness = 20 * time.Second

// Publish publishes the log as it is now, and returns up to which size it is published.
// While another node publishes, it does nothing.
func (p *Publisher) Publish(ctx context.Context) (size int64, err error) {
	unlock, err := p.locks.Lock(ctx, "lineproof public log")
	if errors.Is(err, pg.ErrLocked) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer unlock()
	s, err := p.state(ctx)
	again := s.published == s.size
	if err != nil || again && (p.Witnesses == nil || s.size == 0 || s.age < freshness) {
		return s.published, err
	}
	if err := p.requireNotAhead(ctx, &s); err != nil {
		return s.published, err
	}
	if err := p.writeTiles(ctx, &s); err != nil {
		p.writer = nil // it may be ahead of what is stored
		return s.published, err
	}
	note, err := p.sign(ctx, &s)
	if err != nil {
		return s.published, err
	}
	if again && !p.Witnesses.enough(note) {
		return s.published, nil // enough have signed the one that is published, or as many
	}
	if err := p.move(ctx, `UPDATE log_published SET published = $1, note = $3, at = clock_timestamp() WHERE published = $2`, s.size, s.published, note); err != nil {
		return s.published, err
	}
	return s.size, nil
}

// sign returns the checkpoint with the signatures of the key and of the witnesses that
// answered.
func (p *Publisher) sign(ctx context.Context, s *state) (string, error) {
	note, err := p.Key.SignCheckpoint(s.size, s.root[:])
	if err != nil || p.Witnesses == nil {
		return note, err
	}
	tree := tlog.Tree{N: s.size, Hash: tlog.Hash(s.root)}
	hashes := TileHashes(ctx, p.Tiles, p.Log.Origin, tree)
	return p.Witnesses.cosign(ctx, note, tree, func(old int64) ([]tlog.Hash, error) { return tlog.ProveTree(tree.N, old, hashes) })
}

func (p *Publisher) state(ctx context.Context) (s state, err error) {
	var root []byte
	err = p.Log.Pool.QueryRow(ctx, `SELECT p.written, p.published, h.size, h.root, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), clock_timestamp() - p.at FROM log_head h, log_published p`).
		Scan(&s.written, &s.published, &s.size, &root, &s.timeline, &s.age)
	if err != nil {
		return s, fmt.Errorf("publiclog: read what there is to publish: %w", err)
	}
	s.root = merkle.Hash(root)
	return s, nil
}

// move stores progress. Another process may have continued if the session with the lock
// was lost.
func (p *Publisher) move(ctx context.Context, update string, args ...any) error {
	tag, err := p.Log.Pool.Exec(ctx, update, args...)
	if err != nil {
		return fmt.Errorf("publiclog: store what is published: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errors.New("publiclog: another node has published meanwhile")
	}
	return nil
}

// writeTiles makes the tiles of the log durable, and compares its root.
func (p *Publisher) writeTiles(ctx context.Context, s *state) (err error) {
	if p.writer == nil || p.writer.Size() != s.written {
		p.writer, err = merkle.ResumeTiles(s.written, func(t merkle.Tile) ([]byte, error) { return p.read(ctx, t) })
		if err != nil {
			return err
		}
	}
	put := func(t merkle.Tile, content []byte) error { return p.put(ctx, t, content) }
	// What is not yet published is in the database.
	if err := newEntryReader(p.Log.Pool, nil).addTo(ctx, p.writer, s.size, put); err != nil {
		return err
	}
	if err := p.writer.Flush(put); err != nil {
		return err
	}
	root, err := p.writer.Root()
	if err != nil {
		return fmt.Errorf("publiclog: %w", err)
	}
	if root != s.root {
		return errors.New("publiclog: the entries do not have the root of the head; run: lineproof log check")
	}
	return p.move(ctx, `UPDATE log_published SET written = $1 WHERE written = $2`, s.size, s.written)
}

// put stores a tile. One that is there must be the same.
func (p *Publisher) put(ctx context.Context, t merkle.Tile, content []byte) error {
	_, err := p.Tiles.Put(ctx, t.Key(p.Log.Origin), bytes.NewReader(content))
	if errors.Is(err, blob.ErrExists) {
		var there []byte
		if there, err = p.read(ctx, t); err == nil && !bytes.Equal(there, content) {
			err = errOther
		}
	}
	if err != nil {
		return fmt.Errorf("publiclog: publish %s: %w", t.Path(), err)
	}
	return nil
}

// Checkpoint returns the last published checkpoint, or an empty text if there is none.
func Checkpoint(ctx context.Context, from pg.DB) (string, error) {
	var note string
	err := from.QueryRow(ctx, `SELECT note FROM log_published`).Scan(&note)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("publiclog: read the checkpoint: %w", err)
	}
	return note, nil
}

// PublishedAt returns when the newest checkpoint was published, or the zero time if there
// is none.
func PublishedAt(ctx context.Context, from pg.DB) (at time.Time, err error) {
	err = from.QueryRow(ctx, `SELECT at FROM log_published`).Scan(&at)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("publiclog: read the time of the checkpoint: %w", err)
	}
	return at.UTC(), nil
}
