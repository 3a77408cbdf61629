package guard

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Enter counts numbers that an organisation puts into a watch-list or sends in a file as if it had verified
// them in this year, but does not judge them as a scan; [Guard.EnterFile] does. If it
// returns an error, the transaction must be rolled back. Nothing is ever given back. To enter
// no number is allowed with any budget: a list may always lose numbers.
func (g *Guard) Enter(ctx context.Context, tx pg.Tx, entity uuid.UUID, b Budget, numbers iter.Seq[phone.Number]) error {
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	o.mu.Lock()
	o.startDay(now)
	o.warm(&b)
	o.mu.Unlock()
	if reason := o.checkStopped(); reason != allowed {
		return reason.fault(&b, now)
	}
	if isEmpty(numbers) {
		return nil
	}
	hashes := func(yield func(uint64) bool) { numbers(func(n phone.Number) bool { return yield(g.hash(keyOf(n))) }) }
	for _, s := range []struct {
		of     *subject
		budget int64
		over   refusal
	}{{o, b.Year, overYear}, {o.sponsor.Load(), b.SponsorYear, overSponsorYear}} {
		if s.of == nil {
			continue
		}
		registers, err := addEntered(ctx, tx, enteredSubject{ID: s.of.id, IsSponsor: s.of.isSponsor}, yearOf(dayOf(now)), hashes)
		if err != nil {
			return err
		}
		if s.budget > 0 && s.of.overYear(registers, s.budget) {
			return s.over.fault(&b, now)
		}
	}
	return nil
}

// CheckStopped refuses work of an organisation that is stopped, or whose sponsor is.
func (g *Guard) CheckStopped(entity uuid.UUID, b Budget) error {
	return g.sponsored(entity, b.Sponsor).checkStopped().fault(&b, g.Now())
}

// overYear reports whether the year has more numbers than the budget, with those of a stored
// sketch.
func (o *subject) overYear(registers []byte, budget int64) bool {
	var all sketch.Counter
	o.mu.Lock()
	defer o.mu.Unlock()
	all.Merge(o.year.numbers.Registers(), yearBits)
	all.Merge(registers, yearBits)
	return o.year.refused.Over(all.Count(), budget)
}
