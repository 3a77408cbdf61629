package supply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// recentOrders is how far back [Desk.DecidedOrders] looks.
const recentOrders = 500

// RefuseOrder ends an order that waits, so that it never takes effect. Whoever
// asked for it may do so, too, and withdraws it. The caller has made sure that by
// may give orders.
func (d *Desk) RefuseOrder(ctx context.Context, by audit.Actor, id, request uuid.UUID) (o Order, err error) {
	now := d.now()
	err = d.inTx(ctx, func(tx pg.Tx) error {
		if o, err = pending(ctx, tx, id); err != nil {
			return err
		}
		o.State, o.Second, o.SecondAt = OrderWithdrawn, by, now
		_, err := tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5 WHERE id = $1`,
			id, o.State, string(by.Kind), idOrNull(by.ID), now)
		if err != nil {
			return fmt.Errorf("supply: refuse an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.OrderRefused, Subject: id, Request: request,
			Before: map[string]any{"state": OrderPending}, After: map[string]any{"state": o.State, "order": o.Action},
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// pending returns an order that waits. Its lock lets two who decide at once pass
// one after the other.
func pending(ctx context.Context, tx pg.Tx, id uuid.UUID) (Order, error) {
	o, err := scanOrder(tx.QueryRow(ctx, `SELECT `+orderColumns+` FROM line_order WHERE id = $1 FOR UPDATE`, id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Order{}, ErrNoOrder
	case err != nil:
		return Order{}, fmt.Errorf("supply: read an order: %w", err)
	case o.State != OrderPending:
		return Order{}, ErrOrderNotPending
	}
	return o, nil
}

// Order returns one order, or [ErrNoOrder].
func (d *Desk) Order(ctx context.Context, id uuid.UUID) (Order, error) {
	o, err := scanOrder(d.Pool.QueryRow(ctx, `SELECT `+orderColumns+` FROM line_order WHERE id = $1`, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return Order{}, ErrNoOrder
	}
	if err != nil {
		return Order{}, fmt.Errorf("supply: read an order: %w", err)
	}
	return o, nil
}

// Orders lists orders, the newest first.
func (d *Desk) Orders(ctx context.Context, pendingOnly bool, limit int) ([]Order, error) {
	return d.orders(ctx, `SELECT `+orderColumns+` FROM line_order WHERE state = 'PENDING' OR NOT $1
		ORDER BY asked_at DESC, id DESC LIMIT $2`, pendingOnly, limit)
}

// DecidedOrders lists orders that a second person has confirmed or refused, the
// newest first, of the latest orders. Most orders need nobody, and there may be
// many of them: ids are in the order of time, so that no more than those are
// read.
func (d *Desk) DecidedOrders(ctx context.Context, limit int) ([]Order, error) {
	return d.orders(ctx, `SELECT `+orderColumns+` FROM (SELECT * FROM line_order ORDER BY id DESC LIMIT $1) o
		WHERE second_at IS NOT NULL ORDER BY second_at DESC, id DESC LIMIT $2`, recentOrders, limit)
}

func (d *Desk) orders(ctx context.Context, sql string, args ...any) ([]Order, error) {
	rows, err := d.Pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: list orders: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Order, error) { return scanOrder(row) })
	if err != nil {
		return nil, fmt.Errorf("supply: list orders: %w", err)
	}
	return list, nil
}

const orderColumns = `id, number, action, state, reason, asked_kind, asked_by, asked_at, effective_at, second_kind, second_by, second_at`

func scanOrder(row pgx.Row) (o Order, err error) {
	var (
		number     int64
		by, second uuid.NullUUID
		kind       *string
		at         *time.Time
	)
	err = row.Scan(&o.ID, &number, &o.Action, &o.State, &o.Note, &o.Asked.Kind, &by, &o.AskedAt, &o.EffectiveAt, &kind, &second, &at)
	o.Number, _ = phone.FromInt(number)
	o.Asked.ID, o.AskedAt, o.EffectiveAt, o.SecondAt = by.UUID, o.AskedAt.UTC(), o.EffectiveAt.UTC(), orZero(at)
	if kind != nil {
		o.Second = audit.Actor{Kind: audit.ActorKind(*kind), ID: second.UUID}
	}
	switch o.State {
	case OrderDone:
		o.ConfirmedAt = o.SecondAt
	default: // until it is confirmed the column says nothing
		o.EffectiveAt = time.Time{}
	}
	return o, err
}
