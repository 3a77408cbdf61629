package access

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
)

// KeyRow is a key as a list shows it. Preview is the part that is safe to show.
type KeyRow struct {
	ID, EntityID          uuid.UUID
	Entity, Name, Purpose string
	Mode, Preview         string
	Networks              []netip.Prefix
	Rate                  float64 // 0: the settings hold
	Burst                 int
	CreatedAt             time.Time
	ExpiresAt, RevokedAt  time.Time // zero if it does not, or was not
	LastUsedAt            time.Time // to a minute or so; zero if it never was
	LastUsedFrom          string
	CreatedBy, RevokedBy  uuid.UUID // accounts; zero for the operator
	Replaces              uuid.UUID // the key whose successor it is
	Rolled                bool      // has a successor
}

// InForce reports whether the key opens anything at that time. That of the entity
// is another question.
func (k *KeyRow) InForce(at time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Before(k.ExpiresAt))
}

// Keys lists the keys of an entity, or of all entities for the zero id, oldest
// first. Where there may be many, see [Keeper.KeyPage].
func (k *Keeper) Keys(ctx context.Context, entity uuid.UUID) ([]KeyRow, error) {
	rows, err := db.New(k.Pool).Keys(ctx, entity)
	if err != nil {
		return nil, fmt.Errorf("access: list keys: %w", err)
	}
	list := make([]KeyRow, len(rows))
	for i := range rows {
		list[i] = keyRow(&rows[i])
	}
	return list, nil
}

// Kin are a key and those beside it. They are zero where there is none.
type Kin struct{ Key, Before, After KeyRow }

// Key returns a key of an entity with the one that it replaces and the one that
// replaces it, or ErrNoKey.
func (k *Keeper) Key(ctx context.Context, entity, id uuid.UUID) (Kin, error) {
	rows, err := db.New(k.Pool).KeyWithKin(ctx, db.KeyWithKinParams{EntityID: entity, ID: id})
	if err != nil {
		return Kin{}, fmt.Errorf("access: find a key: %w", err)
	}
	var kin Kin
	for i := range rows {
		row := db.KeysRow(rows[i])
		switch key := keyRow(&row); {
		case key.ID == id:
			kin.Key = key
		case key.Replaces == id:
			kin.After = key
		default:
			kin.Before = key
		}
	}
	if kin.Key.ID == uuid.Nil {
		return Kin{}, ErrNoKey
	}
	return kin, nil
}

// KeyNames returns what keys of an entity are called. Those of others are left
// out.
func (k *Keeper) KeyNames(ctx context.Context, entity uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	rows, err := db.New(k.Pool).KeyNames(ctx, db.KeyNamesParams{EntityID: entity, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("access: look up the names of keys: %w", err)
	}
	names := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, nil
}

func keyRow(r *db.KeysRow) KeyRow {
	return KeyRow{
		ID: r.ID, EntityID: r.EntityID, Entity: r.Entity, Name: r.Name, Purpose: r.Purpose, Mode: r.Mode, Preview: r.Preview,
		Networks: r.Networks, Rate: r.Rate, Burst: int(r.Burst), CreatedAt: r.CreatedAt, ExpiresAt: moment(r.ExpiresAt), RevokedAt: moment(r.RevokedAt),
		LastUsedAt: moment(r.LastUsedAt), LastUsedFrom: r.LastUsedFrom, CreatedBy: r.CreatedBy.UUID, RevokedBy: r.RevokedBy.UUID, Replaces: r.Replaces.UUID,
		Rolled: r.Rolled,
	}
}

func moment(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
