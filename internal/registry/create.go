package registry

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/cac"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// CreateRelyingParty creates an organisation that verifies numbers, such as a bank.
// Its people are invited afterwards.
func (r *Registry) CreateRelyingParty(ctx context.Context, name, cacNumber string, by audit.Actor, request uuid.UUID) (e Entity, err error) {
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		e, err = r.AddRelyingParty(ctx, tx, name, cacNumber, by, request)
		return err
	})
	if err != nil {
		return Entity{}, err
	}
	return e, nil
}

// CheckRelyingParty returns every violation of the input of a relying party.
func CheckRelyingParty(name, cacNumber string) error {
	var wrong fault.Form
	checkName(&wrong, "name", name)
	_, ok := cac.Parse(cacNumber)
	wrong.Check(cacNumber != "", "cac", fault.Required, noCAC)
	wrong.Check(ok || cacNumber == "", "cac", fault.BadFormat, cacForm)
	return wrong.Err()
}

// AddRelyingParty is CreateRelyingParty in the caller's transaction.
func (r *Registry) AddRelyingParty(ctx context.Context, tx pg.Tx, name, cacNumber string, by audit.Actor, request uuid.UUID) (Entity, error) {
	if err := CheckRelyingParty(name, cacNumber); err != nil {
		return Entity{}, err
	}
	number, _ := cac.Parse(cacNumber)
	e := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: name, CAC: cacNumber, Status: Approved,
		CreatedAt: r.now(),
	}
	if err := CheckAdministrator(ctx, tx, by); err != nil {
		return Entity{}, err
	}
	taken, err := r.cacTaken(ctx, db.New(tx), number)
	if err != nil {
		return Entity{}, err
	}
	if taken {
		return Entity{}, ErrTaken.With(cacConflict)
	}
	if err := r.insertEntity(ctx, db.New(tx), e, Application{cac: number}, Onboarder{}); err != nil {
		return Entity{}, err
	}
	return e, audit.Write(ctx, tx, audit.Entry{
		At: e.CreatedAt, Actor: by, Action: audit.EntityCreated, Subject: e.ID, Entity: e.ID, Request: request, After: e.auditFields(),
	})
}

// Empty reports whether the register has neither an entity nor an account of staff.
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
