package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/portal/view"
)

// place is an entry of the menu.
type place struct{ group, label, path string }

// places is the whole menu, in its order. An entry is shown to whoever may open
// its page, so who that is stands in the route table alone, and a page that is
// not there is not listed.
var places = []place{
	{"", "Overview", "/portal/overview"},
	{"", "API settings", "/portal/keys"},
	{"", "Try it", "/portal/try"},
	{"", "Journal", "/portal/journal"},
	{"", "Documents", "/portal/documents"},
	{"", "Supply", "/portal/supply"},
	{"Organisation", "Team", "/portal/team"},
	{"Organisation", "Profile", "/portal/profile"},

	{"", "Entities", "/portal/desk/entities"},
	{"", "Clients", "/portal/desk/clients"},
	{"", "Document review", "/portal/desk/documents"},
	{"", "Approvals", "/portal/desk/approvals"},
	{"Numbers", "A number's life", "/portal/desk/numbers"},
	{"Numbers", "Supply board", "/portal/desk/supply"},
	{"Numbers", "Numbering plan", "/portal/desk/plan"},
	{"Oversight", "Journal search", "/portal/desk/journal"},
	{"Oversight", "Limits and alerts", "/portal/desk/limits"},
	{"Oversight", "Audit trail", "/portal/desk/audit"},
	{"Oversight", "Staff", "/portal/desk/staff"},

	{"You", "Security", securityPath},
}

// menu returns the entries for a visitor. Active is the path of the page that is
// shown, or of the entry to which it belongs.
func (p *Portal) menu(v *visit, active string) []view.MenuGroup {
	var groups []view.MenuGroup
	best := ""
	open := p.open(v)
	for _, at := range open {
		if (active == at.path || strings.HasPrefix(active, at.path+"/")) && len(at.path) > len(best) {
			best = at.path
		}
	}
	for _, at := range open {
		i := slices.IndexFunc(groups, func(g view.MenuGroup) bool { return g.Label == at.group })
		if i < 0 {
			groups, i = append(groups, view.MenuGroup{Label: at.group}), len(groups)
		}
		groups[i].Items = append(groups[i].Items, view.MenuItem{Label: at.label, Href: at.path, Active: at.path == best})
	}
	return groups
}

// open returns the places that a visitor may open.
func (p *Portal) open(v *visit) []place {
	var open []place
	routes := p.routes()
	for _, at := range places {
		i := slices.IndexFunc(routes, func(rt route) bool { return rt.method == http.MethodGet && rt.path == at.path })
		if i >= 0 && v.has(routes[i].who) && (!v.who.Limited || routes[i].limited) {
			open = append(open, at)
		}
	}
	return open
}
