package order

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// recentOrders is how many of the latest orders [Service.Decided] searches.
const recentOrders = 500

// Find returns one order, or [ErrNotFound].
func (s *Service) Find(ctx context.Context, id uuid.UUID) (Order, error) {
	o, err := scanOrder(s.Supply.Pool.QueryRow(ctx, `SELECT `+orderColumns+` FROM line_order WHERE id = $1`, id), s.now())
	if errors.Is(err, pgx.ErrNoRows) {
		return Order{}, ErrNotFound
	}
	if err != nil {
		return Order{}, fmt.Errorf("order: read an order: %w", err)
	}
	return o, nil
}

// List lists orders, the newest first: all, or those that a second person can confirm.
func (s *Service) List(ctx context.Context, pendingOnly bool, limit int) ([]Order, error) {
	return s.query(ctx, `SELECT `+orderColumns+` FROM line_order WHERE state = 'PENDING' OR state = 'UNCONFIRMED' AND lapses_at > $3 OR NOT $1
		ORDER BY asked_at DESC, id DESC LIMIT $2`, pendingOnly, limit, s.now())
}

// About lists the latest orders about a number, the newest first.
func (s *Service) About(ctx context.Context, n phone.Number, limit int) ([]Order, error) {
	return s.query(ctx, `SELECT `+orderColumns+` FROM line_order WHERE number = $1 ORDER BY asked_at DESC, id DESC LIMIT $2`, n.Int(), limit)
}

// Decided lists orders that a second person has confirmed or refused, and bars that
// lapsed because nobody confirmed them, the newest decision or lapse first. It searches
// only the latest orders, because there may be many that need no second person. Ids are
// ordered by time, so that the primary key finds the latest.
func (s *Service) Decided(ctx context.Context, limit int) ([]Order, error) {
	return s.query(ctx, `SELECT `+orderColumns+` FROM (SELECT * FROM line_order ORDER BY id DESC LIMIT $1) o
		WHERE second_at IS NOT NULL OR state = 'UNCONFIRMED' AND lapses_at <= $3 ORDER BY coalesce(second_at, lapses_at) DESC, id DESC LIMIT $2`, recentOrders, limit, s.now())
}

// Rejected lists the orders that were refused or withdrawn since a time.
func (s *Service) Rejected(ctx context.Context, since time.Time) ([]Order, error) {
	return s.query(ctx, `SELECT `+orderColumns+` FROM line_order WHERE state = 'WITHDRAWN' AND second_at > $1 ORDER BY second_at`, since)
}

func (s *Service) query(ctx context.Context, sql string, args ...any) ([]Order, error) {
	rows, err := s.Supply.Pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("order: list orders: %w", err)
	}
	now := s.now()
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Order, error) { return scanOrder(row, now) })
	if err != nil {
		return nil, fmt.Errorf("order: list orders: %w", err)
	}
	return list, nil
}

// lockPending returns an order that can be confirmed and locks it, so that of two people
// who decide at the same time the second one finds it decided.
func lockPending(ctx context.Context, tx pg.Tx, id uuid.UUID, now time.Time) (Order, error) {
	o, err := scanOrder(tx.QueryRow(ctx, `SELECT `+orderColumns+` FROM line_order WHERE id = $1 FOR UPDATE`, id), now)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Order{}, ErrNotFound
	case err != nil:
		return Order{}, fmt.Errorf("order: read an order: %w", err)
	case o.State == Lapsed:
		return Order{}, ErrLapsed
	case o.State != Pending && o.State != Unconfirmed:
		return Order{}, ErrNotPending
	}
	return o, nil
}

const orderColumns = `id, number, action, state, reason, asked_kind, asked_by, asked_at, effective_at, second_kind, second_by, second_at, bar_reason, bar_scope, given_at, event, lapses_at, coalesce(seq, 0), rejected_for`

// scanOrder reads an order as it is at a time: nothing is written when a bar lapses.
func scanOrder(row pgx.Row, now time.Time) (o Order, err error) {
	var (
		number     int64
		by, second uuid.NullUUID
		kind       *string
		at, lapses *time.Time
	)
	err = row.Scan(&o.ID, &number, &o.Action, &o.State, &o.Note, &o.RequestedBy.Kind, &by, &o.RequestedAt, &o.EffectiveAt, &kind, &second, &at,
		&o.Reason, &o.Scope, &o.Since, &o.Event, &lapses, &o.seq, &o.RejectedFor)
	o.Number, _ = phone.FromInt(number)
	o.RequestedBy.ID, o.RequestedAt, o.EffectiveAt = by.UUID, o.RequestedAt.UTC(), o.EffectiveAt.UTC()
	if at != nil {
		o.DecidedAt = at.UTC()
	}
	if kind != nil {
		o.DecidedBy = audit.Actor{Kind: audit.ActorKind(*kind), ID: second.UUID}
	}
	if lapses != nil {
		o.LapsesAt = lapses.UTC()
	}
	switch {
	case o.State == Done:
		o.ConfirmedAt = o.DecidedAt
	case o.State == Unconfirmed && !now.Before(o.LapsesAt):
		o.State = Lapsed
	case o.seq == 0: // the column is unused until the order is confirmed
		o.EffectiveAt = time.Time{}
	}
	return o, err
}
