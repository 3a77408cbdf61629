package requests

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
	"github.com/lineproof/lineproof/internal/web/portal/operators"
)

// maxConflicts is how many conflicts the home page counts.
const maxConflicts = 100

// fillSupply fills in how a telco supplies: its state, its last file, conflicts about its
// numbers, and its client.
func (p *Pages) fillSupply(r *http.Request, d *HomeData) error {
	ctx, v := r.Context(), portal.VisitOf(r)
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	code, err := p.Access.NetworkOf(ctx, v.Client)
	if err != nil {
		return err
	}
	network, ok := rules.Plan.Network(code)
	if !ok {
		d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: "Your client may not supply lines of a network on the numbering plan. Ask the regulator.", Href: "/portal/supply"})
		return nil
	}
	list, err := p.Lines.NetworkStatuses(ctx, code, d.Now.AddDate(0, 0, -operators.SupplyDays))
	if err != nil {
		return err
	}
	standing := operators.NetworkStatusData(&list[0], rules.Policy)
	s := &Supply{
		Network: standing.Name, Through: standing.Through, Freshness: kit.Hours(rules.Policy.SIMFreshnessHours) + " for SIM changes, " + kit.Hours(rules.Policy.LifecycleFreshnessHours) + " for the rest",
		Late: standing.Late, Rejected: standing.Rejected, Days: operators.SupplyDays,
	}
	s.State, s.Tone = kit.SupplyWord(standing.Silent, standing.Through)
	switch {
	case standing.Through.IsZero():
		d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: "You have not supplied any lines yet", Href: "/portal/supply"})
	case standing.Silent:
		d.Attention = append(d.Attention, Attention{Tone: kit.Bad, Text: "Your supply is too old: your lines are answered as UNKNOWN", Href: "/portal/supply"})
	}
	if s.File, err = p.LastImport(r, rules, network, "/portal/supply/imports"); err != nil {
		return err
	}
	if s.File != nil && s.File.Held {
		d.Attention = append(d.Attention, Attention{Tone: kit.Warn, Text: "Your last file is held and waits for a decision", Href: s.File.Href})
	}
	events, err := p.Lines.OpenEvents(ctx, supply.OpenQuery{Network: code, Limit: maxConflicts})
	if err != nil {
		return err
	}
	s.Conflicts, s.MaxConflicts = len(events), len(events) == maxConflicts
	c, err := p.Access.Client(ctx, v.Client)
	if err != nil {
		return err
	}
	row := ClientRow{Name: c.Name, Scopes: strings.Join(c.Scopes, ", "), State: "Active", Tone: kit.Good, Secrets: c.Secrets, LastToken: c.LastTokenAt}
	switch {
	case c.Revoked:
		row.State, row.Tone = "Revoked", kit.Bad
	case c.Suspended:
		row.State, row.Tone = "Suspended", kit.Warn
	}
	s.Clients, s.Rotates = append(s.Clients, row), v.Has(portal.TelcoAdmin)
	d.Supply = s
	return nil
}
