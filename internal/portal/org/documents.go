package org

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/present"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
)

var documentsPage = view.Page{Title: "Documents", Lead: "The documents that the regulator requires from your organisation, and their state.", Active: documentsPath}

// showDocuments serves GET /portal/documents.
func (p *Pages) showDocuments(w http.ResponseWriter, r *http.Request) error {
	d, err := p.documents(r, view.Form{})
	if err != nil {
		return err
	}
	return p.Show(w, r, documentsPage, orgview.Documents(d))
}

func (p *Pages) documents(r *http.Request, form view.Form) (orgview.DocumentsData, error) {
	entity := portal.VisitOf(r).Who.Entity
	needed, err := p.Documents.Requirements(r.Context(), entity)
	if err != nil {
		return orgview.DocumentsData{}, err
	}
	d := orgview.DocumentsData{Form: form, Max: view.Bytes(p.Documents.MaxBytes), Now: p.Now()}
	o := present.DocumentOrder(r)
	list, links, err := present.DocumentPage(r, p.Documents, o, document.Filter{Entity: entity})
	if err != nil {
		return orgview.DocumentsData{}, err
	}
	d.First, d.Next, d.Heads = links.First, links.Next, o.Head
	for _, n := range needed {
		d.Required = append(d.Required, present.RequirementRow(&n, documentsPath))
	}
	for i := range list {
		d.Rows = append(d.Rows, present.DocumentRow(&list[i]))
	}
	for _, kind := range p.offeredTypes() {
		d.Types = append(d.Types, view.Option{Value: kind, Label: present.DocumentType(kind)})
	}
	return d, nil
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

func documentURL(id string) string { return documentsPath + "/" + id }

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
	data := orgview.DocumentData{Row: present.DocumentRow(&d), Now: p.Now()}
	for i := range moves {
		data.Timeline = append(data.Timeline, documentMoment(&moves[i]))
	}
	slices.Reverse(data.Timeline)
	if d.Replaces.Valid {
		data.Replaces = documentURL(d.Replaces.UUID.String())
	}
	if d.ReplacedBy.Valid {
		data.ReplacedBy = documentURL(d.ReplacedBy.UUID.String())
	}
	data.Again = data.Row.Tone == view.Bad && data.ReplacedBy == ""
	return p.Show(w, r, view.Page{Title: present.DocumentType(d.Label), Crumbs: []view.Link{{Label: "Documents", Href: documentsPath}}, Active: documentsPath}, orgview.Document(data))
}

// documentMoment is one step in the history of a document. An organisation sees
// that the regulator decided, and not which person.
func documentMoment(m *document.Move) view.TimelineEntry {
	state := present.DocumentStates[m.To]
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
	shown := view.TimelineEntry{At: m.At, Title: strings.TrimSpace(title + ", " + by), Tone: state.Tone}
	if m.Note != "" && present.NotePublic(m.To) {
		shown.Body = view.Text(m.Note)
	}
	return shown
}
