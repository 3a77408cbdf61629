package desk

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/policy"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/web"
)

// The paths of the mandates of an agent.
const (
	entityMandatesPath   = "/portal/desk/entities/{entity}/mandates"
	entityMandateEndPath = "/portal/desk/entities/{entity}/mandates/{mandate}/end"
)

// mandateRoutes are the pages of the mandates of an agent.
func (p *Pages) mandateRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: entityMandatesPath, Right: portal.Staff, Serve: p.showMandates},
		{Method: post, Path: entityMandatesPath, Right: portal.Administrator, Prove: true, Serve: p.addMandate},
		{Method: get, Path: entityMandateEndPath, Right: portal.Administrator, Serve: p.confirmEndMandate},
		{Method: post, Path: entityMandateEndPath, Right: portal.Administrator, Prove: true, Serve: p.endMandate},
		{Method: get, Path: entityRequirePath, Right: portal.Administrator, Serve: p.confirmRequire},
		{Method: post, Path: entityRequirePath, Right: portal.Administrator, Prove: true, Serve: p.requireDocuments},
	}
}

// showMandates serves GET /portal/desk/entities/{entity}/mandates.
func (p *Pages) showMandates(w http.ResponseWriter, r *http.Request) error {
	e, err := p.pathEntity(r)
	if err != nil {
		return err
	}
	page, d, err := p.mandates(r, &e)
	if err != nil {
		return err
	}
	return p.Show(w, r, page, deskview.Mandates(d))
}

// mandates returns the page of the mandates of an organisation.
func (p *Pages) mandates(r *http.Request, e *registry.EntityDetails) (view.Page, deskview.MandatesData, error) {
	page, frame := entityFrame(r, e, "/mandates")
	d := deskview.MandatesData{EntityFrame: frame, Action: r.URL.Path, MaxPrincipal: access.MaxPrincipal, Now: p.Now()}
	list, err := p.Access.Mandates(r.Context(), e.ID)
	if err != nil {
		return page, d, err
	}
	rules, err := policy.Current(r.Context(), p.Pool, p.Now())
	if err != nil {
		return page, d, err
	}
	for _, code := range rules.PurposeCodes() {
		d.Purposes = append(d.Purposes, view.Option{Value: code, Label: code})
	}
	for i := range list {
		m := &list[i]
		row := deskview.MandateRow{Principal: m.Principal, Purposes: strings.Join(m.Purposes, ", "), Document: m.Document, Until: m.Until, Added: m.CreatedAt, State: "Active", Tone: view.Good}
		switch {
		case !m.EndedAt.IsZero():
			row.State, row.Tone, row.Until = "Ended", view.Neutral, m.EndedAt
		case !m.Active(p.Now()):
			row.State, row.Tone = "Expired", view.Neutral
		case frame.CanEdit:
			row.End = entityURL(e.ID) + "/mandates/" + m.ID.String() + "/end"
		}
		d.Rows = append([]deskview.MandateRow{row}, d.Rows...)
	}
	return page, d, nil
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
	if form, invalid := portal.FormErrors(r, err); invalid {
		page, d, failed := p.mandates(r, &e)
		if failed != nil {
			return failed
		}
		d.Form = form
		return p.ShowInvalid(w, r, err, page, deskview.Mandates(d))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/mandates", "mandate.added")
}

// pathMandate returns the active mandate that the path names, and its organisation.
func (p *Pages) pathMandate(r *http.Request) (registry.EntityDetails, access.Mandate, error) {
	e, err := p.pathEntity(r)
	if err != nil {
		return e, access.Mandate{}, err
	}
	id, err := portal.PathID(r, "mandate")
	if err != nil {
		return e, access.Mandate{}, err
	}
	list, err := p.Access.Mandates(r.Context(), e.ID)
	if err != nil {
		return e, access.Mandate{}, err
	}
	for i := range list {
		if list[i].ID == id && id != uuid.Nil {
			return e, list[i], nil
		}
	}
	return e, access.Mandate{}, portal.ErrNotFound
}

func endMandatePage(e *registry.EntityDetails) view.Page {
	return view.Page{Title: "End mandate", Crumbs: entityCrumbs(e), Active: entitiesPath}
}

func endMandateQuestion(e *registry.EntityDetails, m *access.Mandate, f view.Form) view.ConfirmData {
	at := entityURL(e.ID) + "/mandates"
	return view.ConfirmData{
		Text:   e.Name + " can no longer ask on behalf of " + m.Principal + ": within five seconds every node refuses such requests. It cannot be undone; record another mandate instead.",
		Action: at + "/" + m.ID.String() + "/end", Label: "End mandate", Kind: view.Danger, Cancel: at, Form: f,
	}
}

// confirmEndMandate serves GET /portal/desk/entities/{entity}/mandates/{mandate}/end.
func (p *Pages) confirmEndMandate(w http.ResponseWriter, r *http.Request) error {
	e, m, err := p.pathMandate(r)
	if err != nil {
		return err
	}
	return p.Show(w, r, endMandatePage(&e), view.Confirm(endMandateQuestion(&e, &m, view.Form{})))
}

// endMandate serves POST of the same.
func (p *Pages) endMandate(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	e, m, err := p.pathMandate(r)
	if err != nil {
		return err
	}
	err = p.Access.EndMandate(r.Context(), m.ID, v.Who.Actor(), v.ID)
	if portal.IsCode(err, fault.NotFound) {
		return access.ErrNoMandate
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, entityURL(e.ID)+"/mandates", "mandate.ended")
}
