package registry

import (
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
)

// ErrHasKind reports that there is nothing to change.
var ErrHasKind = fault.New(fault.IncompatibleState, "This account has that role already.")

// SetKind makes an admin of a member, or a member of an admin, in the caller's
// transaction. The last admin of an entity stays one.
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
		others, err := db.New(tx).OthersWhoManage(ctx, db.OthersWhoManageParams{EntityID: pg.ID(a.Entity), ID: a.ID})
		if err != nil {
			return fmt.Errorf("registry: look for other admins: %w", err)
		}
		if len(others) == 0 {
			return ErrLastAdmin
		}
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET kind = $2 WHERE id = $1 AND kind = $3 AND disabled_at IS NULL`, a.ID, kind, a.Kind)
	return one(tag.RowsAffected(), err, "change a role")
}
