package organisations

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const entityMandatesPath = "/portal/desk/entities/{entity}/mandates"

// mandateRoutes are the pages of the mandates of an agent.
func (p *Pages) mandateRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return append([]portal.Route{
		{Method: get, Path: entityMandatesPath, Right: portal.Staff, Serve: p.ShowForm(p.mandates)},
		{Method: post, Path: entityMandatesPath, Right: portal.Administrator, Action: stepup.ChangeEntity, Serve: p.addMandate},
	}, portal.Actions(p.Portal, p.pathMandate, portal.Action[entityMandate]{
		Path: "/portal/desk/entities/{entity}/mandates/{mandate}/end", Right: portal.Administrator, Change: stepup.ChangeEntity, Ask: endMandateQuestion,
		Do: func(r *http.Request, v *portal.Visit, at *entityMandate) (string, error) {
			return "mandate.ended", p.Access.EndMandate(r.Context(), at.mandate.ID, v.Who.Actor(), v.ID)
		},
	})...)
}

// mandates is the page of the mandates of an organisation.
func (p *Pages) mandates(r *http.Request, form kit.Form) (page kit.Page, _ templ.Component, err error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return page, nil, err
	}
	page, frame := entityFrame(r, &e, "/mandates")
	d := MandatesData{EntityFrame: frame, Form: form, Action: r.URL.Path, MaxPrincipal: access.MaxPrincipal, Now: p.Now()}
	list, err := p.Access.Mandates(r.Context(), e.ID)
	if err != nil {
		return page, nil, err
	}
	rules, err := policy.Current(r.Context(), p.Pool, p.Now())
	if err != nil {
		return page, nil, err
	}
	for _, code := range rules.PurposeCodes() {
		d.Purposes = append(d.Purposes, kit.Option{Value: code, Label: code})
	}
	slices.Reverse(list)
	d.Rows = list
	return page, Mandates(d), nil
}

// addMandate serves POST /portal/desk/entities/{entity}/mandates.
func (p *Pages) addMandate(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	f := access.MandateForm{Entity: e.ID, Principal: portal.OneLine(r.PostFormValue("principal")), Document: portal.OneLine(r.PostFormValue("document")), Purposes: r.PostForm["purpose"]}
	f.Until, _ = web.ParseFormTime(r.PostFormValue("until")) // a time that is none is in no future
	_, err = p.Access.AddMandate(r.Context(), f, v.Who.Actor(), v.ID)
	return p.EndForm(w, r, err, p.mandates, portal.EntityURL(e.ID)+"/mandates", "mandate.added")
}

// entityMandate is an organisation and a mandate of it.
type entityMandate struct {
	registry.EntityDetails

	mandate access.Mandate
}

// pathMandate returns the mandate that the path names, and its organisation.
func (p *Pages) pathMandate(r *http.Request) (at entityMandate, err error) {
	if at.EntityDetails, err = p.pathEntity(r); err != nil {
		return at, err
	}
	id, err := portal.PathID(r, "mandate")
	if err != nil {
		return at, err
	}
	list, err := p.Access.Mandates(r.Context(), at.ID)
	if err != nil {
		return at, err
	}
	for i := range list {
		if list[i].ID == id && id != uuid.Nil {
			at.mandate = list[i]
			return at, nil
		}
	}
	return at, portal.ErrNotFound
}

func endMandateQuestion(at *entityMandate, _ kit.Form) kit.ConfirmData {
	return kit.ConfirmData{
		Title: "End mandate", Crumbs: entityCrumbs(&at.EntityDetails), Label: "End mandate", Kind: kit.Danger, Cancel: portal.EntityURL(at.ID) + "/mandates",
		Text: at.Name + " can no longer ask on behalf of " + at.mandate.Principal + ": within five seconds every node refuses such requests. It cannot be undone; record another mandate instead.",
	}
}
