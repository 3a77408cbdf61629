package registry

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The number of founders: two, so that each action has a second person, and few enough
// to be in one room.
const (
	MinFounders = 2
	MaxFounders = 5
)

// ErrHasStaff reports that there is staff already, so that founders can no longer be
// enrolled.
var ErrHasStaff = fault.New(fault.IncompatibleState, "There is staff already. Founders are enrolled once, before anybody else; invite further people instead.")

// Found enrols the founders: administrators who, in one ceremony, see each other choose
// their passwords, so that nobody gave another access alone. It is possible once, while
// there is no staff. From then on the operator does nothing alone that takes two people.
// The role in the forms is ignored.
func (r *Registry) Found(ctx context.Context, founders []StaffForm, by audit.Actor, request uuid.UUID) ([]uuid.UUID, error) {
	var wrong fault.Form
	wrong.Check(len(founders) >= MinFounders && len(founders) <= MaxFounders, "founders", fault.NotAllowed, fmt.Sprintf("Enrol %d to %d founders together.", MinFounders, MaxFounders))
	keys, ids := make([]string, len(founders)), make([]uuid.UUID, len(founders))
	for i, f := range founders {
		at := fmt.Sprintf("founders[%d].", i)
		checkName(&wrong, at+"name", f.Name)
		keys[i], ids[i] = checkEmail(&wrong, at+"email", f.Email), uuid.Must(uuid.NewV7())
		checkPassword(&wrong, at+"password", f.Password, r.PasswordMin, f.Name, f.Email)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	hashes := make([]string, len(founders))
	for i, f := range founders {
		var err error
		if hashes[i], err = r.Passwords.Hash(ctx, ids[i], f.Password); err != nil {
			return nil, err
		}
	}
	now, role := r.now(), administrator
	err := pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := lockStaff(ctx, tx); err != nil {
			return err
		}
		var staff bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM account WHERE kind = 'staff')`).Scan(&staff); err != nil {
			return fmt.Errorf("registry: look for staff: %w", err)
		}
		if staff {
			return ErrHasStaff
		}
		for i, f := range founders {
			err := insertAccount(ctx, tx, newAccount{
				id: ids[i], kind: StaffAccount, role: role, name: f.Name, email: f.Email, key: keys[i], hash: hashes[i], at: now,
			}, emailTaken(fmt.Sprintf("founders[%d].email", i)))
			if err != nil {
				return err
			}
			if err := RecordAccess(ctx, tx, ids[i], accessFounder, by, now); err != nil {
				return err
			}
			err = audit.Write(ctx, tx, audit.Entry{
				At: now, Actor: by, Action: audit.StaffCreated, Subject: ids[i], Request: request, After: map[string]any{"role": role, "founder": true},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}
