package publiclog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

// ErrNotLogged reports something that the log does not have.
var ErrNotLogged = errors.New("publiclog: the log does not have this")

// IndexOf returns the index of a batch of the journal, or [ErrNotLogged].
func IndexOf(ctx context.Context, from pg.DB, epoch, n int64, at time.Time) (index int64, err error) {
	err = from.QueryRow(ctx, `SELECT idx FROM log_entry WHERE epoch = $1 AND n = $2 AND at = $3`, epoch, n, at).Scan(&index)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotLogged
	}
	if err != nil {
		return 0, fmt.Errorf("publiclog: find a batch: %w", err)
	}
	return index, nil
}

// FindSupply returns the index and the time of the entry about what a supplier supplied, or
// [ErrNotLogged].
func FindSupply(ctx context.Context, from pg.DB, body []byte) (index int64, at time.Time, err error) {
	// OFFSET 0 keeps the planner from walking all entries in the order of their indexes.
	err = from.QueryRow(ctx, `SELECT idx, at FROM (SELECT idx, at FROM log_entry WHERE kind = 2 AND substring(entry FROM `+bodyAt+`) = $1 AND NOT lost OFFSET 0) found
		ORDER BY idx LIMIT 1`, body).Scan(&index, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, time.Time{}, ErrNotLogged
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("publiclog: find an entry: %w", err)
	}
	return index, at, nil
}

// IsLost reports whether the log has an entry about a batch that a restore has lost.
func IsLost(ctx context.Context, from pg.DB, entry []byte) (lost bool, err error) {
	b, err := logentry.DecodeBatch(entry)
	if err != nil {
		return false, fmt.Errorf("publiclog: find a batch: %w", err)
	}
	err = from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM log_entry WHERE epoch = $1 AND n = $2 AND at = $3 AND entry = $4 AND lost)`, b.Epoch, b.N, b.At, entry).Scan(&lost)
	return lost, fault.Wrap(err, "publiclog: find a batch")
}

// NewestTree returns the newest published checkpoint, and its size and root. Without one
// the size is 0.
func NewestTree(ctx context.Context, from pg.DB) (note string, tree tlog.Tree, err error) {
	note, err = Checkpoint(ctx, from)
	if err != nil || note == "" {
		return "", tree, err
	}
	if _, tree, err = checkpoint.Parse(note); err != nil {
		return "", tree, errNote
	}
	return note, tree, nil
}

var errNote = errors.New("publiclog: the stored checkpoint is damaged")
