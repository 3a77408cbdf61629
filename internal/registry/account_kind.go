package registry

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// ErrHasKind reports an account that already has the requested kind.
var ErrHasKind = fault.New(fault.IncompatibleState, "This account already has that role.")

// ErrHasKeyRight reports a right that the member has already, or does not have.
var ErrHasKeyRight = fault.New(fault.IncompatibleState, "The rights of this person have changed in the meantime. Open the team again.")

// SetKeyRight sets whether a member of an entity may create and roll its live keys, in
// the caller's transaction. Admins may in any case.
func (r *Registry) SetKeyRight(ctx context.Context, tx pg.Tx, a Account, makesKeys bool) error {
	if a.Disabled {
		return ErrNoAccount
	}
	if a.Kind != MemberAccount || a.MakesKeys == makesKeys {
		return ErrHasKeyRight
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET makes_keys = $2 WHERE id = $1 AND kind = 'member' AND makes_keys <> $2 AND disabled_at IS NULL`, a.ID, makesKeys)
	return changedOne(tag.RowsAffected(), err, "change a right")
}

// SetKind turns a member of an entity into an admin, or an admin into a member, in
// the caller's transaction. The last admin of an entity cannot become a member.
func (r *Registry) SetKind(ctx context.Context, tx pg.Tx, a Account, kind AccountKind) error {
	var wrong fault.Form
	wrong.Check(kind == AdminAccount || kind == MemberAccount, "kind", fault.NotAllowed, "The role is admin or member.")
	if err := wrong.Err(); err != nil {
		return err
	}
	if a.Kind == StaffAccount || a.Disabled {
		return ErrNoAccount
	}
	if a.Kind == kind {
		return ErrHasKind
	}
	if a.Accepted && kind != AdminAccount {
		others, err := db.New(tx).OtherAdmins(ctx, db.OtherAdminsParams{EntityID: pg.ID(a.Entity), ID: a.ID})
		if err != nil {
			return fmt.Errorf("registry: look for other admins: %w", err)
		}
		if len(others) == 0 {
			return ErrLastAdmin
		}
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET kind = $2 WHERE id = $1 AND kind = $3 AND disabled_at IS NULL`, a.ID, kind, a.Kind)
	return changedOne(tag.RowsAffected(), err, "change a role")
}
