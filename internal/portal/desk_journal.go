package portal

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/tally"
)

// The paths of the search in everybody's records.
const (
	searchPath      = "/portal/desk/journal"
	foundRecordPath = "/portal/desk/journal/record"
)

// namesOffered is how many organisations are offered where a name means several.
const namesOffered = 20

// deskJournalRoutes are the pages that search the journal of everybody.
func (p *Portal) deskJournalRoutes() []route {
	return []route{
		{method: http.MethodGet, path: searchPath, who: staff, serve: p.showSearch},
		{method: http.MethodPost, path: searchPath, who: staff, serve: p.search},
		{method: http.MethodPost, path: foundRecordPath, who: staff, serve: p.showFoundRecord},
	}
}

var searchPage = view.Page{Title: "Journal search", Lead: "The answers that an organisation was given. Every page that you are shown is written into the audit trail first, with your reason.", Active: searchPath}

// searched are the fields that say what is searched for, from page to page. They
// are posted: an address would keep the reason.
var searched = []string{"reason", "entity", "organisation", "mode", "status", "from", "to"}

// showSearch serves GET /portal/desk/journal.
func (p *Portal) showSearch(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, searchPage, view.Search(p.searchData(view.Form{})))
}

func (p *Portal) searchData(form view.Form) view.SearchData {
	d := view.SearchData{Form: form, Days: int(tally.Keep / (24 * time.Hour)), Now: p.Now()}
	for _, status := range line.Statuses {
		d.Statuses = append(d.Statuses, string(status))
	}
	return d
}

// reading is the look of a visitor at records, for the reason that they gave.
func (p *Portal) reading(r *http.Request) journal.Reading {
	v := visitOf(r)
	return journal.Reading{By: v.who.Actor(), Reason: oneLine(r.PostFormValue("reason")), Request: v.id, At: p.Now()}
}

// search serves POST /portal/desk/journal.
func (p *Portal) search(w http.ResponseWriter, r *http.Request) error {
	reading := p.reading(r) // it reads the form
	if strings.TrimSpace(r.PostForm.Get("requestId")) != "" {
		return p.showFoundRecord(w, r)
	}
	f, form := recordFilter(r.PostForm)
	f.Limit = recordsShown
	checkReading(&form, reading)
	d := p.searchData(form)
	var err error
	if d.Entity, d.Named, err = p.whose(r, &d.Form); err != nil {
		return err
	}
	if d.Form.Wrong() || len(d.Named) > 0 {
		return p.showStatus(w, r, http.StatusUnprocessableEntity, searchPage, view.Search(d))
	}
	f.Entity = uuid.MustParse(d.Entity.Value)
	page, err := p.Tally.Search(r.Context(), f, reading)
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, f.Entity, page.Records)
	if err != nil {
		return err
	}
	for i := range page.Records {
		d.Rows = append(d.Rows, recordRow(&page.Records[i], names))
	}
	if !page.Next.At.IsZero() {
		d.Next = placeText(page.Next)
	}
	d.Done, d.Later, d.Hidden = true, !f.After.At.IsZero(), carried(r.PostForm, d.Entity)
	return p.show(w, r, searchPage, view.Search(d))
}

// carried are the fields of a search for its next page.
func carried(sent url.Values, entity view.Option) []view.Option {
	var fields []view.Option
	for _, name := range searched {
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

// whose finds the organisation whose records are meant: the one that was chosen,
// or the one that has the name. Where several have it, they are returned to
// choose from.
func (p *Portal) whose(r *http.Request, form *view.Form) (one view.Option, several []view.Option, err error) {
	name := strings.TrimSpace(r.PostForm.Get("organisation"))
	if id, err := uuid.Parse(r.PostForm.Get("entity")); err == nil {
		e, err := p.Registry.Entity(r.Context(), id)
		if err == nil && strings.Contains(strings.ToLower(e.Name), strings.ToLower(name)) { // another name means another organisation
			return view.Option{Value: id.String(), Label: e.Name}, nil, nil
		}
		if err != nil && !isCode(err, fault.NotFound) {
			return one, nil, err
		}
	}
	if name == "" {
		complain(form, false, "organisation", "Give the name of an organisation, or a requestId.")
		return one, nil, nil
	}
	one, several, err = p.entityNamed(r, name)
	if one.Value == "" && len(several) == 0 && err == nil {
		complain(form, false, "organisation", noSuchName)
	}
	return one, several, err
}

const noSuchName = "No organisation has this in its name."

// entityNamed finds the organisation that a name or a CAC number means: the only
// one that has it or is called exactly that. Where several have a part of it,
// they are returned to choose from.
func (p *Portal) entityNamed(r *http.Request, name string) (one view.Option, several []view.Option, err error) {
	found, err := p.Registry.Search(r.Context(), registry.Search{Text: name, Limit: namesOffered})
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

// checkReading complains of a reason that says too little.
func checkReading(form *view.Form, reading journal.Reading) {
	var wrong fault.Form
	reading.Check(&wrong)
	if found := wrong.Violations(); len(found) > 0 {
		complain(form, false, found[0].Field, found[0].Message)
	}
}

// showFoundRecord serves POST /portal/desk/journal/record: one record, whosever it
// is.
func (p *Portal) showFoundRecord(w http.ResponseWriter, r *http.Request) error {
	reading := p.reading(r)
	form := view.Form{Values: r.PostForm}
	checkReading(&form, reading)
	id, err := uuid.Parse(strings.TrimSpace(r.PostForm.Get("requestId")))
	if err != nil {
		complain(&form, false, "requestId", "Write a requestId as the answer had it.")
	}
	var e journal.Entry
	if !form.Wrong() {
		e, err = reading.One(r.Context(), p.Pool, id, p.Record)
		if isCode(err, fault.NotFound) {
			complain(&form, false, "requestId", "There is no record with this requestId.")
		} else if err != nil {
			return err
		}
	}
	if form.Wrong() {
		return p.showStatus(w, r, http.StatusUnprocessableEntity, searchPage, view.Search(p.searchData(form)))
	}
	return p.foundRecord(w, r, &e)
}

func (p *Portal) foundRecord(w http.ResponseWriter, r *http.Request, e *journal.Entry) error {
	names, err := p.keyNames(r, e.Entity, []journal.Entry{*e})
	if err != nil {
		return err
	}
	whose, err := p.Registry.Entity(r.Context(), e.Entity)
	if isCode(err, fault.NotFound) {
		whose.Name, err = e.Entity.String(), nil
	}
	if err != nil {
		return err
	}
	d := view.FoundRecordData{
		RecordData: view.RecordData{
			Row: recordRow(e, names), Hash: hexOf(e.Hash()), LineVersion: e.LineVersion, PolicyVersion: int64(e.PolicyVersion), PlanVersion: int64(e.PlanVersion), Now: p.Now(),
		},
		Entity: whose.Name, EntityHref: entityHref(e.Entity), Hidden: carried(r.PostForm, view.Option{Value: e.Entity.String(), Label: whose.Name}),
	}
	return p.show(w, r, view.Page{Title: "A record", Crumbs: []view.Link{{Label: "Journal search", Href: searchPath}}, Active: searchPath}, view.FoundRecord(d))
}
