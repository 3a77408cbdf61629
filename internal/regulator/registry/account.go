package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
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
	Supplies   bool   // of a member: may send files of lines
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
	a, err := pg.CollectOne(ctx, from, scanAccount, accountSQL+` WHERE a.id = $1`, id)
	return a.checked(ctx, from, err)
}

// AccountByEmail returns the account with an e-mail address, or ErrNoAccount. The
// text need not be a valid address.
func (r *Registry) AccountByEmail(ctx context.Context, from pg.DB, email string) (Account, error) {
	key, _ := EmailKey(email) // an invalid address has no account; the query runs anyway, so that both cases take the same time
	a, err := pg.CollectOne(ctx, from, scanAccount, accountSQL+` WHERE a.email_key = $1`, key)
	return a.checked(ctx, from, err)
}

const accountSQL = `SELECT a.id, a.kind, a.entity_id, coalesce(e.name, ''), coalesce(a.role, ''), a.makes_keys, a.supplies, a.name, a.email, a.created_at,
	a.verified_at IS NOT NULL, a.password_hash IS NOT NULL, a.disabled_at IS NOT NULL, coalesce(e.status, 'Approved') = 'Approved',
	a.row_sum, a.row_mac, e.row_sum, e.row_mac FROM account a LEFT JOIN entity e ON e.id = a.entity_id`

// storedAccount is an account with its row and that of its entity.
type storedAccount struct {
	Account

	row, entity pg.Row
}

func scanAccount(found pgx.CollectableRow) (a storedAccount, err error) {
	var entity uuid.NullUUID
	a.row.Table, a.entity.Table = "account", "entity"
	err = found.Scan(&a.ID, &a.Kind, &entity, &a.EntityName, &a.Role, &a.MakesKeys, &a.Supplies, &a.Name, &a.Email, &a.CreatedAt,
		&a.Verified, &a.Accepted, &a.Disabled, &a.Approved, &a.row.Sum, &a.row.MAC, &a.entity.Sum, &a.entity.MAC)
	a.Entity, a.row.ID, a.entity.ID = entity.UUID, a.ID, entity.UUID
	return a, err
}

// checked returns the account that a query has found, if its rows are signed, or ErrNoAccount.
func (a *storedAccount) checked(ctx context.Context, from pg.DB, err error) (Account, error) {
	err = pg.Signed(ctx, from, err, a.row, a.entity)
	if errors.Is(err, pgx.ErrNoRows) {
		return Account{}, ErrNoAccount
	}
	if err != nil {
		return Account{}, fmt.Errorf("registry: find an account: %w", err)
	}
	return a.Account, nil
}

// Accounts lists the people of an entity, or the regulator's staff for the zero
// id, oldest first.
func (r *Registry) Accounts(ctx context.Context, entity uuid.UUID) ([]Account, error) {
	list, err := pg.Collect(ctx, r.Pool, func(row pgx.CollectableRow) (Account, error) {
		a, err := scanAccount(row)
		return a.Account, err
	}, accountSQL+` WHERE a.entity_id IS NOT DISTINCT FROM $1 ORDER BY a.created_at, a.id`, pg.ID(entity))
	return list, fault.Wrap(err, "registry: list accounts")
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
	list, err := pg.Collect(ctx, r.Pool, scanNamed, `SELECT a.id, a.name, coalesce(a.role, ''), coalesce(o.name, '')
		FROM account a LEFT JOIN entity o ON o.id = a.entity_id WHERE a.id = ANY($1::uuid[])
		UNION ALL SELECT e.id, e.name, '', '' FROM entity e WHERE e.id = ANY($1::uuid[])`, ids)
	if err != nil {
		return nil, fmt.Errorf("registry: look up names: %w", err)
	}
	names := make(map[uuid.UUID]DisplayName, len(list))
	for _, n := range list {
		names[n.ID] = n.Name
	}
	return names, nil
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
	_, err := tx.Exec(ctx, `UPDATE account SET password_hash = $3 WHERE id = $1 AND password_hash = $2`, id, old, fresh)
	return fault.Wrap(err, "registry: renew a password hash")
}

// SetPassword replaces the password hash of an account.
func (r *Registry) SetPassword(ctx context.Context, tx pg.Tx, id uuid.UUID, hash string) error {
	tag, err := tx.Exec(ctx, `UPDATE account SET password_hash = $2 WHERE id = $1 AND disabled_at IS NULL`, id, hash)
	return changedOne(tag, err, "set a password")
}

// Confirm marks the e-mail address of an account as verified by its owner, who followed a
// link, and when. It reports whether it was unverified before. That of an account with a
// second factor is renewed only if the link was sent for that.
func (r *Registry) Confirm(ctx context.Context, tx pg.Tx, id uuid.UUID, evenWithFactor bool) (bool, error) {
	now := r.now()
	tag, err := tx.Exec(ctx, `UPDATE account SET verified_at = $2, verified_by = 'email' WHERE id = $1 AND verified_at IS NULL`, id, now)
	if err == nil && tag.RowsAffected() == 0 {
		// A reset must not make a factor count that somebody else has set up.
		_, err = tx.Exec(ctx, `UPDATE account SET verified_at = $2, verified_by = 'email' WHERE id = $1 AND ($3 OR NOT has_factor)`, id, now, evenWithFactor)
	}
	if err != nil {
		return false, fmt.Errorf("registry: confirm an address: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// KeepConfirmed counts the address of an account as confirmed now, because the owner has just
// proved more than that, unless no link was ever followed.
func (r *Registry) KeepConfirmed(ctx context.Context, tx pg.Tx, id uuid.UUID) error {
	_, err := tx.Exec(ctx, `UPDATE account SET verified_at = $2 WHERE id = $1 AND verified_by = 'email'`, id, r.now())
	return fault.Wrap(err, "registry: renew the confirmation of an address")
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
// organisation. It returns ErrOnTeam only for the address of somebody whom the organisation
// sees among its people anyway; it looks at no other accounts (claim.go).
func (r *Registry) Invite(ctx context.Context, tx pg.Tx, i Invitee) (Account, error) {
	var wrong fault.Form
	key := checkEmail(&wrong, "email", i.Email)
	staff := i.Kind == StaffAccount
	wrong.Check(staff || i.Entity != uuid.Nil, "entityUid", fault.Required, "Give the entity that the person works for.")
	wrong.Check(!staff || i.Entity == uuid.Nil, "entityUid", fault.NotAllowed, "Staff do not belong to an entity. Leave entityUid out.")
	wrong.Check(staff || i.Role == "", "role", fault.NotAllowed, "Only staff have a role. Leave it out.")
	if staff {
		checkRole(&wrong, i.Role)
	}
	if err := wrong.Err(); err != nil {
		return Account{}, err
	}
	claim := claimKey(i.Entity, key)
	var before struct {
		id     uuid.UUID
		kind   AccountKind
		renews bool
	}
	// The account that claims the address, or has it. One that would give way to an invitation is
	// left out: somebody chose its password and never confirmed the address.
	err := tx.QueryRow(ctx, `SELECT id, kind, password_hash IS NULL OR disabled_at IS NOT NULL FROM account
		WHERE entity_id IS NOT DISTINCT FROM $1 AND email_key = ANY($2::text[]) AND (password_hash IS NULL OR verified_at IS NOT NULL OR disabled_at IS NOT NULL)
		ORDER BY email_key LIKE 'claim %' DESC LIMIT 1`, pg.ID(i.Entity), []string{key, claim}).Scan(&before.id, &before.kind, &before.renews)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return Account{}, fmt.Errorf("registry: look for an invitation: %w", err)
	case before.kind != i.Kind || !before.renews:
		return Account{}, ErrOnTeam
	default:
		// Password, verification, role and rights of before are lost.
		_, err := tx.Exec(ctx, `UPDATE account SET disabled_at = NULL, password_hash = NULL, verified_at = NULL, verified_by = NULL, role = $2, makes_keys = false, supplies = false
			WHERE id = $1 AND (password_hash IS NULL OR disabled_at IS NOT NULL)`, before.id, nonEmpty(i.Role))
		if err != nil {
			return Account{}, fmt.Errorf("registry: renew an invitation: %w", err)
		}
		return r.Account(ctx, tx, before.id)
	}
	id := uuid.Must(uuid.NewV7())
	inserted, err := newAccount{id: id, kind: i.Kind, entity: i.Entity, role: i.Role, name: invited, email: i.Email, key: claim, at: r.now()}.insert(ctx, tx)
	switch {
	case pg.Violated(err) == "account_entity_id_fkey":
		return Account{}, ErrNoEntity
	case err != nil:
		return Account{}, fmt.Errorf("registry: insert the account: %w", err)
	case !inserted: // somebody of the organisation invites the same person at this moment
		return Account{}, ErrOnTeam
	}
	return r.Account(ctx, tx, id)
}

// ErrOnTeam reports an invitation of somebody who is in the list of people.
var ErrOnTeam = fault.New(fault.AlreadyExists, "Values that must be unique already belong to another record; violations lists all of them.").With(fault.Violation{
	Field: "email", Code: fault.Taken, Message: "The list of people has this e-mail address already, of a person who has accepted or was invited with another role.",
})

// Accept gives an invited account its name, its password and the address to which the link
// was sent, which counts as verified. It returns the account that gave way and is disabled
// now; its id is zero if there is none.
func (r *Registry) Accept(ctx context.Context, tx pg.Tx, a Account, name, hash string) (gaveWay Account, err error) {
	if gaveWay, err = r.takeAddress(ctx, tx, a); err != nil {
		return Account{}, err
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET name = $2, password_hash = $3, verified_at = $4, verified_by = 'email'
		WHERE id = $1 AND password_hash IS NULL AND disabled_at IS NULL`, a.ID, name, hash, r.now())
	return gaveWay, changedOne(tag, err, "accept an invitation")
}

// ErrLastAdmin reports the only account that can manage the others.
var ErrLastAdmin = fault.New(fault.IncompatibleState, "This is the last admin. Invite another admin first, and wait until they have accepted.")

// Disable disables an account in the caller's transaction: its sessions end within
// seconds, and nobody can log in with it.
func (r *Registry) Disable(ctx context.Context, tx pg.Tx, a Account) error {
	if err := r.CheckDisable(ctx, tx, a); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `UPDATE account SET disabled_at = $2 WHERE id = $1 AND disabled_at IS NULL`, a.ID, r.now())
	return changedOne(tag, err, "disable an account")
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
	return checkOtherAdmins(ctx, tx, a)
}

// checkOtherAdmins returns ErrLastAdmin unless there are other active admins of an entity
// or, for staff, other administrators. It locks them, so that two admins cannot disable each
// other at the same time.
func checkOtherAdmins(ctx context.Context, tx pg.Tx, a Account) error {
	others, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], `SELECT id FROM account WHERE entity_id IS NOT DISTINCT FROM $1 AND (kind = 'admin' OR role = 'administrator')
		AND id <> $2 AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE`, pg.ID(a.Entity), a.ID)
	if err != nil {
		return fmt.Errorf("registry: look for other admins: %w", err)
	}
	if len(others) == 0 {
		return ErrLastAdmin
	}
	return nil
}

// changedOne returns ErrNoAccount if a statement changed no row.
func changedOne(tag pgconn.CommandTag, err error, what string) error {
	if err != nil {
		return fmt.Errorf("registry: %s: %w", what, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoAccount
	}
	return nil
}
