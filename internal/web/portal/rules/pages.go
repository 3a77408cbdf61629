// Package rules has the pages of the rules that staff set: the policy, the numbering plan, and
// the limits of organisations with the alerts about them.
package rules

import (
	"slices"

	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. Both fields are required.
type Pages struct {
	*portal.Portal

	Approvals *approval.Service
}

// Routes returns the routes of these pages. All staff may look; each route names who may
// change something.
func (p *Pages) Routes() []portal.Route {
	return slices.Concat(p.policyRoutes(), p.planRoutes(), p.limitRoutes())
}
