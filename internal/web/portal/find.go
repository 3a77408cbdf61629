package portal

import (
	"net/http"
	"strings"

	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// maxMatches is how many organisations are offered if several match a name.
const maxMatches = 20

// NoOrganisation is shown at the field of a name that no organisation has.
const NoOrganisation = "No organisation has this in its name. Check the spelling."

// FindOrganisation finds an organisation by a part of its name or CAC number: the only
// match, or the only one with exactly that name. If several match, they are
// returned to choose from.
func (p *Portal) FindOrganisation(r *http.Request, name string) (one kit.Option, several []kit.Option, err error) {
	found, err := p.Registry.Search(r.Context(), registry.EntityFilter{Text: name, Limit: maxMatches})
	if err != nil {
		return one, nil, err
	}
	var exact []kit.Option
	for i := range found.Entities {
		e := &found.Entities[i]
		several = append(several, kit.Option{Value: e.ID.String(), Label: e.Name, Hint: e.CAC + ", " + string(e.Status)})
		if strings.EqualFold(e.Name, name) {
			exact = append(exact, several[i])
		}
	}
	switch {
	case len(several) == 1:
		return several[0], nil, nil
	case len(exact) == 1:
		return exact[0], nil, nil
	}
	return one, several, nil
}

// maxSearchText is the longest text that is searched for; no name is longer.
const maxSearchText = 200

// SearchText returns the text to search for, cut to the length of a name.
func SearchText(typed string) string {
	typed = strings.TrimSpace(typed)
	if text := []rune(typed); len(text) > maxSearchText {
		return string(text[:maxSearchText])
	}
	return typed
}
