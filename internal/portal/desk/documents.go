package desk

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/deskview"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/web"
)

// The paths of the review of documents.
const (
	documentsPath       = "/portal/desk/documents"
	documentPath        = "/portal/desk/documents/{document}"
	documentReviewPath  = "/portal/desk/documents/{document}/review"
	documentFilePath    = "/portal/desk/documents/{document}/content"
	documentPicturePath = "/portal/desk/documents/{document}/pages/{page}"
)

// documentRoutes are the pages on which documents are reviewed.
func (p *Pages) documentRoutes() []portal.Route {
	get, post := http.MethodGet, http.MethodPost
	return []portal.Route{
		{Method: get, Path: documentsPath, Right: portal.Staff, Serve: p.showQueue},
		{Method: get, Path: documentPath, Right: portal.Staff, Serve: p.showDocument},
		{Method: post, Path: documentReviewPath, Right: portal.Decider, Serve: p.reviewDocument},
		{Method: get, Path: documentFilePath, Right: portal.Staff, Upload: true, Serve: p.sendDocument},
		{Method: get, Path: documentPicturePath, Right: portal.Staff, Upload: true, Serve: p.sendPicture},
	}
}

// anyState is the filter for documents in any state.
const anyState = "any"

var queuePage = view.Page{Title: "Document review", Lead: "The documents that organisations have submitted. A document can be opened and decided on after the virus scan found nothing.", Active: documentsPath}

// showQueue serves GET /portal/desk/documents. Without a filter it lists the
// documents that wait for a decision, the oldest first.
func (p *Pages) showQueue(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	var f document.Filter
	d := deskview.QueueData{Form: view.Form{Values: q}.With("state", string(document.Clean)), Now: p.Now()}
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
	list, links, err := present.DocumentPage(r, p.Documents, o, f)
	if err != nil {
		return err
	}
	for i := range list {
		d.Rows = append(d.Rows, queueRow(&list[i]))
	}
	d.First, d.Next, d.Heads, d.States = links.First, links.Next, o.Head, stateOptions()
	return p.Show(w, r, queuePage, deskview.Queue(d))
}

func stateOptions() []view.Option {
	options := []view.Option{{Value: string(document.Clean), Label: present.DocumentStates[document.Clean].Word}, {Value: anyState, Label: "Any"}}
	for _, s := range document.States {
		if s != document.Clean {
			options = append(options, view.Option{Value: string(s), Label: present.DocumentStates[s].Word})
		}
	}
	return options
}

func queueRow(d *document.Document) deskview.QueueRow {
	return deskview.QueueRow{Document: documentRow(d), Entity: d.EntityName, EntityHref: entityURL(d.Entity), Held: d.Held}
}

// documentRow returns a document as staff see it: with the note in every state.
func documentRow(d *document.Document) orgview.DocumentRow {
	row := present.DocumentRow(d)
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

// showDocument serves GET /portal/desk/documents/{document}.
func (p *Pages) showDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	data, err := p.reviewData(r, &d, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, reviewPage(&d), deskview.Review(data))
}

func reviewPage(d *document.Document) view.Page {
	return view.Page{Title: present.DocumentType(d.Label), Crumbs: []view.Link{{Label: "Document review", Href: documentsPath}}, Active: documentsPath}
}

func (p *Pages) reviewData(r *http.Request, d *document.Document, form view.Form) (deskview.ReviewData, error) {
	moves, err := p.Documents.History(r.Context(), d.ID)
	if err != nil {
		return deskview.ReviewData{}, err
	}
	var actors []audit.Actor
	for i := range moves {
		actors = append(actors, moves[i].Actor)
	}
	names, err := present.NamesOf(r.Context(), p.Portal, actors)
	if err != nil {
		return deskview.ReviewData{}, err
	}
	data := deskview.ReviewData{
		QueueRow: queueRow(d), Label: d.Label, Reason: d.Reason, HeldFor: d.HeldFor, SHA256: portal.HexSum(d.SHA256), Form: form, Now: p.Now(),
		Decide: d.State == document.Clean && portal.VisitOf(r).Has(portal.Decider),
	}
	if data.Document.Open {
		if data.Pages, err = p.Documents.Pages(r.Context(), d); err != nil {
			return deskview.ReviewData{}, err
		}
		data.NoTool = !p.Documents.Drawn(d.MediaType)
	}
	for i := range slices.Backward(moves) {
		data.Timeline = append(data.Timeline, documentMoment(&moves[i], names))
	}
	if d.Replaces.Valid {
		data.Replaces = documentsPath + "/" + d.Replaces.UUID.String()
	}
	if d.ReplacedBy.Valid {
		data.ReplacedBy = documentsPath + "/" + d.ReplacedBy.UUID.String()
	}
	return data, nil
}

func documentMoment(m *document.Move, names present.ActorNames) view.TimelineEntry {
	state := present.DocumentStates[m.To]
	title := state.Word
	if m.From == "" {
		title = "Uploaded"
	}
	return view.TimelineEntry{At: m.At, Title: title, Tone: state.Tone, Body: deskview.ReviewStep(names.Name(m.Actor), m.Reason, m.Note)}
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
	if form, invalid := portal.FormErrors(r, err); invalid {
		data, failed := p.reviewData(r, &d, form)
		if failed != nil {
			return failed
		}
		return p.ShowInvalid(w, r, err, reviewPage(&d), deskview.Review(data))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithFlash(w, r, documentsPath, "document."+string(decision))
}

// sendDocument serves GET /portal/desk/documents/{document}/content.
func (p *Pages) sendDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := p.pathDocument(r)
	if err != nil {
		return err
	}
	return present.SendDocument(w, r, p.Documents, &d)
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
	if err != nil || page < 1 || page > deskview.MaxPages {
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
	_, _ = w.Write(picture) //nolint:gosec // a JPEG that was drawn from pixels; the browser may have closed the connection
	return nil
}
