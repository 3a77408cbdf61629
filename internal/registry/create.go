package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/cac"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
	"github.com/lineproof/lineproof/internal/secret"
)

// operator is the actor of everything that is done at the command line.
var operator = audit.Actor{Kind: audit.Operator}

// CreateAsker makes an organisation that asks, such as a bank. Whoever works
// for it is invited later.
func (r *Registry) CreateAsker(ctx context.Context, name, cacNumber string) (Entity, error) {
	var wrong fault.Form
	checkName(&wrong, "name", name)
	number, ok := cac.Parse(cacNumber)
	wrong.Check(ok, "cac", fault.BadFormat, cacForm)
	if err := wrong.Err(); err != nil {
		return Entity{}, err
	}
	e := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: name, CAC: cacNumber, Status: Approved,
		CreatedAt: r.Now().UTC().Truncate(time.Microsecond),
	}
	err := pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
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
		return audit.Write(ctx, tx, audit.Entry{At: e.CreatedAt, Actor: operator, Action: audit.EntityCreated, Subject: e.ID, Entity: e.ID})
	})
	if err != nil {
		return Entity{}, err
	}
	return e, nil
}

// StaffForm is a member of the regulator's staff as the operator describes
// them.
type StaffForm struct {
	Name, Email, Role string
	Password          secret.Text
}

// CreateStaff makes an account of the regulator's staff.
func (r *Registry) CreateStaff(ctx context.Context, f StaffForm) (uuid.UUID, error) {
	var wrong fault.Form
	checkName(&wrong, "name", f.Name)
	key := checkEmail(&wrong, "email", f.Email)
	wrong.Check(f.Role == "administrator" || f.Role == "reviewer" || f.Role == "auditor", "role", fault.NotAllowed,
		"The role is administrator, reviewer or auditor.")
	checkPassword(&wrong, "password", f.Password, r.PasswordMin, f.Name, f.Email)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	hash, err := r.Passwords.Hash(ctx, f.Password)
	if err != nil {
		return uuid.Nil, err
	}
	id, now := uuid.Must(uuid.NewV7()), r.Now().UTC().Truncate(time.Microsecond)
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		err := insertAccount(ctx, db.New(tx), db.InsertAccountParams{
			ID: id, Kind: "staff", Role: &f.Role, Name: f.Name, Email: f.Email, EmailKey: key, PasswordHash: &hash, CreatedAt: now,
		}, "email", "phone")
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: operator, Action: audit.StaffCreated, Subject: id})
	})
	if err != nil {
		return uuid.Nil, err
	}
	return id, nil
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
