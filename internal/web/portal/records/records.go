package records

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var recordsPage = kit.Page{Title: "Journal", Lead: "Every answer to your keys, as it was recorded before it was sent.", Active: recordsPath}

// showRecords serves GET /portal/journal.
func (p *Pages) showRecords(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if text := strings.TrimSpace(q.Get("requestId")); text != "" {
		return p.findRecord(w, r, text)
	}
	f, form := recordFilter(q)
	return p.listRecords(w, r, f, form)
}

// recordFilter is [RecordFilter] with what only the organisation filters by.
func recordFilter(q url.Values) (tally.Filter, kit.Form) {
	f, form := RecordFilter(q)
	if text := q.Get("key"); text != "" {
		var err error
		f.Key, err = uuid.Parse(text)
		portal.AddFieldError(&form, err == nil, "key", "Choose one of the keys.")
	}
	f.Correlator = strings.TrimSpace(q.Get("correlator"))
	return f, form
}

// findByNumber serves POST /portal/journal. The result is shown in this response, and its
// next page is posted again, so that no number is in an address.
func (p *Pages) findByNumber(w http.ResponseWriter, r *http.Request) error {
	text := strings.TrimSpace(r.PostFormValue("phoneNumber"))
	number, err := p.Region.ParseMobile(text)
	f, form := RecordFilter(url.Values{"after": {r.PostFormValue("after")}})
	form.Values = url.Values{"phoneNumber": {text}}
	portal.AddFieldError(&form, text != "", "phoneNumber", "Enter the phone number.")
	portal.AddFieldError(&form, text == "" || err == nil, "phoneNumber", "Write a mobile number of this country, for example +2348031234567 or 08031234567.")
	if err == nil {
		f.Number = number.Int()
	}
	return p.listRecords(w, r, f, form)
}

// listRecords shows the records of a filter, or the form if it has errors.
func (p *Pages) listRecords(w http.ResponseWriter, r *http.Request, f tally.Filter, form kit.Form) error {
	ctx, v := r.Context(), portal.VisitOf(r)
	f.Entity, f.Limit = v.Who.Entity, RecordsShown
	d, err := p.recordsData(r, form)
	if err != nil {
		return err
	}
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, recordsPage, Records(d))
	}
	page, err := p.Tally.Records(ctx, f)
	if err != nil {
		return err
	}
	if d.Rows, err = RecordRows(r, p.Access, v.Who.Entity, page.Records); err != nil {
		return err
	}
	d.Until = page.Until
	if f.Number != 0 {
		d.Number, d.After = form.Value("phoneNumber"), CursorText(page.Next)
		return p.Show(w, r, recordsPage, Records(d))
	}
	links := web.PageLinks(r, CursorText(f.After), CursorText(page.Next))
	d.First, d.Next = links.First, links.Next
	return p.Show(w, r, recordsPage, Records(d))
}

// findRecord redirects to one record, or shows that there is none.
func (p *Pages) findRecord(w http.ResponseWriter, r *http.Request, text string) error {
	id, err := uuid.Parse(text)
	if err == nil {
		if _, err = p.ownRecord(r, id); err == nil {
			http.Redirect(w, r, recordsPath+"/"+id.String(), http.StatusSeeOther) //nolint:gosec // the id was parsed and is written anew
			return nil
		}
		if !errors.Is(err, portal.ErrNotFound) {
			return err
		}
	}
	form := kit.Form{Values: r.URL.Query(), Errors: map[string]string{"requestId": "Your organisation has no record with this requestId."}, Order: []string{"requestId"}}
	d, err := p.recordsData(r, form)
	if err != nil {
		return err
	}
	return p.ShowStatus(w, r, http.StatusUnprocessableEntity, recordsPage, Records(d))
}

func (p *Pages) recordsData(r *http.Request, form kit.Form) (RecordsData, error) {
	d := RecordsData{Form: form, Statuses: StatusNames(), Days: int(tally.Retention / (24 * time.Hour)), Now: p.Now()}
	q := r.URL.Query()
	q.Del("after")
	q.Del("requestId")
	d.CSV, d.NDJSON = csvPath+"?"+q.Encode(), ndjsonPath+"?"+q.Encode()
	keys, err := p.Access.Keys(r.Context(), portal.VisitOf(r).Who.Entity)
	d.Keys = []kit.Option{{Label: "Any"}}
	for i := range keys {
		d.Keys = append(d.Keys, kit.Option{Value: keys[i].ID.String(), Label: keys[i].Name})
	}
	return d, err
}

// ownRecord returns a record of the visitor's organisation. One of another
// organisation does not exist for the visitor.
func (p *Pages) ownRecord(r *http.Request, id uuid.UUID) (record.Entry, error) {
	e, err := p.Record(r.Context(), id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && e.Entity != portal.VisitOf(r).Who.Entity) {
		return record.Entry{}, portal.ErrNotFound
	}
	return e, err
}

// showRecord serves GET /portal/journal/{request}.
func (p *Pages) showRecord(w http.ResponseWriter, r *http.Request) error {
	id, err := portal.PathID(r, "request")
	if err != nil {
		return err
	}
	e, err := p.ownRecord(r, id)
	if err != nil {
		return err
	}
	d, err := dataOf(r, p.Access, &e, p.Now())
	if err != nil {
		return err
	}
	d.Receipt = p.Receipts != nil
	if n, ok := phone.FromInt(e.Number); ok && e.Mode == access.Live && e.Status == string(line.Unallocated) && p.Simulator != nil && p.Simulator.Has(n) {
		d.Hint = sandbox.LiveHint
	}
	return p.Show(w, r, kit.Page{Title: "Record", Crumbs: []kit.Link{{Label: "Journal", Href: recordsPath}}, Active: recordsPath}, Record(d))
}
