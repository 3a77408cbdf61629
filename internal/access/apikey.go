package access

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/secret"
)

// KeyForm is an API key as someone asks for it.
type KeyForm struct {
	Entity  uuid.UUID
	Name    string // of the application
	Mode    string // live
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
	// A key for tests must not answer from the nation's lines, and there are no
	// test numbers yet.
	wrong.Check(f.Mode == "live", "mode", fault.NotAllowed, "The mode must be live; keys for tests come with the test numbers.")
	wrong.Check(f.Expires >= 0, "expires", fault.NotAllowed, "Give a time in the future, or none.")
	if err := wrong.Err(); err != nil {
		return NewKey{}, err
	}
	key, now := NewKey{ID: uuid.Must(uuid.NewV7()), Text: secret.New(secret.LiveKey)}, k.now()
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
