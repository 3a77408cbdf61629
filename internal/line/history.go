package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/policy"
)

// History is everything that was reported about a number.
type History struct {
	Base   *Baseline // nil when the row has only events
	Events []Event   // in the order in which they were reported
}

// Row returns the row that results from the history.
func (h *History) Row(terms TermsAt) Row {
	r, _ := Fold(h, terms, Forever)
	return r
}

// Forever is later than every event.
const Forever Instant = 1<<31 - 1

// TermsOf returns the terms of the versions of the policy, which are in the order
// of their time. A row depends on those that were in effect when its events were
// reported, so that a new policy does not change it.
func TermsOf(versions []policy.Policy) TermsAt {
	return func(at time.Time) Terms {
		for i := range slices.Backward(versions) {
			if p := &versions[i]; i == 0 || !at.Before(p.EffectiveAt) {
				return Terms{Rest: p.Quarantine()}
			}
		}
		return Terms{}
	}
}
