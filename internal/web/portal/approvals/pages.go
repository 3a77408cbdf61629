// Package approvals has the pages of what staff decide and did: actions that need a second
// person, and the audit trail.
package approvals

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	*portal.Portal

	Lines     *supply.Service // of which the orders are
	Approvals *approval.Service
}

// Routes returns the routes of these pages. All staff may look; each route names who may
// change something.
func (p *Pages) Routes() []portal.Route { return slices.Concat(p.approvalRoutes(), p.auditRoutes()) }
