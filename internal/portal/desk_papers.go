package portal

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// The paths of the review of documents.
const (
	deskPapersPath       = "/portal/desk/documents"
	deskPaperPath        = "/portal/desk/documents/{document}"
	deskPaperReviewPath  = "/portal/desk/documents/{document}/review"
	deskPaperFilePath    = "/portal/desk/documents/{document}/content"
	deskPaperPreviewPath = "/portal/desk/documents/{document}/preview"
)

// deskPaperRoutes are the pages on which documents are reviewed.
func (p *Portal) deskPaperRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{method: get, path: deskPapersPath, who: staff, serve: p.showQueue},
		{method: get, path: deskPaperPath, who: staff, serve: p.showDeskPaper},
		{method: post, path: deskPaperReviewPath, who: decider, serve: p.reviewPaper},
		{method: get, path: deskPaperFilePath, who: staff, upload: true, serve: p.sendDeskPaper},
		{method: get, path: deskPaperPreviewPath, who: staff, upload: true, serve: p.sendPreview},
	}
}

// anyState is the filter for documents in whatever state.
const anyState = "any"

var queuePage = view.Page{Title: "Document review", Lead: "What organisations have handed in. A document can be opened and decided upon once nothing was found wrong with the file.", Active: deskPapersPath}

// showQueue serves GET /portal/desk/documents. Without a filter it is what waits
// for a decision, the oldest first.
func (p *Portal) showQueue(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	var f document.Filter
	d := view.QueueData{Form: view.Form{Values: q}.With("state", string(document.Clean)), Now: p.Now()}
	switch word := document.State(d.Form.Value("state")); {
	case slices.Contains(document.States, word):
		f.States, d.Waiting = []document.State{word}, word == document.Clean
	case word != anyState:
		return errNoPage
	}
	if text := q.Get("entity"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return errNoPage
		}
		e, err := p.Registry.Entity(r.Context(), id)
		if err != nil {
			return err
		}
		f.Entity, d.Entity, d.EntityID = id, e.Name, id.String()
	}
	o := orderOf(r, string(document.ByEntity), string(document.ByKind), string(document.ByFile), string(document.ByState), string(document.BySince))
	list, at, err := p.paperPage(r, o, f)
	if err != nil {
		return err
	}
	for i := range list {
		d.Rows = append(d.Rows, queueRow(&list[i]))
	}
	d.First, d.Next, d.Heads, d.States = at.first, at.next, o.head, stateOptions()
	return p.show(w, r, queuePage, view.Queue(d))
}

func stateOptions() []view.Option {
	options := []view.Option{{Value: string(document.Clean), Label: paperStates[document.Clean].word}, {Value: anyState, Label: "Any"}}
	for _, s := range document.States {
		if s != document.Clean {
			options = append(options, view.Option{Value: string(s), Label: paperStates[s].word})
		}
	}
	return options
}

func queueRow(d *document.Document) view.QueueRow {
	return view.QueueRow{Paper: deskPaperRow(d), Entity: d.EntityName, EntityHref: entityHref(d.Entity), Held: d.Held}
}

// deskPaperRow is a document as staff see it: with everything that was noted.
func deskPaperRow(d *document.Document) view.PaperRow {
	row := paperRow(d)
	if d.Note != "" {
		row.Message = d.Note
	}
	return row
}

// deskPaper returns the document that the path names.
func (p *Portal) deskPaper(r *http.Request) (document.Document, error) {
	id, err := idOf(r, "document")
	if err != nil {
		return document.Document{}, err
	}
	return p.Documents.Find(r.Context(), id)
}

// showDeskPaper serves GET /portal/desk/documents/{document}.
func (p *Portal) showDeskPaper(w http.ResponseWriter, r *http.Request) error {
	d, err := p.deskPaper(r)
	if err != nil {
		return err
	}
	data, err := p.caseData(r, &d, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, casePage(&d), view.Case(data))
}

func casePage(d *document.Document) view.Page {
	return view.Page{Title: typeWord(d.Label), Crumbs: []view.Link{{Label: "Document review", Href: deskPapersPath}}, Active: deskPapersPath}
}

func (p *Portal) caseData(r *http.Request, d *document.Document, form view.Form) (view.CaseData, error) {
	moves, err := p.Documents.History(r.Context(), d.ID)
	if err != nil {
		return view.CaseData{}, err
	}
	var actors []audit.Actor
	for i := range moves {
		actors = append(actors, moves[i].Actor)
	}
	names, err := p.cast(r.Context(), actors)
	if err != nil {
		return view.CaseData{}, err
	}
	data := view.CaseData{
		QueueRow: queueRow(d), Label: d.Label, Reason: d.Reason, HeldFor: d.HeldFor, SHA256: hexOf(d.SHA256), Form: form, Now: p.Now(),
		Decide: d.State == document.Clean && visitOf(r).has(decider), Preview: d.State.Open() && document.Previewed(d.MediaType),
	}
	for i := range slices.Backward(moves) {
		data.Moments = append(data.Moments, caseMoment(&moves[i], names))
	}
	if d.Replaces.Valid {
		data.Replaces = deskPapersPath + "/" + d.Replaces.UUID.String()
	}
	if d.ReplacedBy.Valid {
		data.ReplacedBy = deskPapersPath + "/" + d.ReplacedBy.UUID.String()
	}
	return data, nil
}

func caseMoment(m *document.Move, names cast) view.Moment {
	state := paperStates[m.To]
	title := state.word
	if m.From == "" {
		title = "Uploaded"
	}
	return view.Moment{At: m.At, Title: title, Tone: state.tone, Body: view.CaseMove(names.name(m.Actor), m.Reason, m.Note)}
}

// reviewPaper serves POST /portal/desk/documents/{document}/review.
func (p *Portal) reviewPaper(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	d, err := p.deskPaper(r)
	if err != nil {
		return err
	}
	decision := document.State(r.PostFormValue("decision"))
	var wrong fault.Form
	wrong.Check(decision == document.Accepted || decision == document.Rejected, "decision", fault.Required, "Choose whether the document is accepted or rejected.")
	if err = wrong.Err(); err == nil {
		_, err = p.Documents.Review(r.Context(), document.Review{
			Document: d.ID, Accept: decision == document.Accepted, Reason: oneLine(r.PostFormValue("reason")), Actor: v.who.Actor(), Request: v.id,
		})
	}
	if form, wrong := formOf(r, err); wrong {
		data, failed := p.caseData(r, &d, form)
		if failed != nil {
			return failed
		}
		return p.showAgain(w, r, err, casePage(&d), view.Case(data))
	}
	if err != nil {
		return err
	}
	return p.goOn(w, r, deskPapersPath, "document."+string(decision))
}

// sendDeskPaper serves GET /portal/desk/documents/{document}/content.
func (p *Portal) sendDeskPaper(w http.ResponseWriter, r *http.Request) error {
	d, err := p.deskPaper(r)
	if err != nil {
		return err
	}
	return p.sendContent(w, r, &d)
}

// sendPreview serves GET /portal/desk/documents/{document}/preview: a picture
// that we have made of the picture, and none of its bytes.
func (p *Portal) sendPreview(w http.ResponseWriter, r *http.Request) error {
	v := visitOf(r)
	id, err := idOf(r, "document")
	if err != nil {
		return err
	}
	picture, err := p.Documents.Preview(r.Context(), id, v.who.Actor(), v.id)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "image/jpeg")
	h.Set("Content-Disposition", `inline; filename="preview-`+id.String()+`.jpg"`)
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	h.Set("Content-Security-Policy", sandbox)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(picture) //nolint:gosec // a JPEG that we have made; a browser that has gone needs nothing
	return nil
}
