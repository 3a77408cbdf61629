package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const documentsPath = "/api/regulator/v1/documents"

const (
	defaultDocuments = 50 // the default for limit
	maxDocuments     = 200
)

type documentsResponse struct {
	IsDocumentRequired *bool                 `json:"isDocumentRequired,omitzero"` // if the list is of one entity
	Requirements       []requirementResponse `json:"requirements,omitzero"`       // likewise
	Documents          []documentResponse    `json:"documents"`
	Next               *string               `json:"next"`
}

type requirementResponse struct {
	Type       string  `json:"type"`
	State      string  `json:"state"`
	DocumentID *string `json:"documentId"`
}

// isStaff reports whether the caller is one of the regulator's staff.
func isStaff(who access.Principal) bool { return who.Kind == access.Session && who.Role != "" }

// listDocuments serves GET /api/regulator/v1/documents.
func (a *API) listDocuments(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	staff := isStaff(principal(ctx))
	filter, err := a.documentFilter(r, staff)
	if err != nil {
		return err
	}
	var answer documentsResponse
	if filter.Entity != uuid.Nil {
		if err := a.addRequirements(ctx, filter.Entity, &answer); err != nil {
			return err
		}
	}
	list, next, err := a.Documents.List(ctx, filter)
	if err != nil {
		return err
	}
	answer.Documents = make([]documentResponse, len(list))
	for i := range list {
		answer.Documents[i] = documentOf(&list[i], staff)
	}
	if next != "" {
		answer.Next = &next
	}
	return a.respond(w, r, answer)
}

// documentFilter reads which documents to list. Staff who name no entity get those
// of all entities; if they name no state either, those that wait for a decision.
func (a *API) documentFilter(r *http.Request, staff bool) (f document.Filter, err error) {
	values, wrong, err := readQuery(r.URL.RawQuery, "entityUid", "state", "type", "cursor", "limit")
	if err != nil {
		return f, err
	}
	var named uuid.UUID
	if values.Has("entityUid") {
		named, err = uuid.Parse(values.Get("entityUid"))
		wrong.Check(err == nil && len(values.Get("entityUid")) == 36, "entityUid", fault.BadFormat, "Must be the entityUid that onboarding returned.")
	}
	if values.Has("state") {
		for word := range strings.SplitSeq(values.Get("state"), ",") {
			f.States = append(f.States, document.State(word))
		}
		unknown := func(s document.State) bool { return !slices.Contains(document.States, s) }
		wrong.Check(!slices.ContainsFunc(f.States, unknown), "state", fault.NotAllowed, "The allowed values are: "+stateNames()+". Separate several with commas.")
	}
	f.Type = values.Get("type")
	wrong.Check(f.Type == "" || slices.Contains(document.Types, f.Type), "type", fault.NotAllowed, "The allowed values are: "+strings.Join(document.Types, ", ")+".")
	f.After, f.Limit = values.Get("cursor"), defaultDocuments
	if values.Has("limit") {
		f.Limit, err = strconv.Atoi(values.Get("limit"))
		wrong.Check(err == nil && f.Limit >= 1 && f.Limit <= maxDocuments, "limit", fault.NotAllowed, "Must be 1 to 200.")
	}
	if staff {
		if f.Entity = named; named == uuid.Nil && !values.Has("state") {
			f.States = []document.State{document.Clean}
		}
		return f, wrong.Err()
	}
	if len(wrong.Violations()) > 0 {
		// The request fails anyway; report a wrong entity together with the rest.
		named = uuid.Nil
	}
	f.Entity, err = entityOf(r.Context(), a.Documents.Pool, named)
	return f, mergeViolations(wrong.Violations(), err)
}

func stateNames() string {
	words := make([]string, len(document.States))
	for i, s := range document.States {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// addRequirements adds the documents that an entity has to submit, and the state
// of each.
func (a *API) addRequirements(ctx context.Context, entity uuid.UUID, answer *documentsResponse) error {
	e, err := a.Registry.Entity(ctx, entity)
	if err != nil {
		return err
	}
	list, err := a.Documents.Requirements(ctx, entity)
	if err != nil {
		return err
	}
	answer.IsDocumentRequired, answer.Requirements = &e.DocumentRequired, make([]requirementResponse, len(list))
	for i, q := range list {
		answer.Requirements[i] = requirementResponse{Type: q.Type, State: q.State, DocumentID: idOrNull(q.Document)}
	}
	return nil
}

// documentNamed returns the document in the path. One that the caller may not see
// is not found.
func (a *API) documentNamed(r *http.Request) (document.Document, error) {
	ctx := r.Context()
	id, err := pathID(r, "documentId", document.ErrNoDocument)
	if err != nil {
		return document.Document{}, err
	}
	d, err := a.Documents.Find(ctx, id)
	if err != nil || isStaff(principal(ctx)) {
		return d, err
	}
	switch _, err := entityOf(ctx, a.Documents.Pool, d.Entity); {
	case errors.Is(err, registry.ErrNoEntity):
		return document.Document{}, document.ErrNoDocument
	case err != nil:
		return document.Document{}, err
	}
	return d, nil
}

// showDocument serves GET /api/regulator/v1/documents/{documentId}.
func (a *API) showDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := a.documentNamed(r)
	if err != nil {
		return err
	}
	moves, err := a.Documents.History(r.Context(), d.ID)
	if err != nil {
		return err
	}
	staff := isStaff(principal(r.Context()))
	answer := documentOf(&d, staff)
	answer.History = make([]moveResponse, len(moves))
	for i := range moves {
		answer.History[i] = moveOf(&moves[i], staff)
	}
	return a.respond(w, r, answer)
}

// reviewDocument serves POST /api/regulator/v1/documents/{documentId}/review.
func (a *API) reviewDocument(w http.ResponseWriter, r *http.Request) error {
	d, err := a.documentNamed(r)
	if err != nil {
		return err
	}
	var decision, reason string
	found, err := decode(r, field{name: "decision", text: &decision}, field{name: "reason", text: &reason})
	if err != nil {
		return err
	}
	var wrong fault.Form
	accept := decision == string(document.Accepted)
	wrong.Check(decision != "", "decision", fault.Required, "Must be accepted or rejected.")
	wrong.Check(decision == "" || accept || decision == string(document.Rejected), "decision", fault.NotAllowed, "Must be accepted or rejected.")
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	who := principal(r.Context())
	d, err = a.Documents.Review(r.Context(), document.Review{
		Document: d.ID, Accept: accept, Reason: reason, Actor: who.Actor(), Request: requestID(r.Context()),
	})
	if err != nil {
		return err
	}
	return a.respond(w, r, documentOf(&d, true))
}
