package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// KeySort is what a list of keys is sorted by.
type KeySort string

// The orders in which keys can be listed. What is alike stands in the order of
// the ids. A key that was never used counts as used before all others, and one
// without an end ends last.
const (
	KeysByName    KeySort = "name"
	KeysByCreated KeySort = "created"
	KeysByUsed    KeySort = "used"
	KeysByExpires KeySort = "expires"
)

// MostKeys is how many keys [Keeper.KeyPage] returns at most.
const MostKeys = 200

// KeySearch says which keys are wanted. Without a sort those in force are first,
// and then the newest.
type KeySearch struct {
	Entity     uuid.UUID
	Sort       KeySort
	Descending bool   // of what is sorted
	After      string // what KeyPage returned as Next; what is none leads to the beginning
	Limit      int    // at most MostKeys, which is also what 0 means
}

// KeyPage is a part of the keys of an entity.
type KeyPage struct {
	Keys  []KeyRow
	Next  string // to go on with as After; "" at the end
	Total int64  // how many keys the entity has
}

// keyPageSQL looks for the ids first and for all else of those alone: to sort
// whole rows takes twice the time. Its verbs are the condition and, twice, the
// order.
const keyPageSQL = `SELECT k.id, k.entity_id, e.name AS entity, k.name, k.mode, k.purpose, k.preview, k.networks, k.rate, k.burst, k.expires_at, k.revoked_at, k.created_at,
	k.last_used_at, coalesce(host(k.last_used_from), '')::text AS last_used_from, k.created_by, k.revoked_by, k.replaces,
	EXISTS (SELECT FROM api_key s WHERE s.replaces = k.id) AS rolled
	FROM (SELECT k.id FROM api_key k WHERE %s ORDER BY %s LIMIT $1) p JOIN api_key k ON k.id = p.id JOIN entity e ON e.id = k.entity_id ORDER BY %[2]s`

// endless is when a key ends that does not, as the order has it.
var endless = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// KeyPage lists keys of one entity by pages.
func (k *Keeper) KeyPage(ctx context.Context, s KeySearch) (KeyPage, error) {
	limit := s.Limit
	if limit <= 0 || limit > MostKeys {
		limit = MostKeys
	}
	now, q := k.now(), &pg.Where{Args: []any{limit + 1}} // one more tells whether there are more
	q.Add(`k.entity_id = ?`, s.Entity)
	order, err := k.keyOrder(ctx, q, &s, now)
	if err != nil {
		return KeyPage{}, err
	}
	rows, err := k.Pool.Query(ctx, fmt.Sprintf(keyPageSQL, q, order), q.Args...)
	if err != nil {
		return KeyPage{}, fmt.Errorf("access: list keys: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[db.KeysRow])
	if err != nil {
		return KeyPage{}, fmt.Errorf("access: list keys: %w", err)
	}
	var page KeyPage
	for i := range list[:min(len(list), limit)] {
		page.Keys = append(page.Keys, keyRow(&list[i]))
	}
	if len(list) > limit {
		page.Next = s.next(&page.Keys[limit-1], now)
	}
	if page.Total = int64(len(page.Keys)); page.Next != "" || s.After != "" {
		page.Total, err = db.New(k.Pool).CountKeys(ctx, s.Entity)
	}
	if err != nil {
		return KeyPage{}, fmt.Errorf("access: count keys: %w", err)
	}
	return page, nil
}

// keyOrder adds to q where to go on, and returns what to order by. What of a
// key's place can change while somebody turns pages is in the cursor, the rest is
// looked up.
func (k *Keeper) keyOrder(ctx context.Context, q *pg.Where, s *KeySearch, now time.Time) (string, error) {
	at, on := pg.ParseCursor(s.After)
	var place db.KeyPlaceRow
	if on {
		var err error
		place, err = db.New(k.Pool).KeyPlace(ctx, db.KeyPlaceParams{ID: at.ID, EntityID: s.Entity})
		if on = !errors.Is(err, pgx.ErrNoRows); on && err != nil {
			return "", fmt.Errorf("access: find where to go on: %w", err)
		}
	}
	var values []string // by which to order, the id last
	var places []any    // the same of the key behind which to go on
	switch s.Sort {
	case KeysByName:
		values, places = []string{`lower(k.name) COLLATE "C"`}, []any{place.Name}
	case KeysByCreated:
		values, places = []string{`k.created_at`}, []any{place.CreatedAt}
	case KeysByUsed:
		values, places = []string{`coalesce(k.last_used_at, 'epoch')`}, []any{time.UnixMicro(at.Held)}
	case KeysByExpires:
		values, places = []string{q.Fill(`coalesce(k.expires_at, ?)`, endless)}, []any{time.UnixMicro(at.Held)}
	default:
		s.Descending = true
		values = []string{q.Fill(`(k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?))`, now), `k.created_at`}
		places = []any{at.Held == 1, place.CreatedAt}
	}
	values, places = append(values, "k.id"), append(places, at.ID)
	if on {
		q.Behind(values, places, s.Descending)
	}
	return pg.OrderBy(values, s.Descending), nil
}

// next is the cursor behind a key.
func (s *KeySearch) next(key *KeyRow, now time.Time) string {
	at := pg.Cursor{ID: key.ID}
	switch s.Sort {
	case KeysByName, KeysByCreated:
	case KeysByUsed:
		if !key.LastUsedAt.IsZero() {
			at.Held = key.LastUsedAt.UnixMicro()
		}
	case KeysByExpires:
		if at.Held = endless.UnixMicro(); !key.ExpiresAt.IsZero() {
			at.Held = key.ExpiresAt.UnixMicro()
		}
	default:
		if key.InForce(now) {
			at.Held = 1
		}
	}
	return at.String()
}
