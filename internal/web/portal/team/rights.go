package team

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// memberRight is a right of members, and the page on which an admin gives or withdraws it.
type memberRight struct {
	right           registry.MemberRight
	title, field    string // of the page, and the field of its form
	give, withdraw  string // labels
	given, withheld string // what the person can then do, or no longer do
	flash           string
	has             func(a *registry.Account) bool
}

var (
	keyRight = memberRight{
		right: registry.MakesKeys, title: "Live keys", field: "makesKeys",
		give: "Allow live keys", withdraw: "Withdraw live keys", flash: "team.keys", has: func(a *registry.Account) bool { return a.MakesKeys },
		given:    "can then create and roll live keys, once their account is complete.",
		withheld: "can no longer create or roll live keys. Keys that this person generated stay active.",
	}
	supplyRight = memberRight{
		right: registry.Supplies, title: "Supply", field: "supplies",
		give: "Allow supply", withdraw: "Withdraw supply", flash: "team.supply", has: func(a *registry.Account) bool { return a.Supplies },
		given:    "can then send files of lines, which change what everybody is told about them, and confirm that a held file is intentional, once their account is complete.",
		withheld: "can no longer send files of lines or confirm that a held file is intentional. Files that this person sent stay as they are.",
	}
)

func (m *memberRight) question(a *registry.Account, _ kit.Form) kit.ConfirmData {
	q := kit.ConfirmData{
		Title: m.title, Crumbs: teamCrumb, Text: a.Name + " (" + a.Email + ") " + m.given, Label: m.give, Kind: kit.Primary, Cancel: teamPath, Extra: kit.Hidden(m.field, "yes"),
	}
	if m.has(a) {
		q.Text = a.Name + " (" + a.Email + ") " + m.withheld
		q.Label, q.Extra = m.withdraw, kit.Hidden(m.field, "no")
	}
	return q
}

// changeRight gives or withdraws a right.
func (p *Pages) changeRight(m *memberRight) func(*http.Request, *portal.Visit, *registry.Account) (string, error) {
	return func(r *http.Request, v *portal.Visit, a *registry.Account) (string, error) {
		return m.flash, p.People.SetRight(r.Context(), a.ID, m.right, r.PostFormValue(m.field) == "yes", v.Who, v.ID)
	}
}
