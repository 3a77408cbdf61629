package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
	"github.com/lineproof/lineproof/internal/secret"
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

// CreateStaff creates an account of the regulator's staff. A new administrator
// starts as an auditor and becomes an administrator when a second person has
// confirmed it; see [Registry.GiveRole] for the exception.
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
		if f.Role == administrator {
			if alone, err = MayActAlone(ctx, tx, by); err != nil {
				return err
			}
		}
		if !alone {
			s.Role = auditor
		}
		err := insertAccount(ctx, db.New(tx), db.InsertAccountParams{
			ID: s.ID, Kind: "staff", Role: &s.Role, Name: f.Name, Email: f.Email, EmailKey: key, PasswordHash: &hash, CreatedAt: now,
		}, "email", "phone")
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

// GiveRole requests another role for a member of staff, in the caller's
// transaction, and returns the approval that must be confirmed before the role
// changes. The role changes at once, and the approval is zero, only if the
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
		return uuid.Nil, ErrHasRole
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
		row, err := db.New(from).StaffRole(ctx, by.ID)
		if err == nil {
			err = signed(ctx, from, by.ID, row.RowSum, row.RowMac)
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("registry: look up the account: %w", err)
		}
		if err == nil && slices.Contains(roles, row.Role) {
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
	if err := db.New(tx).LockStaff(ctx); err != nil {
		return false, fmt.Errorf("registry: lock the staff: %w", err)
	}
	return beforeStaff(ctx, tx)
}

func requestRole(ctx context.Context, tx pg.Tx, account uuid.UUID, role, reason string, by audit.Actor, request uuid.UUID, at time.Time) (uuid.UUID, error) {
	return approval.Create(ctx, tx, CheckStaff, approval.Request{
		Kind: GiveStaffRole, Subject: account, Details: map[string]string{"role": role}, Reason: reason, By: by, Request: request, At: at,
	})
}

// roleOf returns the role of a member of staff and locks the account.
func roleOf(ctx context.Context, tx pg.Tx, account uuid.UUID) (string, error) {
	role, err := db.New(tx).LockRole(ctx, account)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNoStaff
	}
	if err != nil {
		return "", fmt.Errorf("registry: find the member of staff: %w", err)
	}
	return role, nil
}

func setRole(ctx context.Context, tx pg.Tx, account uuid.UUID, was, role string, e audit.Entry) error {
	if err := db.New(tx).SetRole(ctx, db.SetRoleParams{ID: account, Role: role}); err != nil {
		return fmt.Errorf("registry: give a role: %w", err)
	}
	e.Action, e.Subject = audit.RoleGiven, account
	e.Before, e.After["role"] = map[string]any{"role": was}, role
	return audit.Write(ctx, tx, e)
}

// giveRole is the effect of [GiveStaffRole].
func giveRole(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	was, err := roleOf(ctx, tx, a.Subject)
	if err != nil {
		return err
	}
	if was == a.Details["role"] {
		return ErrHasRole
	}
	how := accessCosigned
	if a.BreakGlass {
		how = AccessRaised
	}
	if err := RecordAccess(ctx, tx, a.Subject, how, a.DecidedBy, a.DecidedAt); err != nil {
		return err
	}
	return setRole(ctx, tx, a.Subject, was, a.Details["role"], audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Request: a.Request, After: a.Both()})
}
