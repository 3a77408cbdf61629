package documents

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

var documentsPage = kit.Page{Title: "Documents", Lead: "The documents that the regulator requires from your organisation, and their state.", Active: documentsPath}

// documents is the page /portal/documents.
func (p *Pages) documents(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
	entity := portal.VisitOf(r).Who.Entity
	needed, err := p.Documents.Requirements(r.Context(), entity)
	if err != nil {
		return documentsPage, nil, err
	}
	d := DocumentsData{Form: form, Required: needed, Max: kit.Bytes(p.Documents.MaxBytes), Now: p.Now()}
	o := DocumentOrder(r)
	list, links, err := DocumentPage(r, p.Documents, o, document.Filter{Entity: entity})
	if err != nil {
		return documentsPage, nil, err
	}
	d.First, d.Next, d.Heads = links.First, links.Next, o.Head
	for i := range list {
		d.Rows = append(d.Rows, RowOf(&list[i]))
	}
	for _, kind := range p.offeredTypes() {
		d.Types = append(d.Types, kit.Option{Value: kind, Label: DocumentType(kind)})
	}
	return documentsPage, Documents(d), nil
}

// offeredTypes are the types to choose from: the known ones, and others that the
// settings require.
func (p *Pages) offeredTypes() []string {
	types := slices.Clone(document.Types)
	for _, kind := range p.Documents.Required {
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types
}

func documentURL(id uuid.UUID) string { return documentsPath + "/" + id.String() }

// ownDocument returns the document that the path names, if it belongs to the
// visitor's organisation.
func (p *Pages) ownDocument(r *http.Request) (document.Document, error) {
	id, err := portal.PathID(r, "document")
	if err != nil {
		return document.Document{}, err
	}
	d, err := p.Documents.Find(r.Context(), id)
	if portal.IsCode(err, fault.NotFound) || (err == nil && d.Entity != portal.VisitOf(r).Who.Entity) {
		return document.Document{}, portal.ErrNotFound
	}
	return d, err
}

// showDocument serves GET /portal/documents/{document}.
func (p *Pages) showDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownDocument(r)
	if err != nil {
		return err
	}
	moves, err := p.Documents.History(r.Context(), d.ID)
	if err != nil {
		return err
	}
	data := DocumentData{Row: RowOf(&d), Again: DocumentStates[d.State].Tone == kit.Bad && !d.ReplacedBy.Valid, Now: p.Now()}
	for i := range moves {
		data.Timeline = append(data.Timeline, documentMoment(&moves[i]))
	}
	slices.Reverse(data.Timeline)
	return p.Show(w, r, kit.Page{Title: DocumentType(d.Label), Crumbs: []kit.Link{{Label: "Documents", Href: documentsPath}}, Active: documentsPath}, Document(data))
}

// documentMoment is one step in the history of a document. An organisation sees
// that the regulator decided, and not which person.
func documentMoment(m *document.Move) kit.TimelineEntry {
	state := DocumentStates[m.To]
	by := "by the regulator"
	switch {
	case m.From == "":
		by = "by your organisation"
	case m.Actor.Kind == audit.System:
		by = "by the service"
	}
	title := state.Word
	if m.From == "" {
		title = "Uploaded"
	}
	shown := kit.TimelineEntry{At: m.At, Title: strings.TrimSpace(title + ", " + by), Tone: state.Tone}
	if m.Note != "" && NotePublic(m.To) {
		shown.Body = kit.Text(m.Note)
	}
	return shown
}
