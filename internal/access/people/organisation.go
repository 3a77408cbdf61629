package people

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// NewOrganisation is the input for a new organisation.
type NewOrganisation struct {
	Name, CAC string
	Email     string // of its first admin
	Another   bool   // it is meant that it has the CAC number of one that exists
}

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
		if !n.Another {
			if err := p.Registry.CheckNewCAC(ctx, tx, n.CAC); err != nil {
				return err
			}
		}
		if e, err = p.Registry.AddRelyingParty(ctx, tx, n.Name, n.CAC, who.Actor(), request); err != nil {
			return err
		}
		if i, err = p.createInvited(ctx, tx, InviteForm{Email: n.Email, Kind: registry.AdminAccount, Entity: e.ID}, false, who.Actor(), request); err != nil {
			return err
		}
		return p.notifyOfOrganisation(ctx, tx, e, n.Email, who.Account)
	})
	if err != nil {
		return registry.Entity{}, Invited{}, err
	}
	return e, i, nil
}

// notifyOfOrganisation notifies the other administrators that one of them has added an
// organisation, in the caller's transaction: it takes one person, whose admin it invites may
// be a puppet of theirs, and nobody else would look.
func (p *People) notifyOfOrganisation(ctx context.Context, tx pg.Tx, e registry.Entity, invited string, by uuid.UUID) error {
	a, err := p.Registry.Account(ctx, tx, by)
	if err != nil {
		return err
	}
	return p.NotifyStaff(ctx, tx, Notice{EntityAdded, message.Content{
		About: e.Name, Path: "/portal/desk/entities/" + e.ID.String(),
		Detail: fmt.Sprintf("%s (%s) has added this organisation and invited %s as its first admin.", a.Name, a.Email, invited),
	}}, by, access.Administrator)
}
