package present

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/portal"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/portal/view/orgview"
	"github.com/lineproof/lineproof/internal/web"
)

// documentsShown is the number of documents on one page.
const documentsShown = 50

// DocumentOrder reads the order in which the documents of one organisation are
// requested; the default is the newest first.
func DocumentOrder(r *http.Request) portal.Order {
	o := portal.ReadOrder(r, string(document.ByKind), string(document.ByFile), string(document.ByState), string(document.ByUploaded))
	if o.Column == "" {
		o.Column, o.Descending = string(document.ByUploaded), true
	}
	return o
}

// DocumentPage returns the requested page of documents, and the links to the
// first and the next page.
func DocumentPage(r *http.Request, documents *document.Store, o portal.Order, f document.Filter) ([]document.Document, web.Links, error) {
	f.Sort, f.Descending, f.LabelNames = document.Sort(o.Column), o.Descending, documentTypes
	f.After, f.Limit = web.Cursor(r), documentsShown
	list, next, err := documents.List(r.Context(), f)
	return list, web.PageLinks(r, f.After, next), err
}

// documentTypes are the names of the document types on pages.
var documentTypes = map[string]string{
	"CAC_CERTIFICATE": "CAC certificate", "CAC_STATUS_REPORT": "CAC status report", "OPERATING_LICENCE": "Operating licence", "TAX_ID": "Tax identification",
	"DATA_PROTECTION_REGISTRATION": "Data protection registration", "LETTER_OF_AUTHORISATION": "Letter of authorisation", "ADMIN_ID": "Identity of the admin",
	document.Other: "Something else",
}

// DocumentType returns the name of a document type.
func DocumentType(kind string) string {
	if name, ok := documentTypes[kind]; ok {
		return name
	}
	return kind
}

// RequirementRow returns a required document as a row that links below base.
func RequirementRow(n *document.Requirement, base string) orgview.RequiredRow {
	row := orgview.RequiredRow{Type: n.Type, Name: DocumentType(n.Type)}
	switch n.State {
	case document.RequirementAccepted:
		row.State, row.Tone = "Accepted", view.Good
	case document.RequirementWaiting:
		row.State, row.Tone = "Waiting for a decision", view.Info
	case document.RequirementRejected:
		row.State, row.Tone, row.Missing = "Rejected: send another", view.Bad, true
	default:
		row.State, row.Tone, row.Missing = "Missing", view.Warn, true
	}
	if n.Document.Valid {
		row.Href = base + "/" + n.Document.UUID.String()
	}
	return row
}

// StateText describes a state in a word and in a sentence.
type StateText struct {
	Word, Meaning string
	Tone          view.Tone
}

// DocumentStates describe the states of documents to the organisation.
var DocumentStates = map[document.State]StateText{
	document.Received: {"Received", "The file has arrived and waits for the virus scanner. Nobody can open it before that.", view.Info},
	document.Scanning: {"Being scanned", "The virus scanner is checking the file. Nobody can open it before that is finished.", view.Info},
	document.Clean:    {"Waiting for a decision", "Nothing wrong was found in the file. The regulator has not decided yet.", view.Info},
	document.Refused:  {"Rejected, not safe to open", "The file cannot be opened safely, so nobody can open it. Save the document as a new file and send that.", view.Bad},
	document.Infected: {"Infected", "The virus scanner found malware in the file, so nobody can open it. Send the document from a clean computer.", view.Bad},
	document.Accepted: {"Accepted", "The regulator has accepted the document.", view.Good},
	document.Rejected: {"Rejected", "The regulator has rejected the document. Send another in its place.", view.Bad},
	document.Deleted:  {"Deleted", "The file was deleted. This record of it is kept.", view.Neutral},
}

// DocumentRow returns a document as its organisation sees it.
func DocumentRow(d *document.Document) orgview.DocumentRow {
	state := DocumentStates[d.State]
	row := orgview.DocumentRow{
		ID: d.ID.String(), Type: DocumentType(d.Label), FileName: d.FileName, MediaType: d.MediaType, Size: d.Size, State: state.Word, Tone: state.Tone, Message: state.Meaning,
		Uploaded: d.Created, Moved: d.Moved, Open: d.State.Open(), Inactive: d.State == document.Deleted,
	}
	if d.Note != "" && NotePublic(d.State) {
		row.Message = d.Note
	}
	return row
}

// NotePublic reports whether the organisation may read the note of a state. Why
// an operator deleted a document, or had it scanned again, is for staff only.
func NotePublic(s document.State) bool {
	return slices.Contains([]document.State{document.Refused, document.Infected, document.Accepted, document.Rejected}, s)
}

// SendDocument sends the content of a document that the visitor may see, and
// records that in the audit trail.
func SendDocument(w http.ResponseWriter, r *http.Request, documents *document.Store, d *document.Document) error {
	v := portal.VisitOf(r)
	found, content, err := documents.Content(r.Context(), d.ID, v.Who.Actor(), v.ID)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	if err := web.SendDocument(w, &found, content); err != nil {
		v.Add(slog.String("error", err.Error()))
	}
	return nil
}
