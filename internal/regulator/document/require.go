package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The states of a requirement.
const (
	RequirementMissing  = "missing"  // nothing was uploaded, or it was deleted
	RequirementWaiting  = "waiting"  // for the scanner or a reviewer
	RequirementAccepted = "accepted" // is met
	RequirementRejected = "rejected" // the last upload was rejected, refused or infected
)

// Requirement is one document that an entity must submit.
type Requirement struct {
	Type     string
	State    string
	Document uuid.NullUUID // the one that determines the state
}

// Requirements returns the documents that an entity must submit and their state,
// in the order of the setting. It is empty for an entity that need not.
func (s *Store) Requirements(ctx context.Context, entity uuid.UUID) ([]Requirement, error) {
	return s.requirements(ctx, s.Pool, entity)
}

func (s *Store) requirements(ctx context.Context, from pg.DB, entity uuid.UUID) ([]Requirement, error) {
	var needed bool
	err := from.QueryRow(ctx, `SELECT document_required FROM entity WHERE id = $1`, entity).Scan(&needed)
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && !needed) || len(s.Required) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("document: read whether documents are required: %w", err)
	}
	docs, err := pg.Collect(ctx, from, pgx.RowToStructByPos[submitted], `SELECT id, label, state FROM document
		WHERE entity_id = $1 AND label = ANY($2::text[]) AND state <> 'deleted' ORDER BY created_at DESC, id DESC`, entity, s.Required)
	if err != nil {
		return nil, fmt.Errorf("document: list the submitted documents: %w", err)
	}
	list := make([]Requirement, len(s.Required))
	for i, kind := range s.Required {
		list[i] = requirement(kind, docs)
	}
	return list, nil
}

// submitted is a document that may meet a requirement.
type submitted struct {
	ID    uuid.UUID
	Label string
	State State
}

// requirement uses the newest accepted document and, if there is none, the newest
// one: an accepted licence stays valid while its successor is under review. The
// documents are sorted, newest first.
func requirement(kind string, docs []submitted) Requirement {
	r := Requirement{Type: kind, State: RequirementMissing}
	for _, d := range docs {
		if d.Label != kind {
			continue
		}
		if d.State == Accepted {
			return Requirement{Type: kind, State: RequirementAccepted, Document: pg.ID(d.ID)}
		}
		if r.Document.Valid {
			continue
		}
		r.State, r.Document = RequirementWaiting, pg.ID(d.ID)
		if slices.Contains([]State{Rejected, Refused, Infected}, d.State) {
			r.State = RequirementRejected
		}
	}
	return r
}

// ErrRestricted reports an entity that gets no live key before its documents are
// accepted. The message to the caller names them.
var ErrRestricted = fault.New(fault.IncompatibleState, "Documents that the regulator requires are missing.")

// CheckNewKey returns [ErrRestricted] while a required document of an entity is not
// accepted, with a message that says what to do.
func (s *Store) CheckNewKey(ctx context.Context, from pg.DB, entity uuid.UUID) error {
	list, err := s.requirements(ctx, from, entity)
	if err != nil {
		return err
	}
	var upload, wait []string
	for _, r := range list {
		switch r.State {
		case RequirementMissing, RequirementRejected:
			upload = append(upload, r.Type)
		case RequirementWaiting:
			wait = append(wait, r.Type)
		}
	}
	if len(upload) == 0 && len(wait) == 0 {
		return nil
	}
	message := "A live key can be created or rolled once the documents that the regulator requires are accepted."
	if len(upload) > 0 {
		message += " Upload: " + strings.Join(upload, ", ") + "."
	}
	if len(wait) > 0 {
		message += " Waiting for a decision: " + strings.Join(wait, ", ") + "."
	}
	return fault.New(fault.IncompatibleState, message).Because(ErrRestricted)
}

// CheckPolicy returns an error if the settings require a document that no caller
// could upload.
func (s *Store) CheckPolicy() error {
	if !s.Strict {
		return nil
	}
	for _, kind := range s.Required {
		if !slices.Contains(Types, kind) {
			return fmt.Errorf("document: LINEPROOF_DOCUMENTS_REQUIRED names the type %s, which LINEPROOF_DOCUMENT_TYPES_STRICT refuses; the types are: %s", kind, strings.Join(Types, ", "))
		}
	}
	return nil
}
