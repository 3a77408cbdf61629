// Package organisations has the pages of organisations, and of the clients that onboard them.
package organisations

import (
	"net/http"
	"slices"

	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	*portal.Portal

	Documents *document.Store
	Approvals *approval.Service
	Tally     *tally.Tally
}

const profilePath = "/portal/profile"

// Routes returns the routes of these pages. All staff may look; each route names who may
// change something.
func (p *Pages) Routes() []portal.Route {
	return slices.Concat(p.entityRoutes(), p.mandateRoutes(), p.clientRoutes(), (&OwnPages{p.Portal}).Routes(), []portal.Route{
		{Method: http.MethodGet, Path: profilePath, Right: portal.OrgMember, Serve: p.showProfile},
	})
}
