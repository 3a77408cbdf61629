package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// KeySort is the column that sorts a list of keys.
type KeySort string

// The orders in which keys can be listed. Ties are ordered by id. A key that was
// never used sorts before all used ones, and one that never expires sorts last.
const (
	KeysByName    KeySort = "name"
	KeysByCreated KeySort = "created"
	KeysByUsed    KeySort = "used"
	KeysByExpires KeySort = "expires"
)

// MaxKeys is the maximum page size of [Service.KeyPage].
const MaxKeys = 200

// KeySearch selects and orders keys. Without a sort, active keys come first, and
// among them and among the others the newest.
type KeySearch struct {
	Entity     uuid.UUID
	Sort       KeySort
	Descending bool   // applies to Sort only
	After      string // the Next of the page before; an invalid value means the first page
	Limit      int    // at most MaxKeys, which is also the default
}

// KeyPage is one page of the keys of an entity.
type KeyPage struct {
	Keys  []KeyRow
	Next  string // the After of the next page; "" on the last
	Total int64  // how many keys the entity has
}

// keyPageSQL selects the ids of the page first and then the rows of those ids:
// sorting whole rows takes twice the time. Its verbs are the condition and,
// twice, the order.
const keyPageSQL = `SELECT ` + keyColumns + `
	FROM (SELECT k.id FROM api_key k WHERE %s ORDER BY %s LIMIT $1) p JOIN api_key k ON k.id = p.id JOIN entity e ON e.id = k.entity_id ORDER BY %[2]s`

// noExpiry stands for the expiry of a key that never expires, when sorting.
var noExpiry = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// KeyPage returns one page of the keys of an entity.
func (s *Service) KeyPage(ctx context.Context, search KeySearch) (KeyPage, error) {
	limit := search.Limit
	if limit <= 0 || limit > MaxKeys {
		limit = MaxKeys
	}
	now, q := s.now(), &pg.Where{Args: []any{limit + 1}} // one more row shows whether there is a next page
	q.Add(`k.entity_id = ?`, search.Entity)
	order, err := s.keyOrder(ctx, q, &search, now)
	if err != nil {
		return KeyPage{}, err
	}
	list, err := pg.Collect(ctx, s.Pool, scanKey, fmt.Sprintf(keyPageSQL, q, order), q.Args...)
	if err != nil {
		return KeyPage{}, fmt.Errorf("access: list keys: %w", err)
	}
	page := KeyPage{Keys: list[:min(len(list), limit)]}
	if len(list) > limit {
		page.Next = search.next(&page.Keys[limit-1], now)
	}
	if page.Total = int64(len(page.Keys)); page.Next != "" || search.After != "" {
		err = s.Pool.QueryRow(ctx, `SELECT count(*) FROM api_key WHERE entity_id = $1`, search.Entity).Scan(&page.Total)
	}
	if err != nil {
		return KeyPage{}, fmt.Errorf("access: count keys: %w", err)
	}
	return page, nil
}

// keyOrder adds to q the condition of the page, and returns the ORDER BY list.
// The cursor holds those sort values of the last key that can change between two
// pages; the others are looked up.
func (s *Service) keyOrder(ctx context.Context, q *pg.Where, search *KeySearch, now time.Time) (string, error) {
	cursor, found := pg.ParseCursor(search.After)
	var name string
	var created time.Time
	if found {
		err := s.Pool.QueryRow(ctx, `SELECT lower(name), created_at FROM api_key WHERE id = $1 AND entity_id = $2`, cursor.ID, search.Entity).Scan(&name, &created)
		if found = !errors.Is(err, pgx.ErrNoRows); found && err != nil {
			return "", fmt.Errorf("access: read the last key of the page before: %w", err)
		}
	}
	var values []string // expressions to order by, the id last
	var places []any    // their values for the last key of the page before
	switch search.Sort {
	case KeysByName:
		values, places = []string{`lower(k.name) COLLATE "C"`}, []any{name}
	case KeysByCreated:
		values, places = []string{`k.created_at`}, []any{created}
	case KeysByUsed:
		values, places = []string{`coalesce(k.last_used_at, 'epoch')`}, []any{time.UnixMicro(cursor.SortKey)}
	case KeysByExpires:
		values, places = []string{q.Bind(`coalesce(k.expires_at, ?)`, noExpiry)}, []any{time.UnixMicro(cursor.SortKey)}
	default:
		search.Descending = true
		values = []string{q.Bind(`(k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?))`, now), `k.created_at`}
		places = []any{cursor.SortKey == 1, created}
	}
	values, places = append(values, "k.id"), append(places, cursor.ID)
	if found {
		q.After(values, places, search.Descending)
	}
	return pg.OrderBy(values, search.Descending), nil
}

// next returns the cursor of the page after a key.
func (search *KeySearch) next(key *KeyRow, now time.Time) string {
	cursor := pg.Cursor{ID: key.ID}
	switch search.Sort {
	case KeysByName, KeysByCreated:
	case KeysByUsed:
		if !key.LastUsedAt.IsZero() {
			cursor.SortKey = key.LastUsedAt.UnixMicro()
		}
	case KeysByExpires:
		if cursor.SortKey = noExpiry.UnixMicro(); !key.ExpiresAt.IsZero() {
			cursor.SortKey = key.ExpiresAt.UnixMicro()
		}
	default:
		if key.Active(now) {
			cursor.SortKey = 1
		}
	}
	return cursor.String()
}
