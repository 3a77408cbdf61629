package desk

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/staffaccess"
	"github.com/lineproof/lineproof/internal/tally"
)

// The paths of the search in the records of all organisations.
const (
	searchPath      = "/portal/desk/journal"
	foundRecordPath = "/portal/desk/journal/record"
)

// maxMatches is how many organisations are offered if several match a name.
const maxMatches = 20

// journalRoutes are the pages that search the journal of all organisations.
func (p *Pages) journalRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodGet, Path: searchPath, Right: portal.Staff, Serve: p.showSearch},
		{Method: http.MethodPost, Path: searchPath, Right: portal.Staff, Serve: p.search},
		{Method: http.MethodPost, Path: foundRecordPath, Right: portal.Staff, Serve: p.showFoundRecord},
	}
}

var searchPage = view.Page{Title: "Journal search", Lead: "The answers that an organisation got. Every page of results is recorded in the audit trail with your reason before it is shown.", Active: searchPath}

// searchFieldNames are the fields of a search that go from page to page. They are
// posted, because an address with the reason would stay in the browser's history.
var searchFieldNames = []string{"reason", "entity", "organisation", "mode", "status", "from", "to"}

// showSearch serves GET /portal/desk/journal.
func (p *Pages) showSearch(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, searchPage, deskview.Search(p.searchData(view.Form{})))
}

func (p *Pages) searchData(form view.Form) deskview.SearchData {
	return deskview.SearchData{Form: form, Statuses: present.StatusNames(), Days: int(tally.Retention / (24 * time.Hour)), Now: p.Now()}
}

// accessReason returns who reads records and the reason that they gave.
func (p *Pages) accessReason(r *http.Request) staffaccess.Access {
	v := portal.VisitOf(r)
	return staffaccess.Access{By: v.Who.Actor(), Reason: portal.OneLine(r.PostFormValue("reason")), Request: v.ID, At: p.Now()}
}

// search serves POST /portal/desk/journal.
func (p *Pages) search(w http.ResponseWriter, r *http.Request) error {
	reason := p.accessReason(r) // parses the form
	if strings.TrimSpace(r.PostForm.Get("requestId")) != "" {
		return p.showFoundRecord(w, r)
	}
	f, form := present.RecordFilter(r.PostForm)
	f.Limit = present.RecordsShown
	checkReason(&form, reason)
	d := p.searchData(form)
	var err error
	if d.Entity, d.Matches, err = p.findOrganisation(r, &d.Form); err != nil {
		return err
	}
	if d.Form.Wrong() || len(d.Matches) > 0 {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, searchPage, deskview.Search(d))
	}
	f.Entity = uuid.MustParse(d.Entity.Value)
	page, err := p.Tally.Search(r.Context(), f, reason)
	if err != nil {
		return err
	}
	if d.Rows, err = present.RecordRows(r, p.Access, f.Entity, page.Records); err != nil {
		return err
	}
	d.Next = present.CursorText(page.Next)
	d.Searched, d.NotFirst, d.Hidden = true, !f.After.At.IsZero(), searchFields(r.PostForm, d.Entity)
	return p.Show(w, r, searchPage, deskview.Search(d))
}

// searchFields returns the fields of a search for the form of its next page.
func searchFields(sent url.Values, entity view.Option) []view.Option {
	var fields []view.Option
	for _, name := range searchFieldNames {
		value := sent.Get(name)
		switch name {
		case "entity":
			value = entity.Value
		case "organisation":
			value = entity.Label
		}
		if value != "" {
			fields = append(fields, view.Option{Value: value, Label: name})
		}
	}
	return fields
}

// findOrganisation finds the organisation to search: the one that was chosen, or
// the one with the name. If several match, they are returned to choose from.
func (p *Pages) findOrganisation(r *http.Request, form *view.Form) (one view.Option, several []view.Option, err error) {
	name := strings.TrimSpace(r.PostForm.Get("organisation"))
	if id, err := uuid.Parse(r.PostForm.Get("entity")); err == nil {
		e, err := p.Registry.Entity(r.Context(), id)
		if err == nil && strings.Contains(strings.ToLower(e.Name), strings.ToLower(name)) { // a different name means a different organisation
			return view.Option{Value: id.String(), Label: e.Name}, nil, nil
		}
		if err != nil && !portal.IsCode(err, fault.NotFound) {
			return one, nil, err
		}
	}
	if name == "" {
		portal.AddFieldError(form, false, "organisation", "Enter the name of an organisation, or a requestId.")
		return one, nil, nil
	}
	one, several, err = p.findByName(r, name)
	if one.Value == "" && len(several) == 0 && err == nil {
		portal.AddFieldError(form, false, "organisation", noMatch)
	}
	return one, several, err
}

const noMatch = "No organisation has this in its name. Check the spelling."

// findByName finds an organisation by a part of its name or CAC number: the only
// match, or the only one with exactly that name. If several match, they are
// returned to choose from.
func (p *Pages) findByName(r *http.Request, name string) (one view.Option, several []view.Option, err error) {
	found, err := p.Registry.Search(r.Context(), registry.EntityFilter{Text: name, Limit: maxMatches})
	if err != nil {
		return one, nil, err
	}
	var exact []view.Option
	for i := range found.Entities {
		e := &found.Entities[i]
		several = append(several, view.Option{Value: e.ID.String(), Label: e.Name, Hint: e.CAC + ", " + string(e.Status)})
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

// checkReason adds an error to the form if the reason is too short.
func checkReason(form *view.Form, reason staffaccess.Access) {
	var wrong fault.Form
	reason.Check(&wrong)
	if found := wrong.Violations(); len(found) > 0 {
		portal.AddFieldError(form, false, found[0].Field, found[0].Message)
	}
}

// showFoundRecord serves POST /portal/desk/journal/record: one record of any
// organisation.
func (p *Pages) showFoundRecord(w http.ResponseWriter, r *http.Request) error {
	reason := p.accessReason(r)
	form := view.Form{Values: r.PostForm}
	checkReason(&form, reason)
	id, err := uuid.Parse(strings.TrimSpace(r.PostForm.Get("requestId")))
	if err != nil {
		portal.AddFieldError(&form, false, "requestId", "Write the requestId as in the response.")
	}
	var e record.Entry
	if !form.Wrong() {
		e, err = reason.FindEntry(r.Context(), p.Pool, id, p.Record)
		if portal.IsCode(err, fault.NotFound) {
			portal.AddFieldError(&form, false, "requestId", "There is no record with this requestId.")
		} else if err != nil {
			return err
		}
	}
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, searchPage, deskview.Search(p.searchData(form)))
	}
	return p.foundRecord(w, r, &e)
}

func (p *Pages) foundRecord(w http.ResponseWriter, r *http.Request, e *record.Entry) error {
	record, err := present.RecordData(r, p.Access, e, p.Now())
	if err != nil {
		return err
	}
	organisation, err := p.Registry.Entity(r.Context(), e.Entity)
	if portal.IsCode(err, fault.NotFound) {
		organisation.Name, err = e.Entity.String(), nil
	}
	if err != nil {
		return err
	}
	d := deskview.FoundRecordData{
		RecordData: record,
		Entity:     organisation.Name, EntityHref: entityURL(e.Entity), Hidden: searchFields(r.PostForm, view.Option{Value: e.Entity.String(), Label: organisation.Name}),
	}
	return p.Show(w, r, view.Page{Title: "Record", Crumbs: []view.Link{{Label: "Journal search", Href: searchPath}}, Active: searchPath}, deskview.FoundRecord(d))
}
