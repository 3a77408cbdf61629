package feed

import (
	"context"
	"encoding/base64"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// rebasedData is the data of the first event of an epoch: the events of the epochs before
// that follow this cursor are void, because a restore has lost them.
type rebasedData struct {
	Cursor        string `json:"cursor"`
	Hash          string `json:"hash"` // of the event before, so that the chain can be checked from here
	PreviousEpoch int    `json:"previousEpoch"`
}

const rebasedType = "feed.v1.rebased"

// epochZero is the time from which epochs after a restore count seconds.
var epochZero = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// Rebase raises the epoch of all feeds after the database was restored to an earlier time,
// and tells every feed. The entries that were lost have ids and cursors of earlier epochs:
// none of them is given again. It returns the epoch and how many feeds there are. The pool
// must have the rights of the owner.
func Rebase(ctx context.Context, pool *pgxpool.Pool, now time.Time) (epoch int, feeds int, err error) {
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE feed_epoch SET epoch = greatest(epoch + 1, $1), changed_at = $2 RETURNING epoch`, int(now.Sub(epochZero)/time.Second), now).Scan(&epoch)
		if err != nil {
			return fmt.Errorf("feed: raise the epoch: %w", err)
		}
		owners, err := allOwners(ctx, tx)
		if err != nil {
			return err
		}
		events := make(map[Owner][]Event)
		heads, _, err := lockHeads(ctx, tx, owners)
		if err != nil {
			return err
		}
		for i, o := range owners {
			if heads[i].seq > 0 { // the others are told with their first entry
				events[o] = []Event{rebased(&heads[i], now)}
			}
		}
		if _, err := tx.Exec(ctx, `UPDATE feed_head SET epoch = $1`, epoch); err != nil {
			return fmt.Errorf("feed: raise the epoch: %w", err)
		}
		feeds = len(owners)
		return AppendAll(ctx, tx, events)
	})
	return epoch, feeds, err
}

// rebased returns the event that follows the last entry of an earlier epoch.
func rebased(h *head, at time.Time) Event {
	return Event{Type: rebasedType, Time: at, Data: &rebasedData{
		Cursor: cursorOf(h.epoch, h.seq, h.hash[:]), Hash: base64.RawURLEncoding.EncodeToString(h.hash[:]), PreviousEpoch: h.epoch,
	}}
}

func allOwners(ctx context.Context, tx pg.Tx) ([]Owner, error) {
	owners, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (o Owner, err error) { return o, row.Scan(&o.Entity, &o.Mode) }, `SELECT entity_id, mode FROM feed_head`)
	if err != nil {
		return nil, fmt.Errorf("feed: list feeds: %w", err)
	}
	slices.SortFunc(owners, compareOwners)
	return owners, nil
}

// Rejoin is [Service.Resume] for a reader that takes a restore into account: if its cursor
// is of a history that a restore has ended, it goes on where the histories part, with the
// event that says so.
func (s *Service) Rejoin(ctx context.Context, o Owner, cursor string) (seq int64, err error) {
	if seq, err = s.Resume(ctx, o, cursor); err != ErrRebased { //nolint:errorlint // exactly this error
		return seq, err
	}
	epoch, _, _, err := parseCursor(cursor)
	if err != nil {
		return 0, err
	}
	var eventType string
	var body []byte
	err = s.Pool.QueryRow(ctx, `SELECT seq, type, body FROM feed_entry WHERE entity_id = $1 AND mode = $2 AND epoch > $3 ORDER BY seq LIMIT 1`, o.Entity, o.Mode, epoch).Scan(&seq, &eventType, &body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil // a feed that was created after the restore, and has nothing yet
	case err != nil:
		return 0, fmt.Errorf("feed: find where an epoch begins: %w", err)
	case eventType != rebasedType:
		return 0, ErrCursorTooOld // the event that said so is no longer kept
	case seq == 1:
		return 0, nil // nothing of any earlier history is left
	}
	var event struct {
		Data rebasedData `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return 0, fmt.Errorf("feed: read where an epoch begins: %w", err)
	}
	if event.Data.PreviousEpoch != epoch {
		// The epoch of the reader is not in this history: it began with a restore to another
		// moment, which may have been earlier than the one at which this history goes on. What
		// lies between is void for the reader and counts here.
		return 0, ErrCutUnknown
	}
	return seq - 1, nil
}
