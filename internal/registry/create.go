package registry

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/cac"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// CreateAsker makes an organisation that asks, such as a bank. Whoever works
// for it is invited later.
func (r *Registry) CreateAsker(ctx context.Context, name, cacNumber string, by audit.Actor, request uuid.UUID) (Entity, error) {
	var wrong fault.Form
	checkName(&wrong, "name", name)
	number, ok := cac.Parse(cacNumber)
	wrong.Check(ok, "cac", fault.BadFormat, cacForm)
	if err := wrong.Err(); err != nil {
		return Entity{}, err
	}
	e := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: name, CAC: cacNumber, Status: Approved,
		CreatedAt: r.now(),
	}
	err := pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := approval.MayDecide(ctx, tx, by); err != nil {
			return err
		}
		taken, err := r.cacTaken(ctx, db.New(tx), number)
		if err != nil {
			return err
		}
		if taken {
			return ErrTaken.With(cacClash)
		}
		if err := r.insertEntity(ctx, db.New(tx), e, Application{cac: number}, Sponsor{}); err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: e.CreatedAt, Actor: by, Action: audit.EntityCreated, Subject: e.ID, Entity: e.ID, Request: request, After: e.written(),
		})
	})
	if err != nil {
		return Entity{}, err
	}
	return e, nil
}

// Empty reports whether nobody was ever let in and no staff exists.
func (r *Registry) Empty(ctx context.Context) (bool, error) {
	q := db.New(r.Pool)
	entities, err := q.AnyEntity(ctx)
	if err != nil {
		return false, fmt.Errorf("registry: look for entities: %w", err)
	}
	staff, err := q.CountStaff(ctx)
	if err != nil {
		return false, fmt.Errorf("registry: count staff: %w", err)
	}
	return !entities && staff == 0, nil
}
