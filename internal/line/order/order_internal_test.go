package order

import (
	"testing"

	"github.com/lineproof/lineproof/internal/regulator/approval"
)

// Every order has a rule in the table, and those of the table are all orders. Dated into
// the past, or about an event of a mass change, each takes two people.
func TestEveryOrderHasARule(t *testing.T) {
	t.Parallel()
	reached := map[approval.Kind]bool{}
	for action := range orderKinds {
		for _, dated := range []bool{false, true} {
			for _, share := range []bool{false, true} {
				kind := kindOf(action, dated, share)
				reached[kind] = true
				a := approval.ActionOf(kind)
				if !a.Order || a.What == "" {
					t.Errorf("%s: %s is not in the table", action, kind)
				}
				want := approval.TwoPeople
				switch {
				case action == "BAR" && !dated && !share: // again it takes two
					want = approval.ConfirmLater
				case action == "CONFIRM" && !share:
					want = approval.OnePerson
				}
				if a.Rule != want {
					t.Errorf("%s, dated %v, of a mass change %v: %q, want %q", action, dated, share, a.Rule, want)
				}
			}
		}
	}
	for _, a := range approval.Actions {
		if a.Order && !reached[a.Kind] {
			t.Errorf("%s is in the table and no order", a.Kind)
		}
	}
}
