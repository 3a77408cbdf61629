package httpapi

import (
	"context"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/supply"
)

// speakerOf returns in whose name a client tells what happened to lines: in that
// of every authority for which its token has the scope.
func speakerOf(who access.Principal) supply.Speaker {
	s := supply.Speaker{Network: who.Network, Client: who.Client, Actor: who.Actor()}
	for _, a := range []struct {
		scope access.Scope
		as    line.Authority
	}{{access.LineSupply, line.Operator}, {access.LinePort, line.ClearingHouse}, {access.LineFlag, line.Sector}} {
		if who.May(a.scope) {
			s.Authorities = append(s.Authorities, a.as)
		}
	}
	return s
}

// operatorOf returns the network that an operator's client may see, and "" for
// the regulator's staff, who may see all of them. A client without a network is
// not taken for staff.
func operatorOf(who access.Principal) (string, error) {
	if who.Kind == access.Session {
		return "", nil
	}
	if who.Network == "" {
		return "", supply.ErrNoNetwork
	}
	return who.Network, nil
}

// plan returns the numbering plan that is in force.
func (a *API) plan(ctx context.Context) (*numbering.Plan, error) {
	_, plan, err := a.Lines.Lines.InForce(ctx, a.Lines.Pool, a.Lines.Now())
	return plan, err
}
