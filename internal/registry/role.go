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

// The roles of staff. Package access has the same words for those who call.
const (
	administrator = "administrator"
	auditor       = "auditor"
)

var staffRoles = []string{administrator, "reviewer", auditor}

// GiveStaffRole is the question whether a member of staff gets another role.
const GiveStaffRole approval.Kind = "staff.role"

// pair is how many administrators there must be before the operator no longer
// makes one alone: with fewer there is nobody to ask and nobody to confirm.
const pair = 2

var (
	// ErrNoStaff reports an account that is none of the staff's.
	ErrNoStaff = fault.New(fault.NotFound, "There is no account of the regulator's staff with this id.")
	// ErrHasRole reports that there is nothing to change.
	ErrHasRole = fault.New(fault.IncompatibleState, "This account has that role already.")
)

// StaffForm is a member of the regulator's staff as they are described by
// whoever makes their account.
type StaffForm struct {
	Name, Email, Role string
	Password          secret.Text
}

// Staff is an account of the regulator's staff that was made.
type Staff struct {
	ID   uuid.UUID
	Role string
	// Waits is the approval after which the role is the one that was asked for.
	// Until then it is auditor, which changes nothing. Zero: nothing is waited for.
	Waits uuid.UUID
}

// CreateStaff makes an account of the regulator's staff. A new administrator
// begins as an auditor and becomes one when a second person has confirmed it;
// see [Registry.GiveRole] for the exception.
func (r *Registry) CreateStaff(ctx context.Context, f StaffForm, by audit.Actor, request uuid.UUID) (Staff, error) {
	var wrong fault.Form
	checkName(&wrong, "name", f.Name)
	key := checkEmail(&wrong, "email", f.Email)
	checkRole(&wrong, f.Role)
	checkPassword(&wrong, "password", f.Password, r.PasswordMin, f.Name, f.Email)
	if err := wrong.Err(); err != nil {
		return Staff{}, err
	}
	hash, err := r.Passwords.Hash(ctx, f.Password)
	if err != nil {
		return Staff{}, err
	}
	s, now := Staff{ID: uuid.Must(uuid.NewV7()), Role: f.Role}, r.now()
	err = pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		if err := approval.MayDecide(ctx, tx, by); err != nil {
			return err
		}
		alone := true
		if f.Role == administrator {
			if alone, err = mayAlone(ctx, tx, by); err != nil {
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
		err = audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.StaffCreated, Subject: s.ID, Request: request, After: map[string]any{"role": s.Role},
		})
		if err != nil || alone {
			return err
		}
		s.Waits, err = askForRole(ctx, tx, s.ID, f.Role, "A new member of staff.", by, request, now)
		return err
	})
	if err != nil {
		return Staff{}, err
	}
	return s, nil
}

// GiveRole gives a member of staff another role, in the caller's transaction,
// and returns the approval that has to be confirmed before it takes effect. It
// is zero, and the role given at once, only where the operator gives it and
// fewer than two administrators stand: then there may be nobody else.
func (r *Registry) GiveRole(ctx context.Context, tx pg.Tx, account uuid.UUID, role, reason string, by audit.Actor, request uuid.UUID) (waits uuid.UUID, err error) {
	var wrong fault.Form
	checkRole(&wrong, role)
	approval.CheckReason(&wrong, "reason", reason)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	if err := approval.MayDecide(ctx, tx, by); err != nil {
		return uuid.Nil, err
	}
	alone, err := mayAlone(ctx, tx, by)
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
		return uuid.Nil, setRole(ctx, tx, account, was, role, audit.Entry{At: r.now(), Actor: by, Request: request, After: map[string]any{"reason": reason}})
	}
	return askForRole(ctx, tx, account, role, reason, by, request, r.now())
}

func checkRole(wrong *fault.Form, role string) {
	wrong.Check(slices.Contains(staffRoles, role), "role", fault.NotAllowed, "The role is administrator, reviewer or auditor.")
}

// mayAlone reports whether rights can be given without a second person. Those
// who find out at the same moment do so one after the other.
func mayAlone(ctx context.Context, tx pg.Tx, by audit.Actor) (bool, error) {
	if by.Kind != audit.Operator {
		return false, nil
	}
	if err := db.New(tx).LockStaff(ctx); err != nil {
		return false, fmt.Errorf("registry: lock the staff: %w", err)
	}
	n, err := db.New(tx).CountAdministrators(ctx)
	if err != nil {
		return false, fmt.Errorf("registry: count administrators: %w", err)
	}
	return n < pair, nil
}

func askForRole(ctx context.Context, tx pg.Tx, account uuid.UUID, role, reason string, by audit.Actor, request uuid.UUID, at time.Time) (uuid.UUID, error) {
	return approval.Ask(ctx, tx, approval.Question{
		Kind: GiveStaffRole, Subject: account, Details: map[string]string{"role": role}, Reason: reason, By: by, Request: request, At: at,
	})
}

// roleOf returns the role of a member of staff and holds it.
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
	return setRole(ctx, tx, a.Subject, was, a.Details["role"], audit.Entry{At: a.DecidedAt, Actor: a.Decided, Request: a.Request, After: a.Both()})
}
