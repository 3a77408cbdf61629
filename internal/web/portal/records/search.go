package records

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of the search in the records of all organisations.
const (
	searchPath      = "/portal/desk/journal"
	foundRecordPath = "/portal/desk/journal/record"
)

// journalRoutes are the pages that search the journal of all organisations.
func (p *Pages) journalRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodGet, Path: searchPath, Right: portal.Staff, Serve: p.showSearch},
		{Method: http.MethodPost, Path: searchPath, Right: portal.Staff, Action: stepup.Search, Serve: p.search},
		{Method: http.MethodPost, Path: foundRecordPath, Right: portal.Staff, Action: stepup.Search, Serve: p.showFoundRecord},
	}
}

var searchPage = kit.Page{Title: "Journal search", Lead: "The answers that an organisation got. Every page of results is recorded in the audit trail with your reason before it is shown.", Active: searchPath}

// searchFieldNames are the fields of a search that go from page to page. They are
// posted, because an address with the reason would stay in the browser's history.
var searchFieldNames = []string{"reason", "entity", "organisation", "mode", "status", "from", "to"}

// showSearch serves GET /portal/desk/journal.
func (p *Pages) showSearch(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, searchPage, Search(p.searchData(kit.Form{})))
}

func (p *Pages) searchData(form kit.Form) SearchData {
	return SearchData{Form: form, Statuses: StatusNames(), Days: int(tally.Retention / (24 * time.Hour)), Now: p.Now()}
}

// accessReason returns who reads records and the reason that they gave.
func (p *Pages) accessReason(r *http.Request) staffaccess.Access {
	return p.LookUp(r, portal.OneLine(r.PostFormValue("reason")))
}

// search serves POST /portal/desk/journal.
func (p *Pages) search(w http.ResponseWriter, r *http.Request) error {
	reason := p.accessReason(r) // parses the form
	if strings.TrimSpace(r.PostForm.Get("requestId")) != "" {
		return p.showFoundRecord(w, r)
	}
	f, form := RecordFilter(r.PostForm)
	f.Limit = RecordsShown
	checkReason(&form, reason)
	d := p.searchData(form)
	var err error
	if d.Entity, d.Matches, err = p.findOrganisation(r, &d.Form); err != nil {
		return err
	}
	if d.Form.Wrong() || len(d.Matches) > 0 {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, searchPage, Search(d))
	}
	f.Entity = uuid.MustParse(d.Entity.Value)
	page, err := p.Tally.Search(r.Context(), f, reason)
	if err != nil {
		return err
	}
	if d.Rows, err = RecordRows(r, p.Access, f.Entity, page.Records); err != nil {
		return err
	}
	d.Next = CursorText(page.Next)
	d.Searched, d.NotFirst, d.Hidden = true, !f.After.At.IsZero(), searchFields(r.PostForm, d.Entity)
	return p.Show(w, r, searchPage, Search(d))
}

// searchFields returns the fields of a search for the form of its next page.
func searchFields(sent url.Values, entity kit.Option) []kit.Option {
	var fields []kit.Option
	for _, name := range searchFieldNames {
		value := sent.Get(name)
		switch name {
		case "entity":
			value = entity.Value
		case "organisation":
			value = entity.Label
		}
		if value != "" {
			fields = append(fields, kit.Option{Value: value, Label: name})
		}
	}
	return fields
}

// findOrganisation finds the organisation to search: the one that was chosen, or
// the one with the name. If several match, they are returned to choose from.
func (p *Pages) findOrganisation(r *http.Request, form *kit.Form) (one kit.Option, several []kit.Option, err error) {
	name := strings.TrimSpace(r.PostForm.Get("organisation"))
	if id, err := uuid.Parse(r.PostForm.Get("entity")); err == nil {
		e, err := p.Registry.Entity(r.Context(), id)
		if err == nil && strings.Contains(strings.ToLower(e.Name), strings.ToLower(name)) { // a different name means a different organisation
			return kit.Option{Value: id.String(), Label: e.Name}, nil, nil
		}
		if err != nil && !portal.IsCode(err, fault.NotFound) {
			return one, nil, err
		}
	}
	if name == "" {
		portal.AddFieldError(form, false, "organisation", "Enter the name of an organisation, or a requestId.")
		return one, nil, nil
	}
	one, several, err = p.FindOrganisation(r, name)
	if one.Value == "" && len(several) == 0 && err == nil {
		portal.AddFieldError(form, false, "organisation", portal.NoOrganisation)
	}
	return one, several, err
}

// checkReason adds an error to the form if the reason is too short.
func checkReason(form *kit.Form, reason staffaccess.Access) {
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
	form := kit.Form{Values: r.PostForm}
	checkReason(&form, reason)
	id, err := uuid.Parse(strings.TrimSpace(r.PostForm.Get("requestId")))
	if err != nil {
		portal.AddFieldError(&form, false, "requestId", "Write the requestId as in the response.")
	}
	var e record.Entry
	if !form.Wrong() {
		err = reason.FindRecord(r.Context(), id, func(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
			e, err = p.Record(ctx, id)
			return e.Entity, err
		})
		if portal.IsCode(err, fault.NotFound) {
			portal.AddFieldError(&form, false, "requestId", "There is no record with this requestId.")
		} else if err != nil {
			return err
		}
	}
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, searchPage, Search(p.searchData(form)))
	}
	return p.foundRecord(w, r, &e)
}

func (p *Pages) foundRecord(w http.ResponseWriter, r *http.Request, e *record.Entry) error {
	record, err := dataOf(r, p.Access, e, p.Now())
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
	d := FoundRecordData{
		RecordData: record,
		Entity:     organisation.Name, EntityHref: portal.EntityURL(e.Entity), Hidden: searchFields(r.PostForm, kit.Option{Value: e.Entity.String(), Label: organisation.Name}),
	}
	return p.Show(w, r, kit.Page{Title: "Record", Crumbs: []kit.Link{{Label: "Journal search", Href: searchPath}}, Active: searchPath}, FoundRecord(d))
}
