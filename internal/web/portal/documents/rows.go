package documents

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
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

// requirementStates are the states of required documents in words.
var requirementStates = map[string]kit.StateText{
	document.RequirementMissing:  {Word: "Missing", Tone: kit.Warn},
	document.RequirementWaiting:  {Word: "Waiting for a decision", Tone: kit.Info},
	document.RequirementAccepted: {Word: "Accepted", Tone: kit.Good},
	document.RequirementRejected: {Word: "Rejected: send another", Tone: kit.Bad},
}

// DocumentStates describe the states of documents to the organisation.
var DocumentStates = map[document.State]kit.StateText{
	document.Received: {Word: "Received", Meaning: "The file has arrived and waits for the virus scanner. Nobody can open it before that.", Tone: kit.Info},
	document.Scanning: {Word: "Being scanned", Meaning: "The virus scanner is checking the file. Nobody can open it before that is finished.", Tone: kit.Info},
	document.Clean:    {Word: "Waiting for a decision", Meaning: "Nothing wrong was found in the file. The regulator has not decided yet.", Tone: kit.Info},
	document.Refused:  {Word: "Rejected, cannot be shown", Meaning: "No pictures could be made of the file’s pages, so nobody can see it. Save the document as a new file and send that.", Tone: kit.Bad},
	document.Infected: {Word: "Infected", Meaning: "The virus scanner found malware in the file, so nobody can open it. Send the document from a clean computer.", Tone: kit.Bad},
	document.Accepted: {Word: "Accepted", Meaning: "The regulator has accepted the document.", Tone: kit.Good},
	document.Rejected: {Word: "Rejected", Meaning: "The regulator has rejected the document. Send another in its place.", Tone: kit.Bad},
	document.Deleted:  {Word: "Deleted", Meaning: "The file was deleted. This record of it is kept.", Tone: kit.Neutral},
}

// DocumentRow is a document, and what its reader may know about its state.
type DocumentRow struct {
	*document.Document

	Message string
}

// RowOf returns a document as its organisation sees it.
func RowOf(d *document.Document) DocumentRow {
	if d.Note != "" && NotePublic(d.State) {
		return DocumentRow{d, d.Note}
	}
	return DocumentRow{d, DocumentStates[d.State].Meaning}
}

// Type is what the document is, in words.
func (d DocumentRow) Type() string { return DocumentType(d.Label) }

// Inactive reports whether nothing but the record of the document is left.
func (d DocumentRow) Inactive() bool { return d.State == document.Deleted }

// NotePublic reports whether the organisation may read the note of a state. Why
// an operator deleted a document, or had it scanned again, is for staff only.
func NotePublic(s document.State) bool {
	return slices.Contains([]document.State{document.Refused, document.Infected, document.Accepted, document.Rejected}, s)
}

// SendDocument sends the pictures of a document that the visitor may see, and
// records that in the audit trail.
func SendDocument(w http.ResponseWriter, r *http.Request, documents *document.Store, d *document.Document) error {
	v := portal.VisitOf(r)
	c, err := documents.Content(r.Context(), d.ID, v.Who.Actor(), v.ID)
	if err != nil {
		return err
	}
	return SendCopy(w, r, &c)
}

// SendCopy sends a copy of a document and closes it.
func SendCopy(w http.ResponseWriter, r *http.Request, c *document.Copy) error {
	defer func() { _ = c.File.Close() }() // it was only read
	if err := web.SendDownload(w, &web.Download{ContentType: c.ContentType(), Name: c.SaveAs(), Size: c.Size, SHA256: c.SHA256, Content: c.File}); err != nil {
		portal.VisitOf(r).Add(slog.String("error", err.Error()))
	}
	return nil
}
