// Package numbers has the pages of staff about lines: the history of a number, orders about
// it, events that are held or in conflict, and who asked about a number.
// The rules by which a line is answered are in package rules.
package numbers

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
)

// Pages serves the pages of the regulator's staff about lines. All fields are required.
type Pages struct {
	operators.Supply

	Approvals *approval.Service
	WhoAsked  *whoasked.Service
	Region    *phone.Region
}

// Routes returns the routes of these pages. All staff may look; each route names
// who may change something.
func (p *Pages) Routes() []portal.Route {
	return slices.Concat(p.numberRoutes(), p.orderRoutes(), p.conflictRoutes(), p.askedRoutes())
}

func (p *Pages) orders() *order.Service { return &order.Service{Supply: p.Lines} }

// regulator is the visitor as somebody who gives orders.
func regulator(v *portal.Visit) supply.Supplier {
	return supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: v.Who.Actor()}
}
