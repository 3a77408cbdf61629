// Package document takes in the papers of an entity, finds out whether they can
// be opened without harm, and keeps what was decided about them.
//
// A file is streamed into the blob store first and recorded second, in a
// transaction: a record never names a file that is not there whole. A file
// whose record did not come about is removed again; one that a crash leaves
// behind has no record, is shown to nobody and is swept after a day.
//
// Its scan is queued in the transaction of its record. Nobody is shown a
// document before a scanner has passed all of it and it could be opened
// completely; while the scanner is away, documents wait. Then staff accept or
// reject it. Every step is a [Move] and is kept, also when the content is
// deleted.
//
// What a file is, is decided by its content. Its name is metadata and never a
// path.
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
	"github.com/lineproof/lineproof/internal/pg"
)

// Store keeps documents. Pool, Files and Now are required, MaxBytes to take
// files in, and Inspector to scan them.
type Store struct {
	Pool      *pgxpool.Pool
	Files     blob.Store
	Scanner   *clamd.Scanner // nil where none is set up: documents wait
	Inspector *inspect.Inspector
	Spool     string // the directory for temporary copies; "" means the system's
	MaxBytes  int64
	Strict    bool // whether only the known types are allowed
	// Required are the types, or labels, that an entity must hand in which was
	// onboarded with documents required.
	Required []string
	// Retention is how long a settled document is kept, by its label or its
	// type. What is not in it is kept for ever.
	Retention map[string]time.Duration
	// Queue queues the scan of a document, in the transaction that needs it. With
	// nil, whoever looks for documents that wait finds it.
	Queue func(context.Context, pg.Tx, uuid.UUID) error
	Now   func() time.Time
}

// now is the present to the microsecond, which is what PostgreSQL keeps.
func (s *Store) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// ErrNoDocument reports a document that does not exist for this caller.
var ErrNoDocument = fault.New(fault.NotFound, "There is no document with this id.")

// Document is one paper, without its content.
type Document struct {
	ID, Entity  uuid.UUID
	EntityName  string
	Type, Label string // the label is the type as it was sent
	FileName    string
	MediaType   string
	Size        int64
	SHA256      [32]byte
	State       State
	Reason      string    // why it is in this state, as a code; empty where the state says it all
	Note        string    // the same in words: for the uploader, or the reviewer's own
	Created     time.Time // when it was uploaded
	Moved       time.Time // when it came into its state
	Replaces    uuid.NullUUID
	ReplacedBy  uuid.NullUUID
	Held        bool // whether a legal hold keeps it
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

// History returns how a document came into its state, the upload first, or
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
