package registry

import (
	"context"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrHasKind reports an account that already has the requested kind.
var ErrHasKind = fault.New(fault.IncompatibleState, "This account already has that role.")

// ErrHasRight reports a right that the member has already, or does not have.
var ErrHasRight = fault.New(fault.IncompatibleState, "The rights of this person have changed in the meantime. Open the team again.")

// MemberRight is a right that an admin gives to a member of the entity. Admins have each in
// any case.
type MemberRight uint8

// The rights.
const (
	MakesKeys MemberRight = iota // to create and roll live keys
	Supplies                     // to send files of lines
)

// memberRights has what is different about each right.
var memberRights = [...]struct {
	set string
	has func(a *Account) bool
}{
	MakesKeys: {`UPDATE account SET makes_keys = $2 WHERE id = $1 AND kind = 'member' AND makes_keys <> $2 AND disabled_at IS NULL`, func(a *Account) bool { return a.MakesKeys }},
	Supplies:  {`UPDATE account SET supplies = $2 WHERE id = $1 AND kind = 'member' AND supplies <> $2 AND disabled_at IS NULL`, func(a *Account) bool { return a.Supplies }},
}

// SetRight gives a right to a member of an entity, or withdraws it, in the caller's
// transaction.
func (r *Registry) SetRight(ctx context.Context, tx pg.Tx, a Account, right MemberRight, given bool) error {
	if a.Disabled {
		return ErrNoAccount
	}
	if a.Kind != MemberAccount || memberRights[right].has(&a) == given {
		return ErrHasRight
	}
	tag, err := tx.Exec(ctx, memberRights[right].set, a.ID, given)
	return changedOne(tag, err, "change a right")
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
		if err := checkOtherAdmins(ctx, tx, a); err != nil {
			return err
		}
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET kind = $2 WHERE id = $1 AND kind = $3 AND disabled_at IS NULL`, a.ID, kind, a.Kind)
	return changedOne(tag, err, "change a role")
}
