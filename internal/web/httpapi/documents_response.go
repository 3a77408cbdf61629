package httpapi

import (
	"encoding/hex"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

type documentResponse struct {
	DocumentID string         `json:"documentId"`
	EntityUID  string         `json:"entityUid"`
	EntityName string         `json:"entityName,omitzero"` // for staff
	Type       string         `json:"type"`
	Label      string         `json:"label"`
	FileName   string         `json:"fileName"`
	MediaType  string         `json:"mediaType"`
	Size       int64          `json:"size"`
	SHA256     string         `json:"sha256"`
	State      string         `json:"state"`
	Reason     string         `json:"reason"`
	Message    string         `json:"message"`
	UploadedAt string         `json:"uploadedAt"`
	MovedAt    string         `json:"movedAt"`
	Replaces   *string        `json:"replaces"`
	ReplacedBy *string        `json:"replacedBy"`
	Held       *bool          `json:"held,omitzero"`    // for staff
	History    []moveResponse `json:"history,omitzero"` // only in the response about one document
}

// moveResponse is one change of a document's state.
type moveResponse struct {
	At      string  `json:"at"`
	From    *string `json:"from"`
	To      string  `json:"to"`
	By      string  `json:"by"`
	ActorID *string `json:"actorId,omitzero"` // for staff
	Reason  string  `json:"reason"`
	Note    string  `json:"note"`
}

// documentOf returns the response for a document. Only staff see the name of its
// entity and whether it is held.
func documentOf(d *document.Document, staff bool) documentResponse {
	shown := documentResponse{
		DocumentID: d.ID.String(), EntityUID: d.Entity.String(), Type: d.Type, Label: d.Label, FileName: d.FileName, MediaType: d.MediaType,
		Size: d.Size, SHA256: hex.EncodeToString(d.SHA256[:]), State: string(d.State), Reason: d.Reason, Message: stateMessages[d.State],
		UploadedAt: stamp(d.Created), MovedAt: stamp(d.Moved), Replaces: idOrNull(d.Replaces), ReplacedBy: idOrNull(d.ReplacedBy),
	}
	if d.Note != "" && (staff || showsNote(d.State)) {
		shown.Message = d.Note
	}
	if staff {
		shown.EntityName, shown.Held = d.EntityName, &d.Held
	}
	return shown
}

// stateMessages explain a state where there is no note about the document itself.
var stateMessages = map[document.State]string{
	document.Received: "The file is uploaded and waits for the virus scan. Nobody can open it before that.",
	document.Scanning: "The file is being scanned. Nobody can open it before that is done.",
	document.Clean:    "The scan found no problem. The document waits for the regulator's decision.",
	document.Refused:  "The file is not safe to open, and nobody can open it. Save the document again and upload the new file.",
	document.Infected: "The virus scanner found malware in the file, and nobody can open it. Upload the document from a clean computer.",
	document.Accepted: "The regulator has accepted the document.",
	document.Rejected: "The regulator has rejected the document.",
	document.Deleted:  "The file was deleted. Its record is kept.",
}

// showsNote reports whether the uploader sees the note about a state. Why an
// operator deleted a document, or had it scanned again, is for staff only.
func showsNote(s document.State) bool {
	return slices.Contains([]document.State{document.Refused, document.Infected, document.Accepted, document.Rejected}, s)
}

// Who changed the state. An organisation sees that the regulator decided, but not
// which person.
const (
	byUploader  = "uploader"
	byService   = "service"
	byRegulator = "regulator"
)

func moveOf(m *document.Move, staff bool) moveResponse {
	shown := moveResponse{At: stamp(m.At), To: string(m.To), By: byRegulator, Reason: m.Reason}
	from := string(m.From)
	switch {
	case m.From == "":
		shown.By = byUploader
	case m.Actor.Kind == audit.System:
		shown.By = byService
	}
	if m.From != "" {
		shown.From = &from
	}
	if staff || showsNote(m.To) {
		shown.Note = m.Note
	}
	if staff {
		shown.ActorID = idOrNull(uuid.NullUUID{UUID: m.Actor.ID, Valid: m.Actor.ID != uuid.Nil})
	}
	return shown
}

func idOrNull(id uuid.NullUUID) *string {
	if !id.Valid {
		return nil
	}
	s := id.UUID.String()
	return &s
}
