package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// The states of a requirement.
const (
	RequirementMissing  = "missing"  // nothing was uploaded, or it was deleted
	RequirementWaiting  = "waiting"  // for the scanner or a reviewer
	RequirementAccepted = "accepted" // is met
	RequirementRejected = "rejected" // what was uploaded last came to nothing
)

// Requirement is one document that an entity has to hand in.
type Requirement struct {
	Type     string
	State    string
	Document uuid.NullUUID // the one that put it into its state
}

// Requirements returns what an entity has to hand in and how far it is, in the
// order of the settings. It is empty for one that need not.
func (s *Store) Requirements(ctx context.Context, entity uuid.UUID) ([]Requirement, error) {
	return s.requirements(ctx, s.Pool, entity)
}

func (s *Store) requirements(ctx context.Context, from pg.DB, entity uuid.UUID) ([]Requirement, error) {
	q := db.New(from)
	needed, err := q.Required(ctx, entity)
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && !needed) || len(s.Required) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("document: read whether documents are required: %w", err)
	}
	docs, err := q.ForRequirements(ctx, db.ForRequirementsParams{EntityID: entity, Labels: s.Required})
	if err != nil {
		return nil, fmt.Errorf("document: list what was handed in: %w", err)
	}
	list := make([]Requirement, len(s.Required))
	for i, kind := range s.Required {
		list[i] = requirement(kind, docs)
	}
	return list, nil
}

// requirement judges by the newest document that was accepted, and if none was
// by the newest: a licence that was accepted does not lapse because its
// successor is still being looked at. The newest come first.
func requirement(kind string, docs []db.ForRequirementsRow) Requirement {
	r := Requirement{Type: kind, State: RequirementMissing}
	for _, d := range docs {
		if d.Label != kind {
			continue
		}
		if State(d.State) == Accepted {
			return Requirement{Type: kind, State: RequirementAccepted, Document: pg.ID(d.ID)}
		}
		if r.Document.Valid {
			continue
		}
		r.State, r.Document = RequirementWaiting, pg.ID(d.ID)
		if slices.Contains([]State{Rejected, Refused, Infected}, State(d.State)) {
			r.State = RequirementRejected
		}
	}
	return r
}

// ErrRestricted reports an entity that gets no live key before its documents
// are accepted. What the caller is told names them.
var ErrRestricted = fault.New(fault.IncompatibleState, "Documents that the regulator requires are missing.")

// MayMakeKey returns [ErrRestricted] while a document that an entity has to hand
// in is not accepted, in words that say what to do.
func (s *Store) MayMakeKey(ctx context.Context, from pg.DB, entity uuid.UUID) error {
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
	words := "A live key is made or rolled once the documents that the regulator requires are accepted."
	if len(upload) > 0 {
		words += " Upload: " + strings.Join(upload, ", ") + "."
	}
	if len(wait) > 0 {
		words += " Not decided yet: " + strings.Join(wait, ", ") + "."
	}
	return fault.New(fault.IncompatibleState, words).Because(ErrRestricted)
}

// CheckPolicy returns an error if the settings ask for a document that no
// caller could upload.
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
