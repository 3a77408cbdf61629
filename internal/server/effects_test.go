package server_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
)

// Every change that waits for a second person has its rule in the table, and every
// action of the table that takes two people can be carried out. Orders are carried out
// by their own package.
func TestTableOfActionsIsComplete(t *testing.T) {
	t.Parallel()
	effects := server.Effects(&people.People{Registry: &registry.Registry{}, Access: &access.Service{}}, &supply.Service{})
	listed := map[approval.Kind]bool{}
	for _, a := range approval.Actions {
		waits := a.Rule == approval.TwoPeople && !a.Order
		if listed[a.Kind] = waits; waits && effects[a.Kind] == nil {
			t.Errorf("%s is in the table and has no effect", a.Kind)
		}
	}
	for kind := range effects {
		if !listed[kind] {
			t.Errorf("%s has an effect and no rule in the table", kind)
		}
	}
}
