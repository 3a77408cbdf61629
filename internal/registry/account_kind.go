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
