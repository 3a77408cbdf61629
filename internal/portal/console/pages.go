// Package console serves the pages on which the people of an organisation follow the
// requests of its applications: what was refused and why, and how much was used.
package console

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/webhook"
)

// Pages serves the pages. All fields are required.
type Pages struct {
	present.Supply

	Peppers   *secret.Peppers
	Region    *phone.Region
	Documents *document.Store
	Tally     *tally.Tally
	Webhooks  *webhook.Service
}

const (
	homePath      = "/portal/home"
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
		{Method: get, Path: usageKeysPath, Right: portal.OrgMember, Serve: p.showUsageByKey},
		{Method: get, Path: usageCSVPath, Right: portal.OrgMember, Serve: p.exportUsage},
		{Method: get, Path: requestsPath, Right: portal.OrgMember, Serve: p.showRequests},
		{Method: post, Path: requestsPath, Right: portal.OrgMember, Serve: p.findByNumber},
		{Method: get, Path: correctionsPath, Right: portal.OrgMember, Serve: p.showCorrections},
		{Method: post, Path: correctionsPath, Right: portal.OrgMember, Serve: p.acknowledge},
		{Method: get, Path: requestPath, Right: portal.OrgMember, Serve: p.showRequest},
	}
}
