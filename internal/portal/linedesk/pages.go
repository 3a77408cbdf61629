// Package linedesk serves the pages of the regulator's staff about lines: the history of
// a number, orders about it, events that are held or in conflict, the policy, and who
// asked about a number.
package linedesk

import (
	"slices"

	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/order"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/whoasked"
)

// Pages serves the pages of the regulator's staff about lines. All fields are required.
type Pages struct {
	present.Supply

	Approvals *approval.Service
	WhoAsked  *whoasked.Service
	Region    *phone.Region
}

// Routes returns the routes of these pages. All staff may look; each route names
// who may change something.
func (p *Pages) Routes() []portal.Route {
	return slices.Concat(p.numberRoutes(), p.orderRoutes(), p.conflictRoutes(), p.policyRoutes(), p.askedRoutes())
}

func (p *Pages) orders() *order.Service { return &order.Service{Supply: p.Lines} }

// regulator is the visitor as somebody who gives orders.
func regulator(v *portal.Visit) supply.Supplier {
	return supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: v.Who.Actor()}
}
