package people

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry"
)

// NewOrganisation is the input for a new organisation: its name, its CAC number and
// the e-mail address of its first admin.
type NewOrganisation struct{ Name, CAC, Email string }

// AdmitOrganisation creates an organisation that verifies numbers and invites its
// first admin, on behalf of an administrator of the regulator. Both happen in one
// transaction: an organisation whose admin could not be invited would be left
// behind and created a second time.
func (p *People) AdmitOrganisation(ctx context.Context, n NewOrganisation, who access.Principal, request uuid.UUID) (e registry.Entity, i Invited, err error) {
	if who.Role != access.Administrator {
		return registry.Entity{}, Invited{}, access.ErrPermission
	}
	var wrong fault.Form
	for _, err := range []error{registry.CheckRelyingParty(n.Name, n.CAC), registry.CheckEmail("email", n.Email)} {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			wrong.Add(f.Violations...)
		}
	}
	if err := wrong.Err(); err != nil {
		return registry.Entity{}, Invited{}, err
	}
	if err := p.throttleInvitations(ctx, who); err != nil {
		return registry.Entity{}, Invited{}, err
	}
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if e, err = p.Registry.AddRelyingParty(ctx, tx, n.Name, n.CAC, who.Actor(), request); err != nil {
			return err
		}
		i, err = p.createInvited(ctx, tx, InviteForm{Email: n.Email, Kind: registry.AdminAccount, Entity: e.ID}, who.Actor(), request)
		return err
	})
	if err != nil {
		return registry.Entity{}, Invited{}, err
	}
	return e, i, nil
}
