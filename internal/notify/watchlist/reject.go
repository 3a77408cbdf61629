package watchlist

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// RejectKind names a rejection in the table of dangerous actions. It takes one person: nobody
// was told anything because of the list.
const RejectKind approval.Kind = "watch.reject"

// Reject deletes a held list with its members, and tells its owner. The numbers stay spent.
func Reject(ctx context.Context, pool *pgxpool.Pool, now time.Time, f ReleaseForm) error {
	f.Reason, now = strings.TrimSpace(f.Reason), now.UTC().Truncate(time.Microsecond)
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", f.Reason)
	if err := wrong.Err(); err != nil {
		return err
	}
	return pg.InLongTx(ctx, pool, func(tx pg.Tx) error {
		if err := registry.CheckStaff(ctx, tx, f.By, approval.ActionOf(RejectKind).Request...); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, noTimeout); err != nil {
			return fmt.Errorf("watchlist: reject a list: %w", err)
		}
		rows, err := tx.Query(ctx, `DELETE FROM watch_list WHERE id = $1 AND state = 'held' RETURNING `+listColumns+`, entity_id, mode, blocks`, f.List)
		if err != nil {
			return fmt.Errorf("watchlist: reject a list: %w", err)
		}
		var o feed.Owner
		var blocks int32
		l, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (List, error) { return scanList(row, &o.Entity, &o.Mode, &blocks) })
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNotHeld
		}
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM watch_block WHERE list = $1`, blocks)
		}
		if err != nil {
			return fmt.Errorf("watchlist: reject a list: %w", err)
		}
		err = audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: f.By, Action: audit.ListRejected, Subject: f.List, Entity: o.Entity, Request: f.Request, After: map[string]any{"members": l.Members, "reason": f.Reason},
		})
		if err != nil {
			return err
		}
		return feed.Append(ctx, tx, o, feed.Event{Type: "list.v1.rejected", Time: now, Data: dataOf(&l)})
	})
}

// HeldList returns a list that waits for staff.
func HeldList(ctx context.Context, from pg.DB, id uuid.UUID) (f Figures, err error) {
	held, err := heldLists(ctx, from, `AND id = $1`, id)
	if err != nil {
		return Figures{}, err
	}
	if len(held) == 0 {
		return Figures{}, ErrNoList
	}
	return held[0], nil
}
