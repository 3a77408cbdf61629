package registry

import (
	"context"
	"fmt"
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/registry/internal/db"
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
func (r *Registry) checkOnboardings(ctx context.Context, q *db.Queries, by Onboarder, now time.Time) error {
	if r.Onboardings <= 0 && !by.Sole {
		return nil
	}
	client := by.Client
	if err := q.LockOnboardings(ctx, client.String()); err != nil {
		return fmt.Errorf("registry: lock the onboardings of a client: %w", err)
	}
	if by.Sole {
		switch n, err := q.CountOnboarded(ctx, db.CountOnboardedParams{ClientID: pg.ID(client)}); {
		case err != nil:
			return fmt.Errorf("registry: look for the entity of a client: %w", err)
		case n > 0:
			return ErrSole
		}
		return nil
	}
	today := now.UTC().Truncate(24 * time.Hour)
	n, err := q.CountOnboarded(ctx, db.CountOnboardedParams{ClientID: pg.ID(client), Since: today})
	if err != nil {
		return fmt.Errorf("registry: count the onboardings of a client: %w", err)
	}
	if n < int64(r.Onboardings) {
		return nil
	}
	renews := today.Add(24 * time.Hour)
	f := fault.New(fault.QuotaExceeded, fmt.Sprintf(
		"This client has onboarded %d entities today, which is the limit of a day. It renews at %s; the regulator can allow more.", n, renews.Format(time.RFC3339)))
	f.RetryAfter = renews.Sub(now).Truncate(time.Second) + time.Second
	return f
}
