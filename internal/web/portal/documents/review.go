package documents

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// anyState is the filter for documents in any state.
const anyState = "any"

var queuePage = kit.Page{Title: "Document review", Lead: "The documents that organisations have submitted. A document can be opened and decided on after the virus scan found nothing.", Active: ReviewsPath}

// showQueue serves GET /portal/desk/documents. Without a filter it lists the
// documents that wait for a decision, the oldest first.
func (p *Pages) showQueue(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	var f document.Filter
	d := QueueData{Form: kit.Form{Values: q}.With("state", string(document.Clean)), Now: p.Now()}
	switch word := document.State(d.Form.Value("state")); {
	case slices.Contains(document.States, word):
		f.States, d.Waiting = []document.State{word}, word == document.Clean
	case word != anyState:
		return portal.ErrNotFound
	}
	if text := q.Get("entity"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return portal.ErrNotFound
		}
		e, err := p.Registry.Entity(r.Context(), id)
		if err != nil {
			return err
		}
		f.Entity, d.Entity, d.EntityID = id, e.Name, id.String()
	}
	o := portal.ReadOrder(r, string(document.ByEntity), string(document.ByKind), string(document.ByFile), string(document.ByState), string(document.BySince))
	list, links, err := DocumentPage(r, p.Documents, o, f)
	if err != nil {
		return err
	}
	for i := range list {
		d.Rows = append(d.Rows, reviewRow(&list[i]))
	}
	d.First, d.Next, d.Heads, d.States = links.First, links.Next, o.Head, stateOptions()
	return p.Show(w, r, queuePage, Queue(d))
}

func stateOptions() []kit.Option {
	options := []kit.Option{{Value: string(document.Clean), Label: DocumentStates[document.Clean].Word}, {Value: anyState, Label: "Any"}}
	for _, s := range document.States {
		if s != document.Clean {
			options = append(options, kit.Option{Value: string(s), Label: DocumentStates[s].Word})
		}
	}
	return options
}

// reviewRow returns a document as staff see it: with the note in every state.
func reviewRow(d *document.Document) DocumentRow {
	row := RowOf(d)
	if d.Note != "" {
		row.Message = d.Note
	}
	return row
}

// pathDocument returns the document that the path names.
func (p *Pages) pathDocument(r *http.Request) (document.Document, error) {
	id, err := portal.PathID(r, "document")
	if err != nil {
		return document.Document{}, err
	}
	return p.Documents.Find(r.Context(), id)
}

// review is the page /portal/desk/documents/{document}, with two forms: of the decision, and
// of the request for the original.
func (p *Pages) review(r *http.Request, form, original kit.Form) (page kit.Page, _ templ.Component, err error) {
	d, err := p.pathDocument(r)
	if err != nil {
		return page, nil, err
	}
	moves, err := p.Documents.History(r.Context(), d.ID)
	if err != nil {
		return page, nil, err
	}
	var actors []audit.Actor
	for i := range moves {
		actors = append(actors, moves[i].Actor)
	}
	names, err := p.NamesOf(r.Context(), actors)
	if err != nil {
		return page, nil, err
	}
	data := ReviewData{
		DocumentRow: reviewRow(&d), Form: form, Now: p.Now(), Decide: d.State == document.Clean && portal.VisitOf(r).Has(portal.Decider),
	}
	if d.State.Open() {
		if data.Pages, err = p.Documents.Pages(r.Context(), &d); err != nil {
			return page, nil, err
		}
		data.NoTool = !p.Documents.Drawn(d.MediaType)
	}
	for i := range slices.Backward(moves) {
		data.Timeline = append(data.Timeline, reviewMoment(&moves[i], names))
	}
	if data.Original, err = p.originalData(r, &d); err != nil {
		return page, nil, err
	}
	data.Original.Form = original
	page = kit.Page{Title: DocumentType(d.Label), Crumbs: []kit.Link{{Label: "Document review", Href: ReviewsPath}}, Active: ReviewsPath}
	return page, Review(data), nil
}

func (p *Pages) decision(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	return p.review(r, form, kit.Form{})
}

func reviewMoment(m *document.Move, names portal.ActorNames) kit.TimelineEntry {
	state := DocumentStates[m.To]
	title := state.Word
	if m.From == "" {
		title = "Uploaded"
	}
	return kit.TimelineEntry{At: m.At, Title: title, Tone: state.Tone, Body: ReviewStep(names.Name(m.Actor), m.Reason, m.Note)}
}

// reviewDocument serves POST /portal/desk/documents/{document}/review.
func (p *Pages) reviewDocument(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	decision := document.State(r.PostFormValue("decision"))
	var wrong fault.Form
	wrong.Check(decision == document.Accepted || decision == document.Rejected, "decision", fault.Required, "Choose whether the document is accepted or rejected.")
	if err = wrong.Err(); err == nil {
		_, err = p.Documents.Review(r.Context(), document.Review{
			Document: d.ID, Accept: decision == document.Accepted, Reason: portal.OneLine(r.PostFormValue("reason")), Actor: v.Who.Actor(), Request: v.ID,
		})
	}
	return p.EndForm(w, r, err, p.decision, ReviewsPath, "document."+string(decision))
}

// sendReviewed serves GET /portal/desk/documents/{document}/content.
func (p *Pages) sendReviewed(w http.ResponseWriter, r *http.Request) error {
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	return SendDocument(w, r, p.Documents, &d)
}

// sendPicture serves GET /portal/desk/documents/{document}/pages/{page}: a page as the
// service has drawn it, with none of the file's bytes.
func (p *Pages) sendPicture(w http.ResponseWriter, r *http.Request) error {
	v := portal.VisitOf(r)
	id, err := portal.PathID(r, "document")
	if err != nil {
		return err
	}
	page, err := strconv.Atoi(r.PathValue("page"))
	if err != nil || page < 1 || page > MaxPages {
		return portal.ErrNotFound
	}
	picture, err := p.Documents.Picture(r.Context(), id, page, v.Who.Actor(), v.ID)
	if err != nil {
		return err
	}
	h, name := w.Header(), "page-"+strconv.Itoa(page)+"-"+id.String()+".jpg"
	web.SetDownloadHeaders(h, "image/jpeg", name)
	h.Set("Content-Disposition", `inline; filename="`+name+`"`) // the page shows it
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(picture) // a JPEG that was drawn from pixels; the browser may have closed the connection
	return nil
}
