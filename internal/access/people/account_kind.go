package people

import (
	"context"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

var errOwnKind = fault.New(fault.IncompatibleState, "This is your own account. Ask another admin to change its role.")

// rightsInAudit has the action and the field of each right in the audit trail.
var rightsInAudit = map[registry.MemberRight]struct {
	action audit.Action
	field  string
}{
	registry.MakesKeys: {audit.KeyRightSet, "makesKeys"},
	registry.Supplies:  {audit.SupplyRightSet, "supplies"},
}

// SetRight gives a right to a member, or withdraws it, on behalf of an admin of the same
// entity.
func (p *People) SetRight(ctx context.Context, account uuid.UUID, right registry.MemberRight, given bool, who access.Principal, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	switch {
	case err != nil:
		return err
	case !who.Manages:
		return access.ErrPermission
	case a.Entity != who.Entity:
		return registry.ErrNoAccount
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.Registry.SetRight(ctx, tx, a, right, given); err != nil {
			return err
		}
		as := rightsInAudit[right] // SetRight changed it, so it was the other value before
		return audit.Write(ctx, tx, audit.Entry{
			At: p.now(), Actor: who.Actor(), Action: as.action, Subject: a.ID, Entity: a.Entity, Request: request,
			Before: map[string]any{as.field: !given}, After: map[string]any{as.field: given},
		})
	})
}

// SetKind turns a member into an admin, or an admin into a member, on behalf of an
// admin of the same entity. The sessions of an account that is no longer an admin
// end, so that none of them keeps the rights.
func (p *People) SetKind(ctx context.Context, account uuid.UUID, kind registry.AccountKind, who access.Principal, request uuid.UUID) error {
	a, err := p.Registry.Account(ctx, p.Pool, account)
	switch {
	case err != nil:
		return err
	case !who.Manages:
		return access.ErrPermission
	case a.Entity != who.Entity:
		return registry.ErrNoAccount
	case a.ID == who.Account:
		return errOwnKind
	}
	return pg.InTx(ctx, p.Pool, func(tx pg.Tx) error {
		if err := p.Registry.SetKind(ctx, tx, a, kind); err != nil {
			return err
		}
		if kind == registry.MemberAccount {
			if _, err := p.Access.EndSessions(ctx, tx, a.ID, uuid.Nil, who.Actor(), request); err != nil {
				return err
			}
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: p.now(), Actor: who.Actor(), Action: audit.KindGiven, Subject: a.ID, Entity: a.Entity, Request: request,
			Before: map[string]any{"kind": string(a.Kind)}, After: map[string]any{"kind": string(kind)},
		})
	})
}
