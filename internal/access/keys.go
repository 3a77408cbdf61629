package access

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
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
	list, err := pg.Collect(ctx, s.Pool, scanKey, `SELECT `+keyColumns+` FROM api_key k JOIN entity e ON e.id = k.entity_id
		WHERE k.entity_id = $1 OR $1 = '00000000-0000-0000-0000-000000000000'::uuid ORDER BY k.created_at`, entity)
	return list, fault.Wrap(err, "access: list keys")
}

// KeyChain is a key with its predecessor and its successor. Each is zero where
// there is none.
type KeyChain struct{ Key, Previous, Next KeyRow }

// Key returns a key of an entity with the key that it replaces and the key that
// replaces it, or ErrNoKey.
func (s *Service) Key(ctx context.Context, entity, id uuid.UUID) (KeyChain, error) {
	keys, err := pg.Collect(ctx, s.Pool, scanKey, `SELECT `+keyColumns+` FROM api_key k JOIN entity e ON e.id = k.entity_id WHERE k.entity_id = $1 AND k.id IN (
		SELECT $2::uuid UNION ALL SELECT o.replaces FROM api_key o WHERE o.id = $2 UNION ALL SELECT n.id FROM api_key n WHERE n.replaces = $2)`, entity, id)
	if err != nil {
		return KeyChain{}, fmt.Errorf("access: find a key: %w", err)
	}
	var chain KeyChain
	for i := range keys {
		switch key := &keys[i]; id {
		case key.ID:
			chain.Key = *key
		case key.Replaces:
			chain.Next = *key
		default:
			chain.Previous = *key
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
	return keyNames(ctx, s.Pool, entity, ids)
}

// KeyName returns the name of a key of an entity, in the caller's transaction; "" if the
// entity has no such key.
func KeyName(ctx context.Context, from pg.DB, entity, id uuid.UUID) (string, error) {
	names, err := keyNames(ctx, from, entity, []uuid.UUID{id})
	return names[id], err
}

func keyNames(ctx context.Context, from pg.DB, entity uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	names, err := pg.CollectMap[uuid.UUID, string](ctx, from, `SELECT id, name FROM api_key WHERE entity_id = $1 AND id = ANY($2::uuid[])`, entity, ids)
	return names, fault.Wrap(err, "access: look up the names of keys")
}

// CountActiveKeys returns how many keys of each entity are neither revoked nor
// expired, by the id of the entity.
func (s *Service) CountActiveKeys(ctx context.Context, entities ...uuid.UUID) (map[uuid.UUID]int64, error) {
	counts, err := pg.CollectMap[uuid.UUID, int64](ctx, s.Pool, `SELECT entity_id, count(*) FROM api_key
		WHERE entity_id = ANY($1::uuid[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) GROUP BY entity_id`, entities, s.now())
	return counts, fault.Wrap(err, "access: count active keys")
}

// keyColumns are those of a key k of an entity e; see scanKey.
const keyColumns = `k.id, k.entity_id, e.name, k.name, k.mode, k.purpose, k.purpose_text, k.preview, k.networks, k.rate, k.burst, k.expires_at, k.revoked_at, k.created_at,
	k.last_used_at, coalesce(host(k.last_used_from), ''), k.created_by, k.revoked_by, k.replaces, k.rights, EXISTS (SELECT FROM api_key s WHERE s.replaces = k.id)`

func scanKey(row pgx.CollectableRow) (k KeyRow, err error) {
	var expires, revoked, used *time.Time
	var createdBy, revokedBy, replaces uuid.NullUUID
	err = row.Scan(&k.ID, &k.EntityID, &k.Entity, &k.Name, &k.Mode, &k.Purpose, &k.PurposeText, &k.Preview, &k.Networks, &k.Rate, &k.Burst, &expires, &revoked, &k.CreatedAt,
		&used, &k.LastUsedFrom, &createdBy, &revokedBy, &replaces, &k.Rights, &k.Rolled)
	k.ExpiresAt, k.RevokedAt, k.LastUsedAt = timeOrZero(expires), timeOrZero(revoked), timeOrZero(used)
	k.CreatedBy, k.RevokedBy, k.Replaces = createdBy.UUID, revokedBy.UUID, replaces.UUID
	return k, err
}

func timeOrZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}
