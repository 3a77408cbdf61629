package httpapi

import (
	"context"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// supplierOf returns the supplier that a client is: it has every authority for
// which its token has the scope.
func supplierOf(who access.Principal) supply.Supplier {
	s := supply.Supplier{Network: who.Network, Client: who.Client, Actor: who.Actor()}
	for _, a := range []struct {
		scope access.Scope
		as    line.Authority
	}{{access.LineSupply, line.Operator}, {access.LinePort, line.ClearingHouse}, {access.LineFlag, line.Sector}} {
		if who.HasScope(a.scope) {
			s.Authorities = append(s.Authorities, a.as)
		}
	}
	return s
}

// operatorOf returns the network that an operator's client may see, and "" for
// the regulator's staff, who may see all networks. A client without a network is
// an error, so that it is not taken for staff.
func operatorOf(who access.Principal) (string, error) {
	if who.Kind == access.Session {
		return "", nil
	}
	if who.Network == "" {
		return "", supply.ErrNoNetwork
	}
	return who.Network, nil
}

// plan returns the current numbering plan.
func (a *API) plan(ctx context.Context) (*numbering.Plan, error) {
	_, plan, err := a.Lines.Lines.Current(ctx, a.Lines.Pool, a.Lines.Now())
	return plan, err
}
