package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// papersShown is how many documents one page lists.
const papersShown = 50

var papersPage = view.Page{Title: "Documents", Lead: "What the regulator wants to see of your organisation, and what became of it.", Active: papersPath}

// showPapers serves GET /portal/documents.
func (p *Portal) showPapers(w http.ResponseWriter, r *http.Request) error {
	d, err := p.papers(r, view.Form{})
	if err != nil {
		return err
	}
	return p.show(w, r, papersPage, view.Papers(d))
}

func (p *Portal) papers(r *http.Request, form view.Form) (view.PapersData, error) {
	entity := visitOf(r).who.Entity
	needed, err := p.Documents.Requirements(r.Context(), entity)
	if err != nil {
		return view.PapersData{}, err
	}
	d := view.PapersData{Form: form, Most: view.Bytes(p.Documents.MaxBytes), Now: p.Now()}
	o := paperOrder(r)
	list, at, err := p.paperPage(r, o, document.Filter{Entity: entity})
	if err != nil {
		return view.PapersData{}, err
	}
	d.First, d.Next, d.Heads = at.first, at.next, o.head
	for _, n := range needed {
		d.Needed = append(d.Needed, neededRow(&n))
	}
	for i := range list {
		d.Rows = append(d.Rows, paperRow(&list[i]))
	}
	for _, kind := range p.paperTypes() {
		d.Types = append(d.Types, view.Option{Value: kind, Label: typeWord(kind)})
	}
	return d, nil
}

// paperOrder reads by what somebody wants the documents of one organisation;
// unless they say it, the newest is first.
func paperOrder(r *http.Request) order {
	o := orderOf(r, string(document.ByKind), string(document.ByFile), string(document.ByState), string(document.ByUploaded))
	if o.column == "" {
		o.column, o.desc = string(document.ByUploaded), true
	}
	return o
}

// paperPage returns the page of documents that a request asks for, and where
// those around it are.
func (p *Portal) paperPage(r *http.Request, o order, f document.Filter) ([]document.Document, pages, error) {
	f.Sort, f.Descending, f.Called = document.Sort(o.column), o.desc, typeWords
	f.After, f.Limit = r.URL.Query().Get("after"), papersShown
	list, next, err := p.Documents.List(r.Context(), f)
	var at pages
	if f.After != "" {
		at.first = pageAfter(r, "")
	}
	if next != "" {
		at.next = pageAfter(r, next)
	}
	return list, at, err
}

// paperTypes are the types that are offered: what is known, and whatever else
// the settings require.
func (p *Portal) paperTypes() []string {
	types := slices.Clone(document.Types)
	for _, kind := range p.Documents.Required {
		if !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types
}

// typeWords are the types as people call them.
var typeWords = map[string]string{
	"CAC_CERTIFICATE": "CAC certificate", "CAC_STATUS_REPORT": "CAC status report", "OPERATING_LICENCE": "Operating licence", "TAX_ID": "Tax identification",
	"DATA_PROTECTION_REGISTRATION": "Data protection registration", "LETTER_OF_AUTHORISATION": "Letter of authorisation", "ADMIN_ID": "Identity of the admin",
	document.Other: "Something else",
}

func typeWord(kind string) string {
	if word, ok := typeWords[kind]; ok {
		return word
	}
	return kind
}

func neededRow(n *document.Requirement) view.NeededRow {
	row := view.NeededRow{Type: n.Type, Name: typeWord(n.Type)}
	switch n.State {
	case document.RequirementAccepted:
		row.State, row.Tone = "Accepted", view.Good
	case document.RequirementWaiting:
		row.State, row.Tone = "Waits for a decision", view.Info
	case document.RequirementRejected:
		row.State, row.Tone, row.Missing = "Rejected: send another", view.Bad, true
	default:
		row.State, row.Tone, row.Missing = "Missing", view.Warn, true
	}
	if n.Document.Valid {
		row.Href = paperHref(n.Document.UUID.String())
	}
	return row
}

func paperHref(id string) string { return papersPath + "/" + id }

// paperStates say what a state means, in a word and in a sentence.
var paperStates = map[document.State]struct {
	word, means string
	tone        view.Tone
}{
	document.Received: {"Received", "The file has arrived whole and waits for the virus scanner. Nobody is shown it before that.", view.Info},
	document.Scanning: {"Being scanned", "The file is being looked at. Nobody is shown it before that is done.", view.Info},
	document.Clean:    {"Waits for a decision", "Nothing was found wrong with the file. The regulator has not decided yet.", view.Info},
	document.Refused:  {"Refused", "The file cannot be opened without risk. Nobody is shown it. Save the document anew and send that.", view.Bad},
	document.Infected: {"Infected", "The virus scanner found something in the file. Nobody is shown it. Send the document from a machine that is free of it.", view.Bad},
	document.Accepted: {"Accepted", "The regulator has accepted the document.", view.Good},
	document.Rejected: {"Rejected", "The regulator has rejected the document. Send another in its place.", view.Bad},
	document.Deleted:  {"Deleted", "The file was deleted. This record of it is kept.", view.Neutral},
}

func paperRow(d *document.Document) view.PaperRow {
	state := paperStates[d.State]
	row := view.PaperRow{
		ID: d.ID.String(), Type: typeWord(d.Label), FileName: d.FileName, MediaType: d.MediaType, Size: d.Size, State: state.word, Tone: state.tone, Message: state.means,
		Uploaded: d.Created, Moved: d.Moved, Open: d.State.Open(), Over: d.State == document.Deleted,
	}
	if d.Note != "" && toldNote(d.State) {
		row.Message = d.Note
	}
	return row
}

// toldNote reports whether an organisation is told what was noted with a state.
// Why an operator deleted a document, or had it scanned again, is for staff.
func toldNote(s document.State) bool {
	return slices.Contains([]document.State{document.Refused, document.Infected, document.Accepted, document.Rejected}, s)
}

// ownPaper returns the document that the path names, if it is the visitor's.
func (p *Portal) ownPaper(r *http.Request) (document.Document, error) {
	id, err := idOf(r, "document")
	if err != nil {
		return document.Document{}, err
	}
	d, err := p.Documents.Find(r.Context(), id)
	if isCode(err, fault.NotFound) || (err == nil && d.Entity != visitOf(r).who.Entity) {
		return document.Document{}, errNoPage
	}
	return d, err
}

// showPaper serves GET /portal/documents/{document}.
func (p *Portal) showPaper(w http.ResponseWriter, r *http.Request) error {
	d, err := p.ownPaper(r)
	if err != nil {
		return err
	}
	moves, err := p.Documents.History(r.Context(), d.ID)
	if err != nil {
		return err
	}
	data := view.PaperData{Row: paperRow(&d), Now: p.Now()}
	for i := range moves {
		data.Moments = append(data.Moments, paperMoment(&moves[i]))
	}
	slices.Reverse(data.Moments)
	if d.Replaces.Valid {
		data.Replaces = paperHref(d.Replaces.UUID.String())
	}
	if d.ReplacedBy.Valid {
		data.ReplacedBy = paperHref(d.ReplacedBy.UUID.String())
	}
	return p.show(w, r, view.Page{Title: typeWord(d.Label), Crumbs: []view.Link{{Label: "Documents", Href: papersPath}}, Active: papersPath}, view.Paper(data))
}

// paperMoment is one step of a document. An organisation is told that the
// regulator decided, and not which person.
func paperMoment(m *document.Move) view.Moment {
	state := paperStates[m.To]
	by := "by the regulator"
	switch {
	case m.From == "":
		by = "by your organisation"
	case m.Actor.Kind == audit.System:
		by = "by the service"
	}
	title := state.word
	if m.From == "" {
		title = "Uploaded"
	}
	shown := view.Moment{At: m.At, Title: strings.TrimSpace(title + ", " + by), Tone: state.tone}
	if m.Note != "" && toldNote(m.To) {
		shown.Body = view.Text(m.Note)
	}
	return shown
}
