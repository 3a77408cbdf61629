package portal

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/tally"
)

// recordsShown is how many records one page lists.
const recordsShown = 50

var recordsPage = view.Page{Title: "Journal", Lead: "Every answer that your keys were given, as it was recorded before it left.", Active: recordsPath}

// showRecords serves GET /portal/journal.
func (p *Portal) showRecords(w http.ResponseWriter, r *http.Request) error {
	ctx, v, q := r.Context(), visitOf(r), r.URL.Query()
	if text := strings.TrimSpace(q.Get("requestId")); text != "" {
		return p.findRecord(w, r, text)
	}
	f, form := recordFilter(q)
	f.Entity, f.Limit = v.who.Entity, recordsShown
	d := p.recordsData(r, form)
	if form.Wrong() {
		return p.showStatus(w, r, http.StatusUnprocessableEntity, recordsPage, view.Records(d))
	}
	page, err := p.Tally.Records(ctx, f)
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, v.who.Entity, page.Records)
	if err != nil {
		return err
	}
	for i := range page.Records {
		d.Rows = append(d.Rows, recordRow(&page.Records[i], names))
	}
	if !f.After.At.IsZero() {
		d.First = pageAfter(r, "")
	}
	if !page.Next.At.IsZero() {
		d.Next = pageAfter(r, placeText(page.Next))
	}
	return p.show(w, r, recordsPage, view.Records(d))
}

// findRecord leads to one record, or says that there is none.
func (p *Portal) findRecord(w http.ResponseWriter, r *http.Request, text string) error {
	id, err := uuid.Parse(text)
	if err == nil {
		if _, err = p.ownRecord(r, id); err == nil {
			http.Redirect(w, r, recordsPath+"/"+id.String(), http.StatusSeeOther) //nolint:gosec // an id that was read and is written anew
			return nil
		}
		if !errors.Is(err, errNoPage) {
			return err
		}
	}
	form := view.Form{Values: r.URL.Query(), Errors: map[string]string{"requestId": "There is no record with this requestId among yours."}, Order: []string{"requestId"}}
	return p.showStatus(w, r, http.StatusUnprocessableEntity, recordsPage, view.Records(p.recordsData(r, form)))
}

func (p *Portal) recordsData(r *http.Request, form view.Form) view.RecordsData {
	d := view.RecordsData{Form: form, Days: int(tally.Keep / (24 * time.Hour)), Now: p.Now()}
	for _, status := range line.Statuses {
		d.Statuses = append(d.Statuses, string(status))
	}
	q := r.URL.Query()
	q.Del("after")
	q.Del("requestId")
	d.CSV, d.NDJSON = csvPath+"?"+q.Encode(), ndjsonPath+"?"+q.Encode()
	return d
}

// recordFilter reads which records are wanted, and what is wrong with that.
func recordFilter(q url.Values) (tally.Filter, view.Form) {
	form := view.Form{Values: q}
	f := tally.Filter{Mode: q.Get("mode"), Status: q.Get("status")}
	complain(&form, slices.Contains([]string{"", access.Live, access.Test}, f.Mode), "mode", "Choose live or test.")
	complain(&form, f.Status == "" || slices.Contains(line.Statuses, line.Status(f.Status)), "status", "Choose one of the statuses.")
	var err error
	if text := q.Get("from"); text != "" {
		f.From, err = time.Parse(time.DateOnly, text)
		complain(&form, err == nil, "from", "Write a date as 2026-01-31.")
	}
	if text := q.Get("to"); text != "" {
		f.To, err = time.Parse(time.DateOnly, text)
		complain(&form, err == nil, "to", "Write a date as 2026-01-31.")
		f.To = f.To.AddDate(0, 0, 1) // that day included
	}
	if text := q.Get("after"); text != "" {
		f.After, _ = parsePlace(text) // a cursor that is none leads to the beginning
	}
	return f, form
}

// placeText writes where a record stands, and parsePlace reads it.
func placeText(at journal.Place) string {
	return strconv.FormatInt(at.At.UnixMilli(), 10) + "." + at.ID.String()
}

func parsePlace(text string) (journal.Place, bool) {
	at, id, _ := strings.Cut(text, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<42 {
		return journal.Place{}, false
	}
	record, err := uuid.Parse(id)
	if err != nil {
		return journal.Place{}, false
	}
	return journal.Place{At: time.UnixMilli(ms).UTC(), ID: record}, true
}

// keyNames are the names of the keys by which an organisation got some records.
func (p *Portal) keyNames(r *http.Request, entity uuid.UUID, records []journal.Entry) (map[uuid.UUID]string, error) {
	ids := make([]uuid.UUID, len(records))
	for i := range records {
		ids[i] = records[i].Key
	}
	return p.Keeper.KeyNames(r.Context(), entity, ids)
}

func recordRow(e *journal.Entry, names map[uuid.UUID]string) view.RecordRow {
	return view.RecordRow{
		ID: e.RequestID.String(), At: e.At, Number: e.PhoneNumber, Status: e.Status, Tone: toneOf(e.Status), Network: e.MobileNetwork, Mode: e.Mode,
		Key: names[e.Key], KeyID: e.Key.String(), Purpose: e.Purpose, Correlator: e.Correlator, Options: e.Options, Extra: indented([]byte(e.Extra)),
	}
}

// ownRecord returns one of the visitor's records. Nobody learns of another's.
func (p *Portal) ownRecord(r *http.Request, id uuid.UUID) (journal.Entry, error) {
	e, err := p.Record(r.Context(), id)
	if isCode(err, fault.NotFound) || (err == nil && e.Entity != visitOf(r).who.Entity) {
		return journal.Entry{}, errNoPage
	}
	return e, err
}

// showRecord serves GET /portal/journal/{request}.
func (p *Portal) showRecord(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r, "request")
	if err != nil {
		return err
	}
	e, err := p.ownRecord(r, id)
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, e.Entity, []journal.Entry{e})
	if err != nil {
		return err
	}
	d := view.RecordData{
		Row: recordRow(&e, names), Hash: hexOf(e.Hash()), LineVersion: e.LineVersion, PolicyVersion: int64(e.PolicyVersion), PlanVersion: int64(e.PlanVersion), Now: p.Now(),
	}
	return p.show(w, r, view.Page{Title: "A record", Crumbs: []view.Link{{Label: "Journal", Href: recordsPath}}, Active: recordsPath}, view.Record(d))
}
