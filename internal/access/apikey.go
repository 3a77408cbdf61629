package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// The modes of a key.
const (
	Live = "live" // asks about the lines of the nation
	Test = "test" // asks about test numbers, and never sees a line
)

// KeyForm is an API key as someone asks for it.
type KeyForm struct {
	Entity  uuid.UUID
	Name    string // of the application
	Mode    string // Live or Test
	Purpose string
	Expires time.Duration // 0 means never
}

// NewKey is a key that was just made. Its text is shown this once.
type NewKey struct {
	ID   uuid.UUID
	Text secret.Text
}

// CreateKey makes an API key for an entity.
func (k *Keeper) CreateKey(ctx context.Context, f KeyForm) (NewKey, error) {
	var wrong fault.Form
	checkLabel(&wrong, "name", f.Name, 100)
	// The prefix says the mode, so that nobody takes one kind of key for the other.
	prefix, ok := map[string]secret.Prefix{Live: secret.LiveKey, Test: secret.TestKey}[f.Mode]
	wrong.Check(ok, "mode", fault.NotAllowed, "The mode must be live or test.")
	wrong.Check(f.Expires >= 0, "expires", fault.NotAllowed, "Give a time in the future, or none.")
	if err := wrong.Err(); err != nil {
		return NewKey{}, err
	}
	key, now := NewKey{ID: uuid.Must(uuid.NewV7()), Text: secret.New(prefix)}, k.now()
	var expires *time.Time
	if f.Expires > 0 {
		at := now.Add(f.Expires)
		expires = &at
	}
	err := pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		err := db.New(tx).InsertKey(ctx, db.InsertKeyParams{
			ID: key.ID, EntityID: f.Entity, Name: f.Name, Mode: f.Mode, Purpose: f.Purpose, Mac: k.Peppers.Sign(key.Text.Reveal()),
			Preview: secret.Preview(key.Text), ExpiresAt: expires, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: operator, Action: audit.KeyCreated, Subject: key.ID, Entity: f.Entity})
	})
	if pg.Violated(err) == "api_key_entity_id_fkey" {
		return NewKey{}, fault.New(fault.NotFound, "There is no entity with this id.")
	}
	if err != nil {
		return NewKey{}, fmt.Errorf("access: create a key: %w", err)
	}
	return key, nil
}

// KeyRow is a key as a list shows it. Preview is the part that is safe to show.
type KeyRow struct {
	ID                    uuid.UUID
	EntityID              uuid.UUID
	Entity, Name, Purpose string
	Mode, Preview         string
	CreatedAt             time.Time
	ExpiresAt, RevokedAt  time.Time // zero if it does not, or was not
}

// Keys lists the keys of an entity, or of all entities for the zero id, oldest
// first.
func (k *Keeper) Keys(ctx context.Context, entity uuid.UUID) ([]KeyRow, error) {
	rows, err := db.New(k.Pool).Keys(ctx, entity)
	if err != nil {
		return nil, fmt.Errorf("access: list keys: %w", err)
	}
	list := make([]KeyRow, 0, len(rows))
	for _, r := range rows {
		row := KeyRow{
			ID: r.ID, EntityID: r.EntityID, Entity: r.Entity, Name: r.Name, Purpose: r.Purpose, Mode: r.Mode, Preview: r.Preview, CreatedAt: r.CreatedAt,
		}
		if r.ExpiresAt != nil {
			row.ExpiresAt = *r.ExpiresAt
		}
		if r.RevokedAt != nil {
			row.RevokedAt = *r.RevokedAt
		}
		list = append(list, row)
	}
	return list, nil
}

// ErrNoKey reports a key that does not exist or was revoked before.
var ErrNoKey = fault.New(fault.NotFound, "There is no such key that could be revoked.")

// FindKey returns the id of a key by its text, as when one was found where it
// should not be.
func (k *Keeper) FindKey(ctx context.Context, text secret.Text) (uuid.UUID, error) {
	id, err := db.New(k.Pool).KeyIDByMAC(ctx, k.Peppers.Candidates(text.Reveal()))
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, ErrNoKey
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("access: find a key: %w", err)
	}
	return id, nil
}

// RevokeKey ends a key for good. On this node the next request with it is
// refused, on others those after the moment for which they remember it.
func (k *Keeper) RevokeKey(ctx context.Context, id uuid.UUID) error {
	now := k.now()
	defer k.memory.forget(id)
	return pg.InTx(ctx, k.Pool, func(tx pg.Tx) error {
		entity, err := db.New(tx).RevokeKey(ctx, db.RevokeKeyParams{ID: id, At: &now})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoKey
		}
		if err != nil {
			return fmt.Errorf("access: revoke a key: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: operator, Action: audit.KeyRevoked, Subject: id, Entity: entity})
	})
}
