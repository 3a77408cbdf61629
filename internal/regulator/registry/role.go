package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// The roles of staff. Package access has the same values for callers.
const (
	administrator = approval.Administrator
	auditor       = "auditor"
)

var staffRoles = []string{administrator, approval.Reviewer, auditor}

// GiveStaffRole is the approval of another role for a member of staff.
const GiveStaffRole approval.Kind = "staff.role"

// minAdministrators is how many administrators there must be before the operator
// can no longer act alone, unless there are founders: with fewer there may be nobody
// who can request a change or nobody who can confirm it.
const minAdministrators = 2

var (
	// ErrNoStaff reports an account that does not belong to staff.
	ErrNoStaff = fault.New(fault.NotFound, "There is no account of the regulator's staff with this id.")
	// ErrHasRole reports an account that already has the requested role.
	ErrHasRole = fault.New(fault.IncompatibleState, "This account already has that role.")
)

// StaffForm is the input for a new account of the regulator's staff.
type StaffForm struct {
	Name, Email, Role string
	Password          secret.Text
}

// Staff is an account of the regulator's staff that was just created.
type Staff struct {
	ID   uuid.UUID
	Role string
	// Pending is the approval that must be confirmed before the account gets the
	// requested role. Until then the role is auditor, which cannot change anything.
	// It is zero if no approval is needed.
	Pending uuid.UUID
}

// CreateStaff creates an account of the regulator's staff. Whoever will decide starts as
// an auditor, and gets the role when a second person has confirmed it; see
// [Registry.GiveRole] for the exception.
func (r *Registry) CreateStaff(ctx context.Context, f StaffForm, by audit.Actor, request uuid.UUID) (Staff, error) {
	var wrong fault.Form
	checkName(&wrong, "name", f.Name)
	key := checkEmail(&wrong, "email", f.Email)
	checkRole(&wrong, f.Role)
	checkPassword(&wrong, "password", f.Password, r.PasswordMin, f.Name, f.Email)
	if err := wrong.Err(); err != nil {
		return Staff{}, err
	}
	s, now := Staff{ID: uuid.Must(uuid.NewV7()), Role: f.Role}, r.now()
	hash, err := r.Passwords.Hash(ctx, s.ID, f.Password)
	if err != nil {
		return Staff{}, err
	}
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := CheckAdministrator(ctx, tx, by); err != nil {
			return err
		}
		alone := true
		if Decides(f.Role) {
			if alone, err = MayActAlone(ctx, tx, by); err != nil {
				return err
			}
		}
		if !alone {
			s.Role = auditor
		}
		err := insertAccount(ctx, tx, newAccount{
			id: s.ID, kind: StaffAccount, role: s.Role, name: f.Name, email: f.Email, key: key, hash: hash, at: now,
		}, emailTaken("email"))
		if err != nil {
			return err
		}
		if err := RecordAccess(ctx, tx, s.ID, AccessCreated, by, now); err != nil {
			return err
		}
		err = audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.StaffCreated, Subject: s.ID, Request: request, After: map[string]any{"role": s.Role},
		})
		if err != nil || alone {
			return err
		}
		s.Pending, err = requestRole(ctx, tx, s.ID, f.Role, "A new member of staff.", by, request, now)
		return err
	})
	if err != nil {
		return Staff{}, err
	}
	return s, nil
}

// Decides reports whether staff with a role decide what others request.
func Decides(role string) bool { return role == administrator || role == approval.Reviewer }

// GiveRole requests a role for a member of staff, in the caller's transaction, and
// returns the approval that must be confirmed before the role changes. The present role
// can be requested if somebody alone created, raised or reset the account: whoever
// confirms it confirms who the person is. The role changes at once, and the approval is zero, only if the
// operator requests it while there are fewer than two active administrators: then
// there may be nobody else to confirm it.
func (r *Registry) GiveRole(ctx context.Context, tx pg.Tx, account uuid.UUID, role, reason string, by audit.Actor, request uuid.UUID) (pending uuid.UUID, err error) {
	var wrong fault.Form
	checkRole(&wrong, role)
	approval.CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	if err := CheckAdministrator(ctx, tx, by); err != nil {
		return uuid.Nil, err
	}
	alone, err := MayActAlone(ctx, tx, by)
	if err != nil {
		return uuid.Nil, err
	}
	was, err := roleOf(ctx, tx, account)
	switch {
	case err != nil:
		return uuid.Nil, err
	case was == role:
		if err := checkDependent(ctx, tx, account); err != nil {
			return uuid.Nil, err
		}
		return requestRole(ctx, tx, account, role, reason, by, request, r.now())
	case alone:
		now := r.now()
		if err := RecordAccess(ctx, tx, account, AccessRaised, by, now); err != nil {
			return uuid.Nil, err
		}
		return uuid.Nil, setRole(ctx, tx, account, was, role, audit.Entry{At: now, Actor: by, Request: request, After: map[string]any{"reason": reason}})
	}
	return requestRole(ctx, tx, account, role, reason, by, request, r.now())
}

// CheckAdministrator is [CheckStaff] for administrators.
func CheckAdministrator(ctx context.Context, from pg.DB, by audit.Actor) error {
	return CheckStaff(ctx, from, by, administrator)
}

// CheckStaff returns nil if by is the operator, or an active member of staff with one
// of the roles. If from is a transaction, the account cannot be disabled or lose its
// role before the transaction ends.
func CheckStaff(ctx context.Context, from pg.DB, by audit.Actor, roles ...string) error {
	switch by.Kind {
	case audit.Operator:
		return nil
	case audit.Account:
		var role string
		row := pg.Row{Table: "account", ID: by.ID}
		err := from.QueryRow(ctx, `SELECT coalesce(role, ''), row_sum, row_mac FROM account WHERE id = $1 AND kind = 'staff' AND disabled_at IS NULL FOR SHARE`, by.ID).
			Scan(&role, &row.Sum, &row.MAC)
		err = pg.Signed(ctx, from, err, row)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("registry: look up the account: %w", err)
		}
		if err == nil && slices.Contains(roles, role) {
			return nil
		}
	case audit.Client, audit.APIKey, audit.System:
	}
	if slices.Contains(roles, approval.Reviewer) {
		return approval.ErrNotDecider
	}
	return ErrNotAdministrator
}

func checkRole(wrong *fault.Form, role string) {
	wrong.Check(slices.Contains(staffRoles, role), "role", fault.NotAllowed, "The role is administrator, reviewer or auditor.")
}

// MayActAlone reports whether the actor needs no second person: the operator, while
// there are neither founders nor two active administrators, and so nobody who could be
// one. A lock serialises concurrent calls until their transactions end.
func MayActAlone(ctx context.Context, tx pg.Tx, by audit.Actor) (bool, error) {
	if by.Kind != audit.Operator {
		return false, nil
	}
	if err := lockStaff(ctx, tx); err != nil {
		return false, err
	}
	return beforeStaff(ctx, tx)
}

// lockStaff serialises transactions that count administrators and then create one.
func lockStaff(ctx context.Context, tx pg.Tx) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof staff', 0))`)
	return fault.Wrap(err, "registry: lock the staff")
}

func requestRole(ctx context.Context, tx pg.Tx, account uuid.UUID, role, reason string, by audit.Actor, request uuid.UUID, at time.Time) (uuid.UUID, error) {
	return approval.Create(ctx, tx, CheckStaff, approval.Request{
		Kind: GiveStaffRole, Subject: account, Details: map[string]string{"role": role}, Reason: reason, By: by, Request: request, At: at,
	})
}

// roleOf returns the role of a member of staff and locks the account.
func roleOf(ctx context.Context, tx pg.Tx, account uuid.UUID) (string, error) {
	var role string
	err := tx.QueryRow(ctx, `SELECT coalesce(role, '') FROM account WHERE id = $1 AND kind = 'staff' FOR UPDATE`, account).Scan(&role)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoStaff
	}
	if err != nil {
		return "", fmt.Errorf("registry: find the member of staff: %w", err)
	}
	return role, nil
}

func setRole(ctx context.Context, tx pg.Tx, account uuid.UUID, was, role string, e audit.Entry) error {
	if _, err := tx.Exec(ctx, `UPDATE account SET role = $2 WHERE id = $1 AND kind = 'staff'`, account, role); err != nil {
		return fmt.Errorf("registry: give a role: %w", err)
	}
	e.Action, e.Subject = audit.RoleGiven, account
	e.Before, e.After["role"] = map[string]any{"role": was}, role
	return audit.Write(ctx, tx, e)
}

// checkDependent returns ErrHasRole for an account behind which nobody stands.
func checkDependent(ctx context.Context, from pg.DB, account uuid.UUID) error {
	cosignatures, err := signedCosignatures(ctx, from)
	if err != nil {
		return err
	}
	var dependent bool
	err = from.QueryRow(ctx, `SELECT EXISTS (SELECT FROM access_given g WHERE g.subject_id = $2 AND g.how NOT IN ('founder', 'cosigned') AND `+notCosigned+`)`, cosignatures, account).Scan(&dependent)
	if err != nil {
		return fmt.Errorf("registry: look for who gave access: %w", err)
	}
	if !dependent {
		return ErrHasRole
	}
	return nil
}

// giveRole is the effect of [GiveStaffRole].
func giveRole(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	was, err := roleOf(ctx, tx, a.Subject)
	if err != nil {
		return err
	}
	if was == a.Details["role"] {
		if err := checkDependent(ctx, tx, a.Subject); err != nil {
			return err
		}
	}
	// Whoever confirmed it knew what had happened until it was requested.
	how, at := accessCosigned, a.RequestedAt
	if a.BreakGlass {
		how, at = AccessRaised, a.DecidedAt
	}
	if err := RecordAccess(ctx, tx, a.Subject, how, a.DecidedBy, at); err != nil {
		return err
	}
	return setRole(ctx, tx, a.Subject, was, a.Details["role"], audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
}
