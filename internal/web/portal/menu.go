package portal

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// menuEntry is one entry of the menu.
type menuEntry struct{ group, label, path string }

// menuEntries is the whole menu, in its order. An entry is shown to the visitors
// who may open its page, so the rights are in the route table only, and an entry
// without a page is not shown.
var menuEntries = []menuEntry{
	{"", "Home", "/portal/home"},
	{"", "Home", "/portal/desk/home"},
	{"", "Usage", "/portal/overview"},
	{"", "API settings", "/portal/keys"},
	{"", "Webhooks", "/portal/webhooks"},
	{"", "Files", "/portal/files"},
	{"", "Try it", "/portal/try"},
	{"", "Requests", "/portal/requests"},
	{"", "Journal", "/portal/journal"},
	{"", "Corrected answers", "/portal/corrections"},
	{"", "Verify receipt", "/portal/receipts"},
	{"", "Documents", "/portal/documents"},
	{"", "Supply", "/portal/supply"},
	{"", "API client", "/portal/client"},
	{"Organisation", "Team", "/portal/team"},
	{"Organisation", "Profile", "/portal/profile"},

	{"", "Organisations", "/portal/desk/entities"},
	{"", "Clients", "/portal/desk/clients"},
	{"", "Document review", "/portal/desk/documents"},
	{"", "Approvals", "/portal/desk/approvals"},
	{"Numbers", "Number history", "/portal/desk/numbers"},
	{"Numbers", "Conflicts", "/portal/desk/conflicts"},
	{"Numbers", "Supply board", "/portal/desk/supply"},
	{"Numbers", "Numbering plan", "/portal/desk/plan"},
	{"Numbers", "Policy", "/portal/desk/policy"},
	{"Oversight", "Journal search", "/portal/desk/journal"},
	{"Oversight", "Who asked", "/portal/desk/who-asked"},
	{"Oversight", "Limits and alerts", "/portal/desk/limits"},
	{"Oversight", "Lists and files", "/portal/desk/watch"},
	{"Oversight", "Notices", "/portal/desk/notices"},
	{"Oversight", "Audit trail", "/portal/desk/audit"},
	{"Oversight", "Staff", "/portal/desk/staff"},

	{"You", "Messages", messagesPath},
	{"You", "Security", securityPath},
}

// menu returns the entries for a visitor. Active is the path of the shown page, or
// of the entry to which it belongs; counts are by path.
func (p *Portal) menu(v *Visit, active string, counts map[string]int) []kit.MenuGroup {
	var groups []kit.MenuGroup
	best := ""
	open := p.openEntries(v)
	for _, at := range open {
		if (active == at.path || strings.HasPrefix(active, at.path+"/")) && len(at.path) > len(best) {
			best = at.path
		}
	}
	for _, at := range open {
		i := slices.IndexFunc(groups, func(g kit.MenuGroup) bool { return g.Label == at.group })
		if i < 0 {
			groups, i = append(groups, kit.MenuGroup{Label: at.group}), len(groups)
		}
		groups[i].Items = append(groups[i].Items, kit.MenuItem{Label: at.label, Href: at.path, Active: at.path == best, Count: counts[at.path]})
	}
	return groups
}

// counts returns how many things wait behind entries of the menu, by path. A count that
// cannot be read is left out: the page itself is worth more.
func (p *Portal) counts(ctx context.Context, v *Visit) map[string]int {
	all := map[string]int{}
	var err error
	if p.Waiting != nil && !v.Who.Limited {
		if all, err = p.Waiting(ctx, v); err != nil {
			p.Log.LogAttrs(ctx, slog.LevelWarn, "a page is shown without the counts of its menu", slog.String("error", err.Error()))
			all = map[string]int{}
		}
	}
	if all[messagesPath], err = message.Unread(ctx, p.Pool, v.Who.Account); err != nil {
		p.Log.LogAttrs(ctx, slog.LevelWarn, "a page is shown without the number of unread messages", slog.String("error", err.Error()))
	}
	return all
}

// Opens reports whether there is a page at a path that the visitor may open.
func (p *Portal) Opens(v *Visit, path string) bool {
	return slices.ContainsFunc(p.RouteTable(), func(rt Route) bool { return rt.Method == http.MethodGet && rt.Path == path && v.Has(rt.Right) })
}

// openEntries returns the entries whose pages a visitor may open.
func (p *Portal) openEntries(v *Visit) []menuEntry {
	var open []menuEntry
	routes := p.RouteTable()
	for _, at := range menuEntries {
		i := slices.IndexFunc(routes, func(rt Route) bool { return rt.Method == http.MethodGet && rt.Path == at.path })
		if i >= 0 && v.Has(routes[i].Right) && (!v.Who.Limited || routes[i].Limited) {
			open = append(open, at)
		}
	}
	return open
}
