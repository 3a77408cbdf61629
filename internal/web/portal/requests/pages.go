// Package requests has the pages on which the people of an organisation follow the requests of
// its applications: its home, what was refused and why, and how much was used.
package requests

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	operators.Supply

	Peppers   *secret.Peppers
	Region    *phone.Region
	Documents *document.Store
	Tally     *tally.Tally
	Webhooks  *webhook.Service
}

const (
	homePath      = "/portal/home"
	overviewPath  = "/portal/overview"
	usageKeysPath = "/portal/overview/keys"
	usageCSVPath  = "/portal/export/usage.csv"
	requestsPath  = "/portal/requests"

	correctionsPath = "/portal/corrections"

	requestPath = "/portal/requests/{refused}"
)

// Routes returns the routes of these pages.
func (p *Pages) Routes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: homePath, Right: portal.OrgMember, Serve: p.showHome},
		{Method: get, Path: overviewPath, Right: portal.OrgMember, Serve: p.showOverview},
		{Method: get, Path: usageKeysPath, Right: portal.OrgMember, Serve: p.showUsageByKey},
		{Method: get, Path: usageCSVPath, Right: portal.OrgMember, Serve: p.exportUsage},
		{Method: get, Path: requestsPath, Right: portal.OrgMember, Serve: p.showRequests},
		{Method: post, Path: requestsPath, Right: portal.OrgMember, Action: stepup.Search, Serve: p.findByNumber},
		{Method: get, Path: correctionsPath, Right: portal.OrgMember, Serve: p.showCorrections},
		{Method: post, Path: correctionsPath, Right: portal.OrgMember, Action: stepup.Acknowledge, Serve: p.acknowledge},
		{Method: get, Path: requestPath, Right: portal.OrgMember, Serve: p.showRequest},
	}
}
