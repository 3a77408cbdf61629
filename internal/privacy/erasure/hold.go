package erasure

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	// ErrHoldScope reports a hold on neither a number nor an organisation, or on both.
	ErrHoldScope = fault.New(fault.InvalidArgument, "Name either one number or one organisation.")
	// ErrNoHold reports a hold that does not exist or has ended.
	ErrNoHold = fault.New(fault.NotFound, "There is no such hold, or it has ended.")
)

// Hold keeps the records about a number, or those of an organisation, from being erased.
type Hold struct {
	ID     uuid.UUID
	Number int64     // 0 for none
	Entity uuid.UUID // uuid.Nil for none
	Reason string
	Placed time.Time
	Ended  time.Time // zero while it is in force
}

// PlaceHold places a hold. One person can: it destroys nothing.
func (s *Service) PlaceHold(ctx context.Context, number int64, entity uuid.UUID, reason string, by audit.Actor) (id uuid.UUID, err error) {
	if (number != 0) == (entity != uuid.Nil) {
		return id, ErrHoldScope
	}
	var form fault.Form
	audit.CheckReason(&form, "reason", reason)
	if err := form.Err(); err != nil {
		return id, err
	}
	var about *int64
	if number != 0 {
		about = &number
	}
	id = uuid.Must(uuid.NewV7())
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if err := registry.CheckAdministrator(ctx, tx, by); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO legal_hold (id, number, entity_id, reason, placed_at) VALUES ($1, $2, $3, $4, $5)`, id, about, pg.ID(entity), reason, s.Now())
		if err != nil {
			return fmt.Errorf("erasure: place a hold: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{At: s.Now(), Actor: by, Action: audit.HoldPlaced, Subject: id, Entity: entity, After: map[string]any{"reason": reason}})
	})
	return id, err
}

// EndHold ends a hold.
func (s *Service) EndHold(ctx context.Context, id uuid.UUID, by audit.Actor) error {
	return pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if err := registry.CheckAdministrator(ctx, tx, by); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE legal_hold SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL`, id, s.Now())
		if err != nil {
			return fmt.Errorf("erasure: end a hold: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrNoHold
		}
		return audit.Write(ctx, tx, audit.Entry{At: s.Now(), Actor: by, Action: audit.HoldEnded, Subject: id})
	})
}

// Holds returns the holds, newest first.
func Holds(ctx context.Context, from pg.DB) ([]Hold, error) {
	list, err := pg.Collect(ctx, from, func(row pgx.CollectableRow) (h Hold, err error) {
		err = row.Scan(&h.ID, &h.Number, &h.Entity, &h.Reason, &h.Placed, &h.Ended)
		h.Placed, h.Ended = h.Placed.UTC(), h.Ended.UTC()
		return h, err
	}, `SELECT id, coalesce(number, 0), coalesce(entity_id, '00000000-0000-0000-0000-000000000000'), reason, placed_at,
		coalesce(ended_at, '0001-01-01Z') FROM legal_hold ORDER BY placed_at DESC, id`)
	return list, fault.Wrap(err, "erasure: list holds")
}

// holds are the holds in force.
type holds struct {
	numbers  map[int64]bool
	entities map[uuid.UUID]bool
}

func holdsInForce(ctx context.Context, from pg.DB) (h holds, err error) {
	all, err := Holds(ctx, from)
	h.numbers, h.entities = make(map[int64]bool), make(map[uuid.UUID]bool)
	for _, hold := range all {
		if hold.Ended.IsZero() {
			h.numbers[hold.Number], h.entities[hold.Entity] = true, true
		}
	}
	delete(h.numbers, 0)
	delete(h.entities, uuid.Nil)
	return h, err
}

func (h *holds) none() bool { return len(h.numbers) == 0 && len(h.entities) == 0 }

func (h *holds) keep(e *record.Entry) bool { return h.numbers[e.Number] || h.entities[e.Entity] }
