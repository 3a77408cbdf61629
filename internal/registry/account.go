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

// AccountKind says whom the owner of an account works for, and with which rights.
type AccountKind string

// The kinds of account.
const (
	StaffAccount  AccountKind = "staff"  // works for the regulator
	AdminAccount  AccountKind = "admin"  // works for an entity and manages its accounts
	MemberAccount AccountKind = "member" // works for an entity
)

// Account is the account of a person who can log in or has been invited.
type Account struct {
	ID         uuid.UUID
	Kind       AccountKind
	Entity     uuid.UUID // zero for staff
	EntityName string
	Role       string // of staff
	MakesKeys  bool   // of a member: may create and roll live keys
	Name       string
	Email      string // as entered
	Verified   bool
	Accepted   bool // the invitation is accepted: the account has a password
	Disabled   bool
	Approved   bool // the status of the entity is Approved, or there is no entity
	CreatedAt  time.Time
}

// MayLogIn reports whether the account and its entity allow a login.
func (a Account) MayLogIn() bool { return !a.Disabled && a.Approved }

// GuessableWords returns what an attacker knows about the account and would try
// first as a password.
func (a Account) GuessableWords() []string { return []string{a.Name, a.Email, a.EntityName} }

// ErrNoAccount reports an account that does not exist for this caller.
var ErrNoAccount = fault.New(fault.NotFound, "There is no such account.")

// Account returns an account by its id, or ErrNoAccount.
func (r *Registry) Account(ctx context.Context, from pg.DB, id uuid.UUID) (Account, error) {
	row, err := db.New(from).AccountByID(ctx, id)
	if err == nil {
		err = signed(ctx, from, row.ID, row.RowSum, row.RowMac)
	}
	return account(db.AccountsRow(row)).or(err)
}

// AccountByEmail returns the account with an e-mail address, or ErrNoAccount. The
// text need not be a valid address.
func (r *Registry) AccountByEmail(ctx context.Context, from pg.DB, email string) (Account, error) {
	key, _ := EmailKey(email) // an invalid address has no account; the query runs anyway, so that both cases take the same time
	row, err := db.New(from).AccountByEmail(ctx, key)
	if err == nil {
		err = signed(ctx, from, row.ID, row.RowSum, row.RowMac)
	}
	return account(db.AccountsRow(row)).or(err)
}

// signed returns pgx.ErrNoRows unless the row of an account is signed.
func signed(ctx context.Context, from pg.DB, account uuid.UUID, sum, mac []byte) error {
	return pg.Signed(ctx, from, nil, pg.Row{Table: "account", ID: account, Sum: sum, MAC: mac})
}

func accountByKey(ctx context.Context, q *db.Queries, key string) (Account, error) {
	row, err := q.AccountByEmail(ctx, key)
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

// DisplayName is the name of an account or an entity, for display. Role is set for
// staff, and Entity for other people; entities have neither.
type DisplayName struct{ Name, Role, Entity string }

// String returns the name, and for the people of an entity also the entity's name.
func (n DisplayName) String() string {
	if n.Entity == "" {
		return n.Name
	}
	return n.Name + " of " + n.Entity
}

// Names returns the names of accounts and entities by their ids. Ids of neither
// are left out.
func (r *Registry) Names(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]DisplayName, error) {
	rows, err := db.New(r.Pool).Names(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("registry: look up names: %w", err)
	}
	names := make(map[uuid.UUID]DisplayName, len(rows))
	for _, row := range rows {
		names[row.ID] = DisplayName{Name: row.Name, Role: row.Role, Entity: row.Entity}
	}
	return names, nil
}

func account(row db.AccountsRow) Account {
	return Account{
		ID: row.ID, Kind: AccountKind(row.Kind), Entity: row.EntityID.UUID, EntityName: row.Entity, Role: row.Role, MakesKeys: row.MakesKeys, Name: row.Name, Email: row.Email,
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

// HashPassword checks a new password of an account and hashes it. That is slow by
// design, so it must not be called inside a transaction. Field is the field name
// in violations; words are known to an attacker and must not be the password.
func (r *Registry) HashPassword(ctx context.Context, account uuid.UUID, field string, password secret.Text, words ...string) (string, error) {
	if err := r.CheckPassword(field, password, words...); err != nil {
		return "", err
	}
	return r.Passwords.Hash(ctx, account, password)
}

// CheckPassword returns every violation of the rules for new passwords.
func (r *Registry) CheckPassword(field string, password secret.Text, words ...string) error {
	var wrong fault.Form
	checkPassword(&wrong, field, password, r.PasswordMin, words...)
	return wrong.Err()
}

// CheckName returns the violations of a name of a person.
func CheckName(field, name string) error {
	var wrong fault.Form
	checkName(&wrong, field, name)
	return wrong.Err()
}

// CheckEmail returns the violations of an e-mail address.
func CheckEmail(field, email string) error {
	var wrong fault.Form
	checkEmail(&wrong, field, email)
	return wrong.Err()
}

// RenewHash replaces a password hash with one of the same password under the newest
// pepper, unless the password was changed meanwhile.
func (r *Registry) RenewHash(ctx context.Context, tx pg.Tx, id uuid.UUID, old, fresh string) error {
	if _, err := db.New(tx).RenewHash(ctx, db.RenewHashParams{ID: id, Old: old, Fresh: fresh}); err != nil {
		return fmt.Errorf("registry: renew a password hash: %w", err)
	}
	return nil
}

// SetPassword replaces the password hash of an account.
func (r *Registry) SetPassword(ctx context.Context, tx pg.Tx, id uuid.UUID, hash string) error {
	n, err := db.New(tx).SetPassword(ctx, db.SetPasswordParams{ID: id, PasswordHash: &hash})
	return changedOne(n, err, "set a password")
}

// Confirm marks the e-mail address of an account as verified by its owner. It
// reports whether it was unverified before.
func (r *Registry) Confirm(ctx context.Context, tx pg.Tx, id uuid.UUID) (bool, error) {
	now := r.now()
	n, err := db.New(tx).ConfirmEmail(ctx, db.ConfirmEmailParams{ID: id, At: &now})
	if err != nil {
		return false, fmt.Errorf("registry: confirm an address: %w", err)
	}
	return n == 1, nil
}

// Invitee is a person to be invited.
type Invitee struct {
	Kind   AccountKind
	Entity uuid.UUID // zero for staff
	Role   string    // of staff
	Email  string
}

// invited is the name of an account until its owner enters one.
const invited = "(invited)"

// Invite creates an account without a password, in the caller's transaction, or
// returns the one created by an earlier invitation of the same kind to the same
// entity. It returns ErrTaken for the address of any other account, unless that account
// gives way: then the new one claims the address (claim.go).
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
	before, err := accountByKey(ctx, q, key)
	if err == nil && before.givesWayTo(i) {
		key = claimKey(key)
		before, err = accountByKey(ctx, q, key)
	}
	switch {
	case errors.Is(err, ErrNoAccount):
	case err != nil:
		return Account{}, err
	case before.Kind == i.Kind && before.Entity == i.Entity:
		n, err := q.RenewInvitation(ctx, db.RenewInvitationParams{ID: before.ID, EmailKey: key, Role: nonEmpty(i.Role)})
		if err != nil {
			return Account{}, fmt.Errorf("registry: renew an invitation: %w", err)
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

// Accept gives an invited account its name and password. The address counts as
// verified, because the link was sent to it.
func (r *Registry) Accept(ctx context.Context, tx pg.Tx, id uuid.UUID, name, hash string) error {
	now := r.now()
	n, err := db.New(tx).AcceptInvitation(ctx, db.AcceptInvitationParams{ID: id, Name: name, PasswordHash: &hash, At: &now})
	return changedOne(n, err, "accept an invitation")
}

// ErrLastAdmin reports the only account that can manage the others.
var ErrLastAdmin = fault.New(fault.IncompatibleState, "This is the last admin. Invite another admin first, and wait until they have accepted.")

// Disable disables an account in the caller's transaction: its sessions end within
// seconds, and nobody can log in with it.
func (r *Registry) Disable(ctx context.Context, tx pg.Tx, a Account) error {
	if err := r.CheckDisable(ctx, tx, a); err != nil {
		return err
	}
	now := r.now()
	n, err := db.New(tx).DisableAccount(ctx, db.DisableAccountParams{ID: a.ID, At: &now})
	return changedOne(n, err, "disable an account")
}

// CheckDisable returns an error if an account cannot be disabled: it is already, or it
// is the last admin.
func (r *Registry) CheckDisable(ctx context.Context, tx pg.Tx, a Account) error {
	if a.Disabled {
		return ErrNoAccount
	}
	if !a.Accepted || a.Kind != AdminAccount && a.Role != administrator {
		return nil
	}
	others, err := db.New(tx).OtherAdmins(ctx, db.OtherAdminsParams{EntityID: pg.ID(a.Entity), ID: a.ID})
	if err != nil {
		return fmt.Errorf("registry: look for other admins: %w", err)
	}
	if len(others) == 0 {
		return ErrLastAdmin
	}
	return nil
}

// changedOne returns ErrNoAccount if a statement changed no row.
func changedOne(n int64, err error, what string) error {
	if err != nil {
		return fmt.Errorf("registry: %s: %w", what, err)
	}
	if n == 0 {
		return ErrNoAccount
	}
	return nil
}
