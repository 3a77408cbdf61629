// Package document receives the documents of an entity, scans and inspects them,
// and records the review.
//
// A file is streamed into the blob store first and recorded second, in a
// transaction: a record never refers to an incomplete file. If recording fails,
// the file is removed; a file that a crash leaves behind has no record, is never
// shown, and the sweep removes it after a day.
//
// The scan is queued in the transaction that records the document. A document is
// not shown before the virus scanner has passed all of it and the inspection could
// open it completely; while the scanner is unavailable, documents wait. Then staff
// accept or reject it. Every change of state is a [Move] and is stored, even after
// the content is deleted.
//
// The content decides what kind of file it is. The name is metadata and never
// used as a path.
package document

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/inspect"
	"github.com/lineproof/lineproof/internal/pageimage"
	"github.com/lineproof/lineproof/internal/pg"
)

// Store stores documents. Pool, Files and Now are required, MaxBytes for uploads,
// and Inspector for scans.
type Store struct {
	Pool      *pgxpool.Pool
	Files     blob.Store
	Scanner   *clamd.Scanner // nil if none is configured: documents wait
	Inspector *inspect.Inspector
	Pictures  pageimage.Drawer // the zero value is ready
	Spool     string           // the directory for temporary copies; "" means the system's
	MaxBytes  int64
	Strict    bool // whether only the known types are allowed
	// Required are the types, or labels, of documents that an entity must submit if
	// it was onboarded with documents required.
	Required []string
	// Retention is how long a document is stored after the decision about it, by
	// label or type. Documents of other types are stored without a limit.
	Retention map[string]time.Duration
	// Queue queues the scan of a document in the given transaction. If it is nil,
	// the periodic job for waiting documents queues the scan.
	Queue func(context.Context, pg.Tx, uuid.UUID) error
	Now   func() time.Time

	counted pageCounts
}

// now returns the current time to the microsecond, which is what PostgreSQL
// stores.
func (s *Store) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// ErrNoDocument reports a document that does not exist for this caller.
var ErrNoDocument = fault.New(fault.NotFound, "There is no document with this id.")

// Document is one document without its content.
type Document struct {
	ID, Entity  uuid.UUID
	EntityName  string
	Type, Label string // the label is the type as it was sent
	FileName    string
	MediaType   string
	Size        int64
	SHA256      [32]byte
	State       State
	Reason      string    // why it is in this state, as a code; empty if the state alone is clear
	Note        string    // the same as a text for the uploader, or the reviewer's own
	Created     time.Time // when it was uploaded
	Moved       time.Time // when it entered its state
	Replaces    uuid.NullUUID
	ReplacedBy  uuid.NullUUID
	Held        bool // under a legal hold
	HeldFor     string

	uploader audit.Actor
}

func documentOf(r *db.FindRow) Document {
	d := Document{
		ID: r.ID, Entity: r.EntityID, EntityName: r.EntityName, Type: r.Type, Label: r.Label, FileName: r.FileName, MediaType: r.MediaType,
		Size: r.Size, SHA256: [32]byte(r.Sha256), State: State(r.State), Reason: r.Reason, Note: r.Note, Created: r.CreatedAt.UTC(),
		Moved: r.CreatedAt.UTC(), Replaces: r.Replaces, ReplacedBy: r.ReplacedBy, Held: r.HeldAt != nil, HeldFor: r.HeldFor,
		uploader: audit.Actor{Kind: audit.ActorKind(r.Uploader), ID: r.UploaderID},
	}
	if r.MovedAt != nil {
		d.Moved = r.MovedAt.UTC()
	}
	return d
}

// Find returns a document, or [ErrNoDocument].
func (s *Store) Find(ctx context.Context, id uuid.UUID) (Document, error) {
	return find(ctx, s.Pool, id)
}

func find(ctx context.Context, from pg.DB, id uuid.UUID) (Document, error) {
	row, err := db.New(from).Find(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Document{}, ErrNoDocument
	}
	if err != nil {
		return Document{}, fmt.Errorf("document: find: %w", err)
	}
	return documentOf(&row), nil
}

// History returns the changes of state of a document, the upload first, or
// [ErrNoDocument].
func (s *Store) History(ctx context.Context, id uuid.UUID) ([]Move, error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := db.New(s.Pool).Moves(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("document: read the history: %w", err)
	}
	moves := []Move{{At: d.Created, To: Received, Actor: d.uploader}}
	for _, r := range rows {
		moves = append(moves, Move{
			At: r.At.UTC(), From: State(r.FromState), To: State(r.ToState),
			Actor: audit.Actor{Kind: audit.ActorKind(r.ActorKind), ID: r.ActorID.UUID}, Reason: r.Reason, Note: r.Note,
		})
	}
	return moves, nil
}
