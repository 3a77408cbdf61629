package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The sponsor of an entity answers for it: the client that onboarded it, whose
// credential is the pre-approval, or the regulator itself for an entity that its
// staff or the operator created. Entities that are approved without anybody looking
// at them must not be free: a client onboards only so many on a day, and the guard
// counts them together.

// ErrSole reports a client that belongs to the organisation that it has onboarded, and
// would onboard another.
var ErrSole = fault.New(fault.PermissionDenied, "This client onboards one organisation, its own, and has done so. Ask the regulator for a client that onboards others.")

// checkOnboardings returns an error if the client has onboarded as many entities
// today as it may, or the one to which it belongs. It serialises the onboardings of one
// client, so that concurrent ones cannot exceed the limit.
func (r *Registry) checkOnboardings(ctx context.Context, tx pg.Tx, by Onboarder, now time.Time) error {
	if r.Onboardings <= 0 && !by.Sole {
		return nil
	}
	client := by.Client
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof onboardings ' || $1::text, 0))`, client.String()); err != nil {
		return fmt.Errorf("registry: lock the onboardings of a client: %w", err)
	}
	if by.Sole {
		switch n, err := countOnboarded(ctx, tx, client, time.Time{}); {
		case err != nil:
			return fmt.Errorf("registry: look for the entity of a client: %w", err)
		case n > 0:
			return ErrSole
		}
		return nil
	}
	today := now.UTC().Truncate(24 * time.Hour)
	n, err := countOnboarded(ctx, tx, client, today)
	if err != nil {
		return fmt.Errorf("registry: count the onboardings of a client: %w", err)
	}
	if n < r.Onboardings {
		return nil
	}
	renews := today.Add(24 * time.Hour)
	f := fault.New(fault.QuotaExceeded, fmt.Sprintf(
		"This client has onboarded %d entities today, which is the limit of a day. It renews at %s; the regulator can allow more.", n, renews.Format(time.RFC3339)))
	f.RetryAfter = renews.Sub(now).Truncate(time.Second) + time.Second
	return f
}

// countOnboarded counts the entities that a client has onboarded since a time.
func countOnboarded(ctx context.Context, tx pg.Tx, client uuid.UUID, since time.Time) (n int, err error) {
	err = tx.QueryRow(ctx, `SELECT count(*) FROM entity WHERE client_id = $1 AND created_at >= $2`, pg.ID(client), since).Scan(&n)
	return n, err
}
