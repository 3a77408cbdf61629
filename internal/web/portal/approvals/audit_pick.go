package approvals

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// maxPicked is how many names that fit are offered; with more, the name must be typed
// further.
const maxPicked = 20

// pickTrail serves POST /portal/desk/audit: it finds the organisation and the person by
// their names, and redirects to the address of the filters with their ids. A name that fits
// several makes the page ask which is meant.
func (p *Pages) pickTrail(w http.ResponseWriter, r *http.Request) error {
	typed := url.Values{}
	for _, field := range []string{"entity", "actor", "by", "action", "from", "to", "subject", "request", "organisation", "person"} {
		if text := strings.TrimSpace(r.PostFormValue(field)); text != "" {
			typed.Set(field, text)
		}
	}
	form := kit.Form{Values: typed}
	organisations, err := p.fittingOrganisations(r, typed.Get("organisation"))
	if err != nil {
		return err
	}
	people, err := p.fittingPeople(r, typed.Get("person"))
	if err != nil {
		return err
	}
	d := AuditData{Actions: trailActions(typed.Get("action")), Max: maxExported}
	d.Organisations = pick(&form, "organisation", "entity", "organisation", organisations)
	d.People = pick(&form, "person", "actor", "person", people)
	if form.Wrong() || len(d.Organisations)+len(d.People) > 0 {
		if err := p.pickedNames(r, typed, &d); err != nil {
			return err
		}
		if d.Form = form; form.Wrong() {
			return p.ShowStatus(w, r, http.StatusUnprocessableEntity, trailPage, Audit(d))
		}
		return p.Show(w, r, trailPage, Audit(d))
	}
	typed.Del("organisation")
	typed.Del("person")
	http.Redirect(w, r, auditPath+"?"+typed.Encode(), http.StatusSeeOther)
	return nil
}

// pick sets the id of the only one whose name fits, or returns those to choose from.
func pick(form *kit.Form, field, id, what string, fitting []kit.Option) []kit.Option {
	switch {
	case form.Value(field) == "":
		return nil
	case len(fitting) == 1:
		form.Values.Set(id, fitting[0].Value)
		return nil
	}
	portal.AddFieldError(form, len(fitting) > 0, field, "No "+what+" has this in its name.")
	portal.AddFieldError(form, len(fitting) <= maxPicked, field, "Too many names have this in them. Type more of it.")
	if len(fitting) > maxPicked {
		return nil
	}
	return fitting
}

func (p *Pages) fittingOrganisations(r *http.Request, text string) (options []kit.Option, err error) {
	if text == "" {
		return nil, nil
	}
	found, err := p.Registry.Search(r.Context(), registry.EntityFilter{Text: text, Limit: maxPicked + 1})
	for i := range found.Entities {
		e := &found.Entities[i]
		if strings.EqualFold(e.Name, text) && !sameName(found.Entities, e.ID, e.Name) {
			return []kit.Option{{Value: e.ID.String(), Label: e.Name}}, nil
		}
		options = append(options, kit.Option{Value: e.ID.String(), Label: e.Name + ", " + e.CAC})
	}
	return options, err
}

// sameName reports whether another organisation has the name, too.
func sameName(list []registry.EntityDetails, but uuid.UUID, name string) bool {
	for i := range list {
		if list[i].ID != but && strings.EqualFold(list[i].Name, name) {
			return true
		}
	}
	return false
}

func (p *Pages) fittingPeople(r *http.Request, text string) (options []kit.Option, err error) {
	found, err := p.Registry.FindPeople(r.Context(), text, maxPicked+1)
	for _, n := range found {
		label := n.Name.String()
		if n.Name.Role != "" {
			label += ", " + n.Name.Role
		}
		options = append(options, kit.Option{Value: n.ID.String(), Label: label})
	}
	return options, err
}

// pickedNames fills in the names behind the ids of the filters, which are in q.
func (p *Pages) pickedNames(r *http.Request, q url.Values, d *AuditData) error {
	entity, actor := idOf(q, "entity"), idOf(q, "actor")
	names, err := p.NamesOf(r.Context(), []audit.Actor{{Kind: audit.Client, ID: actor}}, entity)
	if err != nil {
		return err
	}
	without := func(field string) string {
		rest := maps.Clone(q)
		for _, name := range []string{field, "after", "organisation", "person"} { // a typed name is in no address
			rest.Del(name)
		}
		return auditPath + "?" + rest.Encode()
	}
	if entity != uuid.Nil {
		d.Organisation, d.WithoutEntity = names.Called(entity, entity.String()), without("entity")
	}
	if actor != uuid.Nil {
		d.Person, d.WithoutWho = names.Called(actor, names.Name(audit.Actor{Kind: audit.Client, ID: actor})), without("actor")
	}
	return nil
}

// idOf returns the id of a filter; the zero id for none, and for one that is invalid.
func idOf(q url.Values, field string) uuid.UUID {
	id, err := uuid.Parse(strings.TrimSpace(q.Get(field)))
	if err != nil {
		return uuid.Nil
	}
	return id
}
