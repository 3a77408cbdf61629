package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
	"github.com/lineproof/lineproof/internal/secret"
)

// AccountKind is what sort of person an account belongs to.
type AccountKind string

// The kinds of account.
const (
	StaffAccount  AccountKind = "staff"  // works for the regulator
	AdminAccount  AccountKind = "admin"  // looks after an entity
	MemberAccount AccountKind = "member" // works for an entity
)

// Account is a person who can log in, or has been invited to.
type Account struct {
	ID         uuid.UUID
	Kind       AccountKind
	Entity     uuid.UUID // zero for staff
	EntityName string
	Role       string // of staff
	Name       string
	Email      string // as sent
	Verified   bool
	Accepted   bool // has a password; else the invitation has not been accepted
	Disabled   bool
	Approved   bool // the entity is, or there is none
	CreatedAt  time.Time
}

// Standing reports whether the person may log in.
func (a Account) Standing() bool { return !a.Disabled && a.Approved }

// Words are what an attacker knows of the account and would try first.
func (a Account) Words() []string { return []string{a.Name, a.Email, a.EntityName} }

// ErrNoAccount reports an account that does not exist for this caller.
var ErrNoAccount = fault.New(fault.NotFound, "There is no such account.")

// Account returns an account by its id, or ErrNoAccount.
func (r *Registry) Account(ctx context.Context, from pg.DB, id uuid.UUID) (Account, error) {
	row, err := db.New(from).AccountByID(ctx, id)
	return account(db.AccountsRow(row)).or(err)
}

// AccountByEmail returns the account of an address, or ErrNoAccount. The text
// need not be an address at all.
func (r *Registry) AccountByEmail(ctx context.Context, from pg.DB, email string) (Account, error) {
	key, _ := EmailKey(email) // what is no address has no account, and costs the same
	row, err := db.New(from).AccountByEmail(ctx, key)
	return account(db.AccountsRow(row)).or(err)
}

// Accounts lists the people of an entity, or the regulator's staff for the zero
// id, oldest first.
func (r *Registry) Accounts(ctx context.Context, entity uuid.UUID) ([]Account, error) {
	rows, err := db.New(r.Pool).Accounts(ctx, pg.ID(entity))
	if err != nil {
		return nil, fmt.Errorf("registry: list accounts: %w", err)
	}
	list := make([]Account, len(rows))
	for i, row := range rows {
		list[i] = account(row)
	}
	return list, nil
}

// Named is what an account or an entity is called. Role is that of staff, and
// Entity the one for which everybody else works; entities have neither.
type Named struct{ Name, Role, Entity string }

// String is the name, with that of the entity for which somebody works.
func (n Named) String() string {
	if n.Entity == "" {
		return n.Name
	}
	return n.Name + " of " + n.Entity
}

// Names returns what accounts and entities are called, by their ids. What is
// neither is left out.
func (r *Registry) Names(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]Named, error) {
	rows, err := db.New(r.Pool).Names(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("registry: look up names: %w", err)
	}
	names := make(map[uuid.UUID]Named, len(rows))
	for _, row := range rows {
		names[row.ID] = Named{Name: row.Name, Role: row.Role, Entity: row.Entity}
	}
	return names, nil
}

func account(row db.AccountsRow) Account {
	return Account{
		ID: row.ID, Kind: AccountKind(row.Kind), Entity: row.EntityID.UUID, EntityName: row.Entity, Role: row.Role, Name: row.Name, Email: row.Email,
		Verified: row.Verified, Accepted: row.Accepted, Disabled: row.Disabled, Approved: row.Approved, CreatedAt: row.CreatedAt,
	}
}

func (a Account) or(err error) (Account, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return Account{}, ErrNoAccount
	}
	if err != nil {
		return Account{}, fmt.Errorf("registry: find an account: %w", err)
	}
	return a, nil
}

// HashPassword judges a new password of an account and hashes it. That is slow
// by design, so it must not be done inside a transaction. Field is what the
// complaints call it.
func (r *Registry) HashPassword(ctx context.Context, field string, password secret.Text, words ...string) (string, error) {
	if err := r.CheckPassword(field, password, words...); err != nil {
		return "", err
	}
	return r.Passwords.Hash(ctx, password)
}

// CheckPassword reports everything that speaks against a new password.
func (r *Registry) CheckPassword(field string, password secret.Text, words ...string) error {
	var wrong fault.Form
	checkPassword(&wrong, field, password, r.PasswordMin, words...)
	return wrong.Err()
}

// CheckName reports what speaks against the name of a person.
func CheckName(field, name string) error {
	var wrong fault.Form
	checkName(&wrong, field, name)
	return wrong.Err()
}

// CheckEmail reports what speaks against an e-mail address.
func CheckEmail(field, email string) error {
	var wrong fault.Form
	checkEmail(&wrong, field, email)
	return wrong.Err()
}

// SetPassword replaces the hash of a password.
func (r *Registry) SetPassword(ctx context.Context, tx pg.Tx, id uuid.UUID, hash string) error {
	n, err := db.New(tx).SetPassword(ctx, db.SetPasswordParams{ID: id, PasswordHash: &hash})
	return one(n, err, "set a password")
}

// Confirm notes that the person has shown that the e-mail address is theirs. It
// reports whether that is news.
func (r *Registry) Confirm(ctx context.Context, tx pg.Tx, id uuid.UUID) (bool, error) {
	now := r.now()
	n, err := db.New(tx).ConfirmEmail(ctx, db.ConfirmEmailParams{ID: id, At: &now})
	if err != nil {
		return false, fmt.Errorf("registry: confirm an address: %w", err)
	}
	return n == 1, nil
}

// Invitee is somebody who is to get an account.
type Invitee struct {
	Kind   AccountKind
	Entity uuid.UUID // zero for staff
	Role   string    // of staff
	Email  string
}

// invited is the name of an account until its owner gives one.
const invited = "(invited)"

// Invite makes an account without a password, in the caller's transaction, or
// finds the one that was made by an earlier invitation to the same place.
// Anybody else's address is ErrTaken.
func (r *Registry) Invite(ctx context.Context, tx pg.Tx, i Invitee) (Account, error) {
	var wrong fault.Form
	key := checkEmail(&wrong, "email", i.Email)
	staff := i.Kind == StaffAccount
	wrong.Check(staff || i.Role == "", "role", fault.NotAllowed, "Only staff have a role. Leave it out.")
	if staff {
		checkRole(&wrong, i.Role)
	}
	if err := wrong.Err(); err != nil {
		return Account{}, err
	}
	q := db.New(tx)
	before, err := r.AccountByEmail(ctx, tx, i.Email)
	switch {
	case errors.Is(err, ErrNoAccount):
	case err != nil:
		return Account{}, err
	case before.Kind == i.Kind && before.Entity == i.Entity:
		n, err := q.ReviveInvited(ctx, db.ReviveInvitedParams{ID: before.ID, EmailKey: key, Role: nonEmpty(i.Role)})
		if err != nil {
			return Account{}, fmt.Errorf("registry: invite again: %w", err)
		}
		if n == 1 {
			return r.Account(ctx, tx, before.ID)
		}
	}
	id := uuid.Must(uuid.NewV7())
	err = insertAccount(ctx, q, db.InsertAccountParams{
		ID: id, Kind: string(i.Kind), EntityID: pg.ID(i.Entity), Role: nonEmpty(i.Role), Name: invited, Email: i.Email, EmailKey: key, CreatedAt: r.now(),
	}, "email", "phone")
	if pg.Violated(err) == "account_entity_id_fkey" {
		return Account{}, ErrNoEntity
	}
	if err != nil {
		return Account{}, err
	}
	return r.Account(ctx, tx, id)
}

// Accept gives an invited account its name and password. That its owner has the
// link shows that the address is theirs.
func (r *Registry) Accept(ctx context.Context, tx pg.Tx, id uuid.UUID, name, hash string) error {
	now := r.now()
	n, err := db.New(tx).AcceptInvited(ctx, db.AcceptInvitedParams{ID: id, Name: name, PasswordHash: &hash, At: &now})
	return one(n, err, "accept an invitation")
}

// ErrLastAdmin reports somebody without whom nobody would be left to look after
// the rest.
var ErrLastAdmin = fault.New(fault.IncompatibleState, "Nobody else could look after the accounts. Invite another admin first, and wait until they have accepted.")

// Disable ends an account, in the caller's transaction: its sessions end within
// seconds, and nobody can log in.
func (r *Registry) Disable(ctx context.Context, tx pg.Tx, a Account) error {
	q, now := db.New(tx), r.now()
	if a.Accepted && (a.Kind == AdminAccount || a.Role == administrator) {
		others, err := q.OthersWhoManage(ctx, db.OthersWhoManageParams{EntityID: pg.ID(a.Entity), ID: a.ID})
		if err != nil {
			return fmt.Errorf("registry: look for other admins: %w", err)
		}
		if len(others) == 0 {
			return ErrLastAdmin
		}
	}
	n, err := q.DisableAccount(ctx, db.DisableAccountParams{ID: a.ID, At: &now})
	return one(n, err, "disable an account")
}

// one turns a change of nothing into ErrNoAccount.
func one(n int64, err error, what string) error {
	if err != nil {
		return fmt.Errorf("registry: %s: %w", what, err)
	}
	if n == 0 {
		return ErrNoAccount
	}
	return nil
}
