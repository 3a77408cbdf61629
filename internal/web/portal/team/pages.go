// Package team has the pages of people: those of an organisation, as its admins see them, and
// the regulator's staff.
package team

import (
	"net/http"
	"slices"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// Pages serves the pages. Both fields are required.
type Pages struct {
	*portal.Portal

	Approvals *approval.Service
}

const (
	teamPath       = "/portal/team"
	teamInvitePath = "/portal/team/{account}/invite"
	teamRolePath   = "/portal/team/{account}/role"
	teamKeysPath   = "/portal/team/{account}/keys"
	teamSupplyPath = "/portal/team/{account}/supply"
	teamRemovePath = "/portal/team/{account}/remove"
	teamUnlockPath = "/portal/team/{account}/unlock"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return slices.Concat(p.teamActions(), p.staffRoutes(), []portal.Route{
		{Method: get, Path: teamPath, Right: portal.OrgAdmin, Serve: p.ShowForm(p.team)},
		{Method: post, Path: teamPath, Right: portal.OrgAdmin, Action: stepup.Invite, Serve: p.invite},
		{Method: post, Path: teamInvitePath, Right: portal.OrgAdmin, Action: stepup.Invite, Serve: p.inviteAgain},
	})
}
