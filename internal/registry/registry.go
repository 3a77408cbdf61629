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
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/cac"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
	"github.com/lineproof/lineproof/internal/secret"
)

// ErrTaken reports unique values that already belong to another record; its
// violations name them.
var ErrTaken = fault.New(fault.AlreadyExists, "Values that must be unique already belong to another record; violations lists all of them. Send an Idempotency-Key to make repeating a request safe.")

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
// ErrTaken, naming every field, if the application conflicts with an existing
// record.
func (r *Registry) Onboard(ctx context.Context, tx pg.Tx, a Application, by Onboarder) (Entity, Admin, error) {
	now := r.now()
	entity := Entity{
		ID: uuid.Must(uuid.NewV7()), Name: a.form.Name, CAC: a.form.CAC, Status: Approved,
		DocumentRequired: a.form.DocumentRequired, CreatedAt: now,
	}
	admin := Admin{
		ID: a.admin, Name: a.form.AdminName, Email: a.form.AdminEmail, Phone: a.form.AdminPhone, Verified: by.Vouches,
	}
	q, number := db.New(tx), pgtype.Int8{Int64: a.phone.Int(), Valid: true}
	taken, err := r.cacTaken(ctx, q, a.cac)
	if err != nil {
		return Entity{}, Admin{}, err
	}
	if taken {
		others, err := conflicts(ctx, q, a.emailKey, number, "adminEmail", "adminPhone")
		if err != nil {
			return Entity{}, Admin{}, err
		}
		return Entity{}, Admin{}, ErrTaken.With(cacConflict).With(others...)
	}
	if err := r.checkOnboardings(ctx, q, by, now); err != nil {
		return Entity{}, Admin{}, err
	}
	if err := r.insertEntity(ctx, q, entity, a, by); err != nil {
		return Entity{}, Admin{}, err
	}
	account := db.InsertAccountParams{
		ID: admin.ID, Kind: "admin", EntityID: uuid.NullUUID{UUID: entity.ID, Valid: true}, Name: admin.Name,
		Email: admin.Email, EmailKey: a.emailKey, Phone: number,
		PasswordHash: &a.passwordHash, CreatedAt: now,
	}
	if by.Vouches {
		client := "client"
		account.VerifiedAt, account.VerifiedBy = &now, &client
	}
	if err := insertAccount(ctx, q, account, "adminEmail", "adminPhone"); err != nil {
		return Entity{}, Admin{}, err
	}
	err = audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: audit.Actor{Kind: audit.Client, ID: by.Client, From: by.From}, Action: audit.EntityOnboarded,
		Subject: entity.ID, Entity: entity.ID, Request: by.Request, After: entity.auditFields(),
	})
	return entity, admin, err
}

func (r *Registry) insertEntity(ctx context.Context, q *db.Queries, e Entity, a Application, by Onboarder) error {
	err := q.InsertEntity(ctx, db.InsertEntityParams{
		ID: e.ID, Name: e.Name, Cac: e.CAC, CacClass: nonEmpty(a.cac.Class), CacDigits: nonEmpty(a.cac.Digits),
		Status: string(e.Status), DocumentRequired: e.DocumentRequired, Supplies: by.Client != uuid.Nil, Asks: true,
		ClientID: pg.ID(by.Client), TokenID: pg.ID(by.Token), CreatedAt: e.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("registry: insert the entity: %w", err)
	}
	return nil
}

// cacTaken reports whether an entity already has the CAC number, if the number
// must be unique. It serialises applications with the same number.
func (r *Registry) cacTaken(ctx context.Context, q *db.Queries, number cac.Number) (bool, error) {
	if !r.CACUnique {
		return false, nil
	}
	if err := q.LockCAC(ctx, strings.ToUpper(cmp.Or(number.Class+number.Digits, number.Text))); err != nil {
		return false, fmt.Errorf("registry: lock the CAC number: %w", err)
	}
	taken, err := q.EntityWithCAC(ctx, db.EntityWithCACParams{Cac: number.Text, CacClass: number.Class, CacDigits: number.Digits})
	if err != nil {
		return false, fmt.Errorf("registry: look for the CAC number: %w", err)
	}
	return taken, nil
}

var cacConflict = fault.Violation{Field: "cac", Code: fault.Taken, Message: "An entity with this CAC number is already registered."}

// insertAccount returns ErrTaken if the e-mail address, the phone number or both
// belong to another account. The violations use the field names of the form.
func insertAccount(ctx context.Context, q *db.Queries, a db.InsertAccountParams, emailField, phoneField string) error {
	inserted, err := q.InsertAccount(ctx, a)
	if err != nil {
		return fmt.Errorf("registry: insert the account: %w", err)
	}
	if inserted == 1 {
		return nil
	}
	taken, err := conflicts(ctx, q, a.EmailKey, a.Phone, emailField, phoneField)
	if err != nil {
		return err
	}
	if len(taken) == 0 {
		return errors.New("registry: the account conflicts with no account that can be found")
	}
	return ErrTaken.With(taken...)
}

// conflicts returns a violation for each value that belongs to another account.
func conflicts(ctx context.Context, q *db.Queries, emailKey string, number pgtype.Int8, emailField, phoneField string) ([]fault.Violation, error) {
	held, err := q.AccountsHolding(ctx, db.AccountsHoldingParams{EmailKey: emailKey, Phone: number})
	if err != nil {
		return nil, fmt.Errorf("registry: find the conflict: %w", err)
	}
	var taken fault.Form
	taken.Check(!held.Email, emailField, fault.Taken, "This e-mail address already belongs to an account. If you are repeating a request because its response was lost, the first one may have succeeded: log in to find out.")
	taken.Check(!held.Phone, phoneField, fault.Taken, "This phone number already belongs to an account. If you are repeating a request because its response was lost, the first one may have succeeded: log in to find out.")
	return taken.Violations(), nil
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
	q, client := db.New(from), uuid.NullUUID{UUID: by.Client, Valid: true}
	if named != uuid.Nil {
		found, err := q.EntityOfClient(ctx, db.EntityOfClientParams{ID: named, ClientID: client})
		if err != nil {
			return uuid.Nil, fmt.Errorf("registry: find the named entity: %w", err)
		}
		if !found {
			return uuid.Nil, ErrNoEntity
		}
		return named, nil
	}
	last, err := q.LastEntityOfToken(ctx, uuid.NullUUID{UUID: by.Token, Valid: true})
	if err == nil {
		return last, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, fmt.Errorf("registry: find the token's entity: %w", err)
	}
	ids, err := q.EntitiesOfClient(ctx, client)
	if err != nil {
		return uuid.Nil, fmt.Errorf("registry: find the client's entities: %w", err)
	}
	if len(ids) != 1 {
		return uuid.Nil, errWhichEntity
	}
	return ids[0], nil
}

// OnlyEntityOf returns the entity that a client onboarded, if it onboarded exactly one,
// and else the zero id.
func OnlyEntityOf(ctx context.Context, from pg.DB, client uuid.UUID) (uuid.UUID, error) {
	ids, err := db.New(from).EntitiesOfClient(ctx, uuid.NullUUID{UUID: client, Valid: true})
	if err != nil {
		return uuid.Nil, fmt.Errorf("registry: find the client's entities: %w", err)
	}
	if len(ids) != 1 {
		return uuid.Nil, nil
	}
	return ids[0], nil
}

func nonEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// now returns the current time to the microsecond, the precision of PostgreSQL.
func (r *Registry) now() time.Time { return r.Now().UTC().Truncate(time.Microsecond) }
