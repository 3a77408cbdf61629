package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// The budgets of numbers of a new organisation grow from a share of them to the whole,
// with its age, and those of a sponsor with the age of the client. An organisation that
// a client onboarded has only a share until staff have accepted a document of it: until
// then nobody of the regulator has looked at it. The policy has the shares. Budgets that
// staff set for an organisation are as they are.

// leastBudget is the part of its budgets that every organisation has from the beginning.
const leastBudget = 1_000

// whole is a budget in the unit of [warmUp.held].
const whole = 10_000

// newcomer is an organisation or a client whose budgets may not be whole yet.
type newcomer struct {
	since   time.Time
	vouched bool // staff created it or accepted a document of it; true for a client
}

// warmUp is by which rules budgets grow, and for whom.
type warmUp struct {
	days              int // until a budget is whole
	start, unvouched  int // shares in percent: on the first day, and the largest without a document
	newcomers         map[uuid.UUID]newcomer
	readAt, readAllAt time.Time
}

// held returns how much of its budgets a subject does not have yet, in
// ten-thousandths.
func (w *warmUp) held(id uuid.UUID, now time.Time) int64 {
	n, ok := w.newcomers[id]
	if !ok {
		return 0
	}
	share := 100.0
	if age := max(now.Sub(n.since).Hours()/24, 0); age < float64(w.days) {
		share = float64(w.start) + float64(100-w.start)*age/float64(w.days)
	}
	if !n.vouched {
		share = min(share, float64(w.unvouched))
	}
	return whole - int64(share*whole/100)
}

// warmUpInterval is how often all newcomers are read; those that were created since
// are read with each Sync.
const warmUpInterval = time.Minute

// read returns the warm-up as it is stored.
func (w *warmUp) read(ctx context.Context, from pg.DB, now time.Time) (warmUp, error) {
	p, err := policy.Current(ctx, from, now)
	if errors.Is(err, policy.ErrNoVersion) {
		return *w, nil
	}
	if err != nil {
		return warmUp{}, fmt.Errorf("guard: read the policy: %w", err)
	}
	next := warmUp{days: p.WarmUpDays, start: p.WarmUpPercent, unvouched: p.UndocumentedPercent, readAt: now, readAllAt: w.readAllAt, newcomers: maps.Clone(w.newcomers)}
	since, all := w.readAt.Add(-time.Minute), now.Sub(w.readAllAt) >= warmUpInterval || next.days != w.days
	if all {
		next.newcomers, next.readAllAt, since = make(map[uuid.UUID]newcomer), now, now.AddDate(0, 0, -next.days)
	}
	var id uuid.UUID
	var n newcomer
	err = forEachRow(ctx, from, []any{&id, &n.since, &n.vouched}, func() { next.newcomers[id] = n },
		`SELECT e.id, e.created_at, e.client_id IS NULL OR d.accepted
		FROM entity e CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM document d WHERE d.entity_id = e.id AND (d.state = 'accepted'
				OR d.state = 'deleted' AND EXISTS (SELECT FROM document_move m WHERE m.document_id = d.id AND m.to_state = 'accepted'))) AS accepted) d
		WHERE e.asks AND (e.created_at > $1 OR $2 AND e.client_id IS NOT NULL AND NOT d.accepted)
		UNION ALL SELECT c.id, c.created_at, true FROM client c WHERE c.created_at > $1`, since, all)
	return next, err
}

// warm reduces the budgets of an organisation and of its sponsor to what they have of
// them. The caller holds the lock of the organisation.
func (o *subject) warm(b *Budget) {
	if held := o.held.Load(); held > 0 {
		b.reduce(&b.Numbers, held, b.OwnNumbers, b.Numbers)
		b.reduce(&b.Year, held, b.OwnYear, b.Year)
	}
	s := o.sponsor.Load()
	if s == nil {
		return
	}
	if held := s.held.Load(); held > 0 { // what staff allow one organisation, its sponsor has too
		b.reduce(&b.SponsorNumbers, held, b.OwnNumbers, b.Numbers)
		b.reduce(&b.SponsorYear, held, b.OwnYear, b.Year)
	}
}

// reduce reduces a budget, but to no less than what staff set.
func (b *Budget) reduce(budget *int64, held int64, isSet bool, set int64) {
	full := *budget
	*budget = warmed(full, held)
	if isSet && full > 0 {
		*budget = max(*budget, min(full, set))
	}
	b.growing = b.growing || *budget < full
}

func warmed(budget, held int64) int64 {
	if budget <= 0 {
		return budget
	}
	return max(budget*(whole-held)/whole, min(budget, leastBudget))
}
