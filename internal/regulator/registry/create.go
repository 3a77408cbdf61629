package registry

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
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
	_, ok := ParseCAC(cacNumber)
	wrong.Check(cacNumber != "", "cac", fault.Required, noCAC)
	wrong.Check(ok || cacNumber == "", "cac", fault.BadFormat, cacForm)
	return wrong.Err()
}

// ErrSameCAC asks for a decision before an organisation is added under a CAC number that
// another one has.
var ErrSameCAC = fault.ErrInvalid.With(fault.Violation{
	Field: "another", Code: fault.Taken, Message: "An organisation with this CAC number exists already. Open it, or confirm below that this is another one.",
})

// CheckNewCAC returns [ErrSameCAC] if an entity has the CAC number, in any spelling. It
// serialises callers with the same number, so that a form that is sent twice adds one.
func (r *Registry) CheckNewCAC(ctx context.Context, tx pg.Tx, written string) error {
	number, _ := ParseCAC(written)
	taken, err := hasCAC(ctx, tx, number)
	if err == nil && taken {
		err = ErrSameCAC
	}
	return err
}

// AddRelyingParty is CreateRelyingParty in the caller's transaction.
func (r *Registry) AddRelyingParty(ctx context.Context, tx pg.Tx, name, cacNumber string, by audit.Actor, request uuid.UUID) (Entity, error) {
	if err := CheckRelyingParty(name, cacNumber); err != nil {
		return Entity{}, err
	}
	number, _ := ParseCAC(cacNumber)
	e := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: name, CAC: cacNumber, Status: Approved,
		CreatedAt: r.now(),
	}
	if err := CheckAdministrator(ctx, tx, by); err != nil {
		return Entity{}, err
	}
	taken, err := r.cacTaken(ctx, tx, number)
	if err != nil {
		return Entity{}, err
	}
	if taken {
		return Entity{}, ErrTaken.With(cacConflict)
	}
	if err := r.insertEntity(ctx, tx, e, Application{cac: number}, Onboarder{}); err != nil {
		return Entity{}, err
	}
	return e, audit.Write(ctx, tx, audit.Entry{
		At: e.CreatedAt, Actor: by, Action: audit.EntityCreated, Subject: e.ID, Entity: e.ID, Request: request, After: e.auditFields(),
	})
}

// Empty reports whether the register has neither an entity nor an account of staff.
func (r *Registry) Empty(ctx context.Context) (bool, error) {
	var empty bool
	err := r.Pool.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM entity) AND NOT EXISTS (SELECT FROM account WHERE kind = 'staff')`).Scan(&empty)
	return empty, fault.Wrap(err, "registry: look for entities and staff")
}
