package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
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

// TakeExpiring returns the entities that must be notified now that a live key of theirs
// expires, each once, and records that they were. A key with a successor, and one whose
// whole lifetime is shorter than the notice, needs none.
func (s *Service) TakeExpiring(ctx context.Context, tx pg.Tx) ([]uuid.UUID, error) {
	entities, err := db.New(tx).TakeExpiring(ctx, db.TakeExpiringParams{Now: s.now(), Days: noticeDays})
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
