package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// LiveLifetime is how long a live key is valid unless its creator chooses otherwise:
	// a key that nobody remembers ends by itself.
	LiveLifetime = 365 * 24 * time.Hour
	// NoExpiry is the lifetime of a key that is valid until it is revoked.
	NoExpiry time.Duration = -1
)

// noticeDays are the days before the expiry of a live key on which its organisation is
// notified.
var noticeDays = []int32{30, 7, 1}

// Days returns the lifetime of a key for which somebody chose a number of days; 0 means
// that it does not expire.
func Days(n int) time.Duration {
	if n == 0 {
		return NoExpiry
	}
	return time.Duration(n) * 24 * time.Hour
}

// expiresAt returns when a key that is created now expires; nil means never.
func (f *KeyForm) expiresAt(now time.Time) *time.Time {
	lifetime := f.Expires
	if lifetime == 0 && f.Mode == Live {
		lifetime = LiveLifetime
	}
	if lifetime <= 0 {
		return nil
	}
	at := now.Add(lifetime)
	return &at
}

// takeExpiringSQL returns the entity of each live key for which a notice is due that was
// not given yet. Of two concurrent calls, one returns it.
const takeExpiringSQL = `WITH due AS (
		SELECT e.id, min(d.days) AS days FROM api_key e JOIN unnest($2::integer[]) AS d (days)
			ON e.expires_at - d.days * interval '1 day' BETWEEN e.created_at AND $1
		WHERE e.mode = 'live' AND e.revoked_at IS NULL AND e.expires_at > $1
		  AND NOT EXISTS (SELECT FROM api_key s WHERE s.replaces = e.id) GROUP BY e.id
	)
	UPDATE api_key k SET expiry_notice = due.days FROM due
	WHERE k.id = due.id AND (k.expiry_notice IS NULL OR k.expiry_notice > due.days) RETURNING k.entity_id`

// TakeExpiring returns the entities that must be notified now that a live key of theirs
// expires, each once, and records that they were. A key with a successor, and one whose
// whole lifetime is shorter than the notice, needs none.
func (s *Service) TakeExpiring(ctx context.Context, tx pg.Tx) ([]uuid.UUID, error) {
	entities, err := pg.Collect(ctx, tx, pgx.RowTo[uuid.UUID], takeExpiringSQL, s.now(), noticeDays)
	if err != nil {
		return nil, fmt.Errorf("access: find keys that expire: %w", err)
	}
	slices.SortFunc(entities, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(entities), nil
}

// ExpiringKeys returns the live keys of an entity that expire within the longest notice
// and have no successor, the first to expire first.
func (s *Service) ExpiringKeys(ctx context.Context, entity uuid.UUID) ([]KeyRow, error) {
	keys, err := s.Keys(ctx, entity)
	if err != nil {
		return nil, err
	}
	now := s.now()
	last := now.AddDate(0, 0, int(slices.Max(noticeDays)))
	keys = slices.DeleteFunc(keys, func(k KeyRow) bool {
		return k.Mode != Live || k.Rolled || k.ExpiresAt.IsZero() || !k.Active(now) || k.ExpiresAt.After(last)
	})
	slices.SortFunc(keys, func(a, b KeyRow) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	return keys, nil
}
