package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// ErrTaken reports unique values that already belong to another record; its
// violations name them.
var ErrTaken = fault.New(fault.AlreadyExists, "Values that must be unique already belong to another record; violations lists all of them. Send an Idempotency-Key to make repeating a request safe.")

// ErrAdminTaken reports that somebody has an account with the e-mail address or the phone
// number of an admin. It does not say which, so that nobody can ask for an address alone.
var ErrAdminTaken = fault.New(fault.AlreadyExists, "The admin's e-mail address or phone number already belongs to an account. If you are repeating a request because its response was lost, "+
	"the first one may have succeeded: log in to find out. Otherwise use another address and another number. Send an Idempotency-Key to make repeating a request safe.")

// Registry is the register of entities and accounts. All fields are required.
type Registry struct {
	Pool        *pgxpool.Pool
	Region      *phone.Region
	Passwords   *secret.Passwords
	PasswordMin int  // characters
	CACUnique   bool // reject an entity whose CAC number another entity has
	Onboardings int  // how many entities a client may onboard on a day (UTC); 0 means no limit
	Now         func() time.Time
}

// Onboarder is the client that onboards an entity. Its access token is the proof
// that the regulator has approved the entity beforehand.
type Onboarder struct {
	Client  uuid.UUID
	Token   uuid.UUID
	Vouches bool // the admins of its entities count as verified
	Sole    bool // it onboards one entity, its own
	Request uuid.UUID
	From    netip.Addr // the source address of the call
}

// Onboard stores an entity and its admin, in the caller's transaction. It returns
// ErrAdminTaken if somebody has the admin's e-mail address or phone number: then it has
// stored nothing, and the transaction can be used further. It returns ErrTaken for a CAC
// number that is taken, before it looks for the admin.
func (r *Registry) Onboard(ctx context.Context, tx pg.Tx, a Application, by Onboarder) (Entity, Admin, error) {
	now := r.now()
	entity := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: a.form.Name, CAC: a.form.CAC, Status: Approved,
		DocumentRequired: a.form.DocumentRequired, CreatedAt: now,
	}
	admin := Admin{
		ID: a.admin, Name: a.form.AdminName, Email: a.form.AdminEmail, Phone: a.form.AdminPhone, Verified: by.Vouches,
	}
	taken, err := r.cacTaken(ctx, tx, a.cac)
	if err != nil {
		return Entity{}, Admin{}, err
	}
	if taken {
		return Entity{}, Admin{}, ErrTaken.With(cacConflict)
	}
	if err := r.checkOnboardings(ctx, tx, by, now); err != nil {
		return Entity{}, Admin{}, err
	}
	account := newAccount{
		id: admin.ID, kind: AdminAccount, entity: entity.ID, name: admin.Name, email: admin.Email, key: a.emailKey, phone: a.phone.Int(),
		hash: a.passwordHash, vouched: by.Vouches, at: now,
	}
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // a savepoint
		if err := r.insertEntity(ctx, tx, entity, a, by); err != nil {
			return err
		}
		return insertAccount(ctx, tx, account, ErrAdminTaken)
	})
	if err != nil {
		return Entity{}, Admin{}, err
	}
	err = audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: audit.Actor{Kind: audit.Client, ID: by.Client, From: by.From}, Action: audit.EntityOnboarded,
		Subject: entity.ID, Entity: entity.ID, Request: by.Request, After: entity.auditFields(),
	})
	return entity, admin, err
}

func (r *Registry) insertEntity(ctx context.Context, tx pg.DB, e Entity, a Application, by Onboarder) error {
	_, err := tx.Exec(ctx, `INSERT INTO entity (id, name, cac, cac_class, cac_digits, status, document_required, supplies, asks, client_id, token_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true, $9, $10, $11)`, e.ID, e.Name, e.CAC, nonEmpty(a.cac.Class), nonEmpty(a.cac.Digits),
		e.Status, e.DocumentRequired, by.Client != uuid.Nil, pg.ID(by.Client), pg.ID(by.Token), e.CreatedAt)
	return fault.Wrap(err, "registry: insert the entity")
}

// cacTaken reports whether an entity already has the CAC number, if the number
// must be unique. It serialises applications with the same number.
func (r *Registry) cacTaken(ctx context.Context, tx pg.Tx, number CACNumber) (bool, error) {
	if !r.CACUnique {
		return false, nil
	}
	return hasCAC(ctx, tx, number)
}

// withCAC is the condition that an entity has a CAC number, in any spelling: its text, class and digits.
const withCAC = `(upper(cac) = upper($1::text) OR (cac_class = $2 AND cac_digits = $3))`

// hasCAC reports whether an entity has the CAC number in any spelling. Until the transaction
// ends, no other asks the same.
func hasCAC(ctx context.Context, tx pg.Tx, number CACNumber) (taken bool, err error) {
	_, err = tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof cac ' || $1::text, 0))`, strings.ToUpper(cmp.Or(number.Class+number.Digits, number.Text)))
	if err != nil {
		return false, fmt.Errorf("registry: lock the CAC number: %w", err)
	}
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM entity WHERE `+withCAC+`)`, number.Text, number.Class, number.Digits).Scan(&taken)
	return taken, fault.Wrap(err, "registry: look for the CAC number")
}

var cacConflict = fault.Violation{Field: "cac", Code: fault.Taken, Message: "An entity with this CAC number is already registered."}

// newAccount is an account to insert. What is zero, is stored as NULL.
type newAccount struct {
	id               uuid.UUID
	kind             AccountKind
	entity           uuid.UUID
	role             string
	name, email, key string
	phone            int64
	hash             string
	vouched          bool // the client vouches for the address
	at               time.Time
}

// insert is the only function that creates accounts. A conflict inserts nothing and keeps the
// transaction usable. It is not asked which of the two unique values it was: nobody is told.
func (a newAccount) insert(ctx context.Context, tx pg.DB) (inserted bool, err error) {
	tag, err := tx.Exec(ctx, `INSERT INTO account (id, kind, entity_id, role, name, email, email_key, phone, password_hash, verified_at, verified_by, created_at)
		VALUES ($1, $2, $3, nullif($4::text, ''), $5, $6, $7, nullif($8::bigint, 0), nullif($9::text, ''),
		CASE WHEN $10 THEN $11::timestamptz END, CASE WHEN $10 THEN 'client' END, $11) ON CONFLICT DO NOTHING`,
		a.id, a.kind, pg.ID(a.entity), a.role, a.name, a.email, a.key, a.phone, a.hash, a.vouched, a.at)
	return tag.RowsAffected() == 1, err
}

// insertAccount returns an error of the caller if the e-mail address or the phone number
// belongs to another account.
func insertAccount(ctx context.Context, tx pg.DB, a newAccount, taken error) error {
	inserted, err := a.insert(ctx, tx)
	if err != nil {
		return fmt.Errorf("registry: insert the account: %w", err)
	}
	if !inserted {
		return taken
	}
	return nil
}

// emailTaken reports an e-mail address of a person whom the operator creates.
func emailTaken(field string) error {
	return ErrTaken.With(fault.Violation{Field: field, Code: fault.Taken, Message: "This e-mail address already belongs to an account."})
}

// ErrNoEntity reports an entity that does not exist for this caller.
var ErrNoEntity = fault.New(fault.NotFound, "There is no entity with this entityUid.")

// errWhichEntity reports that entityUid is needed to choose the entity.
var errWhichEntity = fault.ErrInvalid.With(fault.Violation{
	Field: "entityUid", Code: fault.Ambiguous, Message: "Send entityUid: this client has no entity or more than one, and this access token has not onboarded one.",
})

// EntityFor returns the entity that a request of a client concerns: the named one,
// if the client onboarded it; if none is named, the last one that this access token
// onboarded; else the client's only one.
func EntityFor(ctx context.Context, from pg.DB, by Onboarder, named uuid.UUID) (uuid.UUID, error) {
	if named != uuid.Nil {
		row, err := pg.CollectOne(ctx, from, scanEntityRow, `SELECT id, row_sum, row_mac FROM entity WHERE id = $1 AND client_id = $2`, named, by.Client)
		err = pg.Signed(ctx, from, err, row)
		if errors.Is(err, pgx.ErrNoRows) {
			return uuid.Nil, ErrNoEntity
		}
		if err != nil {
			return uuid.Nil, fmt.Errorf("registry: find the named entity: %w", err)
		}
		return named, nil
	}
	last, err := pg.CollectOne(ctx, from, scanEntityRow, `SELECT id, row_sum, row_mac FROM entity WHERE token_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`, by.Token)
	if err == nil {
		err = pg.Signed(ctx, from, err, last)
		if errors.Is(err, pgx.ErrNoRows) {
			return uuid.Nil, errWhichEntity
		}
		return last.ID, err
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, fmt.Errorf("registry: find the token's entity: %w", err)
	}
	only, err := OnlyEntityOf(ctx, from, by.Client)
	if err == nil && only == uuid.Nil {
		err = errWhichEntity
	}
	return only, err
}

// OnlyEntityOf returns the entity that a client onboarded, if it onboarded exactly one,
// and else the zero id.
func OnlyEntityOf(ctx context.Context, from pg.DB, client uuid.UUID) (uuid.UUID, error) {
	// Two are enough to know whether there is exactly one.
	rows, err := pg.Collect(ctx, from, scanEntityRow, `SELECT id, row_sum, row_mac FROM entity WHERE client_id = $1 ORDER BY created_at LIMIT 2`, client)
	if err != nil {
		return uuid.Nil, fmt.Errorf("registry: find the client's entities: %w", err)
	}
	if len(rows) != 1 {
		return uuid.Nil, nil
	}
	ok, err := pg.RowsSigned(ctx, from, rows[0])
	if err != nil || !ok {
		return uuid.Nil, err
	}
	return rows[0].ID, nil
}

func scanEntityRow(found pgx.CollectableRow) (row pg.Row, err error) {
	row.Table = "entity"
	err = found.Scan(&row.ID, &row.Sum, &row.MAC)
	return row, err
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// now returns the current time to the microsecond, the precision of PostgreSQL.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Microsecond) }
