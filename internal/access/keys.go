package access

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
)

// KeyRow is a key as lists show it. Preview is the part that is safe to show.
type KeyRow struct {
	ID, EntityID         uuid.UUID
	Entity, Name         string
	Purpose              string // a code of the policy
	PurposeText          string // in the words of its owner, where the policy has no code
	Mode, Preview        string
	Networks             []netip.Prefix
	Rate                 float64 // 0: the limit of the entity or the settings
	Burst                int
	CreatedAt            time.Time
	ExpiresAt, RevokedAt time.Time // zero if it does not expire, or is not revoked
	LastUsedAt           time.Time // exact to about a minute; zero if never used
	LastUsedFrom         string
	CreatedBy, RevokedBy uuid.UUID // accounts; zero for the command line
	Replaces             uuid.UUID // the key that this one is the successor of
	Rolled               bool      // it has a successor
	Rights               []string
}

// Active reports whether the key itself is valid at that time. It says nothing
// about the entity, which may be suspended.
func (k *KeyRow) Active(at time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Before(k.ExpiresAt))
}

// PurposeWords returns the purpose for people: the owner's words, or else the code.
func (k *KeyRow) PurposeWords() string { return cmp.Or(k.PurposeText, k.Purpose) }

// Keys lists the keys of an entity, or of all entities for the zero id, oldest
// first. Where there may be many, see [Service.KeyPage].
func (s *Service) Keys(ctx context.Context, entity uuid.UUID) ([]KeyRow, error) {
	rows, err := db.New(s.Pool).Keys(ctx, entity)
	if err != nil {
		return nil, fmt.Errorf("access: list keys: %w", err)
	}
	list := make([]KeyRow, len(rows))
	for i := range rows {
		list[i] = keyRow(&rows[i])
	}
	return list, nil
}

// KeyChain is a key with its predecessor and its successor. Each is zero where
// there is none.
type KeyChain struct{ Key, Previous, Next KeyRow }

// Key returns a key of an entity with the key that it replaces and the key that
// replaces it, or ErrNoKey.
func (s *Service) Key(ctx context.Context, entity, id uuid.UUID) (KeyChain, error) {
	rows, err := db.New(s.Pool).KeyChain(ctx, db.KeyChainParams{EntityID: entity, ID: id})
	if err != nil {
		return KeyChain{}, fmt.Errorf("access: find a key: %w", err)
	}
	var chain KeyChain
	for i := range rows {
		row := db.KeysRow(rows[i])
		switch key := keyRow(&row); {
		case key.ID == id:
			chain.Key = key
		case key.Replaces == id:
			chain.Next = key
		default:
			chain.Previous = key
		}
	}
	if chain.Key.ID == uuid.Nil {
		return KeyChain{}, ErrNoKey
	}
	return chain, nil
}

// KeyNames returns the names of keys of an entity by their id. Keys of other
// entities are left out.
func (s *Service) KeyNames(ctx context.Context, entity uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	rows, err := db.New(s.Pool).KeyNames(ctx, db.KeyNamesParams{EntityID: entity, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("access: look up the names of keys: %w", err)
	}
	names := make(map[uuid.UUID]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, nil
}

// CountActiveKeys returns how many keys of each entity are neither revoked nor
// expired, by the id of the entity.
func (s *Service) CountActiveKeys(ctx context.Context, entities ...uuid.UUID) (map[uuid.UUID]int64, error) {
	rows, err := db.New(s.Pool).CountActiveKeys(ctx, db.CountActiveKeysParams{Entities: entities, Now: s.now()})
	if err != nil {
		return nil, fmt.Errorf("access: count active keys: %w", err)
	}
	counts := make(map[uuid.UUID]int64, len(rows))
	for _, r := range rows {
		counts[r.EntityID] = r.Keys
	}
	return counts, nil
}

func keyRow(r *db.KeysRow) KeyRow {
	return KeyRow{
		ID: r.ID, EntityID: r.EntityID, Entity: r.Entity, Name: r.Name, Purpose: r.Purpose, PurposeText: r.PurposeText, Mode: r.Mode, Preview: r.Preview,
		Networks: r.Networks, Rate: r.Rate, Burst: int(r.Burst), CreatedAt: r.CreatedAt, ExpiresAt: timeOrZero(r.ExpiresAt), RevokedAt: timeOrZero(r.RevokedAt),
		LastUsedAt: timeOrZero(r.LastUsedAt), LastUsedFrom: r.LastUsedFrom, CreatedBy: r.CreatedBy.UUID, RevokedBy: r.RevokedBy.UUID, Replaces: r.Replaces.UUID,
		Rolled: r.Rolled, Rights: r.Rights,
	}
}

func timeOrZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
