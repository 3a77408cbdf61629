package org

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/record"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/web"
)

var recordsPage = view.Page{Title: "Journal", Lead: "Every answer to your keys, as it was recorded before it was sent.", Active: recordsPath}

// showRecords serves GET /portal/journal.
func (p *Pages) showRecords(w http.ResponseWriter, r *http.Request) error {
	ctx, v, q := r.Context(), portal.VisitOf(r), r.URL.Query()
	if text := strings.TrimSpace(q.Get("requestId")); text != "" {
		return p.findRecord(w, r, text)
	}
	f, form := present.RecordFilter(q)
	f.Entity, f.Limit = v.Who.Entity, present.RecordsShown
	d := p.recordsData(r, form)
	if form.Wrong() {
		return p.ShowStatus(w, r, http.StatusUnprocessableEntity, recordsPage, orgview.Records(d))
	}
	page, err := p.Tally.Records(ctx, f)
	if err != nil {
		return err
	}
	if d.Rows, err = present.RecordRows(r, p.Access, v.Who.Entity, page.Records); err != nil {
		return err
	}
	links := web.PageLinks(r, present.CursorText(f.After), present.CursorText(page.Next))
	d.First, d.Next = links.First, links.Next
	return p.Show(w, r, recordsPage, orgview.Records(d))
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
	form := view.Form{Values: r.URL.Query(), Errors: map[string]string{"requestId": "Your organisation has no record with this requestId."}, Order: []string{"requestId"}}
	return p.ShowStatus(w, r, http.StatusUnprocessableEntity, recordsPage, orgview.Records(p.recordsData(r, form)))
}

func (p *Pages) recordsData(r *http.Request, form view.Form) orgview.RecordsData {
	d := orgview.RecordsData{Form: form, Statuses: present.StatusNames(), Days: int(tally.Retention / (24 * time.Hour)), Now: p.Now()}
	q := r.URL.Query()
	q.Del("after")
	q.Del("requestId")
	d.CSV, d.NDJSON = csvPath+"?"+q.Encode(), ndjsonPath+"?"+q.Encode()
	return d
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
	d, err := present.RecordData(r, p.Access, &e, p.Now())
	if err != nil {
		return err
	}
	d.Receipt = p.Receipts != nil
	return p.Show(w, r, view.Page{Title: "Record", Crumbs: []view.Link{{Label: "Journal", Href: recordsPath}}, Active: recordsPath}, orgview.Record(d))
}
