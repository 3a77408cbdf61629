package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The states of a document. New states may be added.
const (
	DocumentReceived = "received" // uploaded, waits for the scan
	DocumentScanning = "scanning" // being scanned
	DocumentClean    = "clean"    // waits for the regulator's decision
	DocumentRefused  = "refused"  // Reason says what is wrong with the file
	DocumentInfected = "infected"
	DocumentAccepted = "accepted"
	DocumentRejected = "rejected" // Message says why
	DocumentDeleted  = "deleted"
)

// DocumentRecord is an uploaded document with its current state.
type DocumentRecord struct {
	ID         string         `json:"documentId"`
	EntityUID  string         `json:"entityUid"`
	EntityName string         `json:"entityName,omitzero"` // for the regulator's staff
	Type       string         `json:"type"`
	Label      string         `json:"label"` // the type as it was uploaded
	FileName   string         `json:"fileName"`
	MediaType  string         `json:"mediaType"`
	Size       int64          `json:"size"`
	SHA256     string         `json:"sha256"` // in hexadecimal
	State      string         `json:"state"`
	Reason     string         `json:"reason"`  // a code for what is wrong with the file, if anything is
	Message    string         `json:"message"` // what the state means, for people
	UploadedAt time.Time      `json:"uploadedAt"`
	MovedAt    time.Time      `json:"movedAt"`             // when it changed to this state
	Replaces   string         `json:"replaces,omitzero"`   // the id of the document that it replaces
	ReplacedBy string         `json:"replacedBy,omitzero"` // the id of the document that replaced it
	Held       bool           `json:"held,omitzero"`       // on legal hold; for the regulator's staff
	History    []DocumentMove `json:"history,omitempty"`   // from [Client.Document] only
}

// DocumentMove is one change of a document's state.
type DocumentMove struct {
	At      time.Time `json:"at"`
	From    string    `json:"from,omitzero"` // empty for the first
	To      string    `json:"to"`
	By      string    `json:"by"`               // uploader, service or regulator
	ActorID string    `json:"actorId,omitzero"` // for the regulator's staff
	Reason  string    `json:"reason"`
	Note    string    `json:"note"`
}

// Requirement is a type of document that an entity has to submit.
type Requirement struct {
	Type       string `json:"type"`
	State      string `json:"state"`               // missing, waiting, accepted, rejected
	DocumentID string `json:"documentId,omitzero"` // the document of this type, if there is one
}

// DocumentsQuery selects documents. The zero value selects those of the caller's
// own entity.
type DocumentsQuery struct {
	EntityUID string   // as in [Document]; for staff, any entity, or none for all of them
	States    []string // only in these states; empty means all, and for staff without EntityUID those that wait for a decision
	Type      string   // only of this type
	Cursor    string   // Next of the previous page
	Limit     int      // page size; 0 means the default of the service
}

// DocumentList is one page of documents.
type DocumentList struct {
	Required     bool             `json:"isDocumentRequired,omitzero"` // whether the entity has to submit documents
	Requirements []Requirement    `json:"requirements,omitempty"`
	Documents    []DocumentRecord `json:"documents"`
	Next         string           `json:"next,omitzero"` // Cursor of the next page; empty after the last one
}

const documentsPath = "/api/regulator/v1/documents"

// Documents lists the documents of an entity, newest first, and those that it has
// to submit. The credential is a session, or an access token with
// [ScopeUpload].
func (c *Client) Documents(ctx context.Context, credential Secret, q DocumentsQuery) (*DocumentList, error) {
	query := url.Values{}
	for name, value := range map[string]string{"entityUid": q.EntityUID, "state": strings.Join(q.States, ","), "type": q.Type, "cursor": q.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	path := documentsPath
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return readData(ctx, c, credential, "documents", path, func(d *DocumentList) bool { return d.Documents == nil })
}

// Document returns a document with the history of its state. The credential is a
// session, or an access token with [ScopeUpload].
func (c *Client) Document(ctx context.Context, credential Secret, id string) (*DocumentRecord, error) {
	r, err := c.newRead(ctx, "document", documentsPath+"/"+url.PathEscape(id), credential)
	if err != nil {
		return nil, err
	}
	return sendDocument(ctx, c, r)
}

func sendDocument(ctx context.Context, c *Client, r *request) (*DocumentRecord, error) {
	return sendData(ctx, c, r, func(d *DocumentRecord) bool { return d.ID == "" || d.State == "" })
}

// DocumentContent writes a PDF with pictures of the pages of a document to w. The credential is a
// session; only documents that are clean, accepted or rejected can be downloaded.
// If it fails, w may have received a part of the PDF, or something that is not
// the PDF: discard it.
func (c *Client) DocumentContent(ctx context.Context, credential Secret, id string, w io.Writer) error {
	r, err := c.newRead(ctx, "document content", documentsPath+"/"+url.PathEscape(id)+"/content", credential)
	if err != nil {
		return err
	}
	r.header.Set("Accept", "application/pdf, application/json")
	r.into, r.digest = w, true
	_, err = c.sendWithRetries(ctx, r)
	return err
}

// ReviewDocument accepts or rejects a document. The credential is a session of an
// administrator or a reviewer of the regulator's staff. A rejection needs a
// reason, which is shown to the entity.
//
// It is not retried when it is not known whether it was carried out, because a
// second decision is refused: get the document in that case.
func (c *Client) ReviewDocument(ctx context.Context, credential Secret, id string, accept bool, reason string) (*DocumentRecord, error) {
	r, err := c.newRequest(ctx, "review", documentsPath+"/"+url.PathEscape(id)+"/review")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(credential); err != nil {
		return nil, err
	}
	fields := map[string]any{"decision": DocumentRejected}
	if accept {
		fields["decision"] = DocumentAccepted
	}
	if reason != "" {
		fields["reason"] = reason
	}
	if err := r.sendJSON(fields); err != nil {
		return nil, err
	}
	r.method = http.MethodPost
	return sendDocument(ctx, c, r)
}
