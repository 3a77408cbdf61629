package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/policy"
)

// TermsOf returns the terms of the versions of the policy, which are in the order
// of their time. A row depends on those that were in effect when its events were
// reported, so that a new policy does not change it.
func TermsOf(versions []policy.Policy) TermsAt {
	terms := make([]Terms, len(versions))
	for i := range versions {
		p := &versions[i]
		terms[i] = Terms{SIMDeadline: p.SIMReport(), PortDeadline: p.PortReport(), Rest: p.Quarantine()}
	}
	return func(at time.Time) Terms {
		for i := len(versions) - 1; i > 0; i-- {
			if !at.Before(versions[i].EffectiveAt) {
				return terms[i]
			}
		}
		if len(terms) == 0 {
			return Terms{}
		}
		return terms[0]
	}
}
