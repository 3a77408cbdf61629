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

// NewAsker is an organisation that is to be let in, with whoever will look after
// it.
type NewAsker struct{ Name, CAC, Email string }

// LetIn makes an organisation that asks and invites its first admin, on behalf of
// an administrator of the regulator. Both are done or neither: an organisation
// whose admin cannot be invited would lie about and be made again.
func (p *People) LetIn(ctx context.Context, n NewAsker, who access.Principal, request uuid.UUID) (e registry.Entity, i Invited, err error) {
	if who.Role != access.Administrator {
		return registry.Entity{}, Invited{}, access.ErrPermission
	}
	var wrong fault.Form
	for _, err := range []error{registry.CheckAsker(n.Name, n.CAC), registry.CheckEmail("email", n.Email)} {
		if f, ok := errors.AsType[*fault.Error](err); ok {
			wrong.Add(f.Violations...)
		}
	}
	if err := wrong.Err(); err != nil {
		return registry.Entity{}, Invited{}, err
	}
	if err := p.spareInvitations(ctx, who); err != nil {
		return registry.Entity{}, Invited{}, err
	}
	err = pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if e, err = p.Registry.AddAsker(ctx, tx, n.Name, n.CAC, who.Actor(), request); err != nil {
			return err
		}
		i, err = p.welcome(ctx, tx, Guest{Email: n.Email, Kind: registry.AdminAccount, Entity: e.ID}, who.Actor(), request)
		return err
	})
	if err != nil {
		return registry.Entity{}, Invited{}, err
	}
	return e, i, nil
}
