// Package document receives the documents of an entity, scans and inspects them,
// and records the review.
//
// A file is streamed into the blob store first and recorded second, in a
// transaction: a record never refers to an incomplete file. If recording fails,
// the file is removed; a file that a crash leaves behind has no record, is never
// shown, and the sweep removes it after a day.
//
// The scan is queued in the transaction that records the document. A document is
// not shown before the virus scanner has passed all of it and every page of it could
// be drawn; while the scanner is unavailable, documents wait. People are shown, and
// download, pictures of its pages. The
// file itself leaves the service by two people only, in an archive that is encrypted for
// one holder of a key: see [Store.Original]. Then staff accept or reject it. Every change of state is a [Move] and is stored, even after
// the content is deleted.
//
// The content decides what kind of file it is. The name is metadata and never
// used as a path.
package document

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Store stores documents. Pool, Files and Now are required, and MaxBytes for uploads.
type Store struct {
	Pool     *pgxpool.Pool
	Files    blob.Store
	Scanner  *clamd.Scanner   // nil if none is configured: documents wait
	Pictures pageimage.Drawer // the zero value is ready
	Spool    string           // the directory for temporary copies; "" means the system's
	MaxBytes int64
	Strict   bool // whether only the known types are allowed
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

// columns are those of a document d of an entity e, which replaces o; see scan.
const columns = `d.id, d.entity_id, e.name, d.type, d.label, d.file_name, d.media_type, d.size, d.sha256, d.state, d.reason, d.note,
	d.uploader, d.uploader_id, d.created_at, coalesce(d.moved_at, d.created_at), d.held_at IS NOT NULL, d.held_for, o.id, d.replaced_by`

// scan reads the columns of a document.
func scan(row pgx.CollectableRow) (d Document, err error) {
	var hash []byte
	err = row.Scan(&d.ID, &d.Entity, &d.EntityName, &d.Type, &d.Label, &d.FileName, &d.MediaType, &d.Size, &hash, &d.State, &d.Reason, &d.Note,
		&d.uploader.Kind, &d.uploader.ID, &d.Created, &d.Moved, &d.Held, &d.HeldFor, &d.Replaces, &d.ReplacedBy)
	copy(d.SHA256[:], hash)
	d.Created, d.Moved = d.Created.UTC(), d.Moved.UTC()
	return d, err
}

// Find returns a document, or [ErrNoDocument].
func (s *Store) Find(ctx context.Context, id uuid.UUID) (Document, error) {
	return find(ctx, s.Pool, id)
}

func find(ctx context.Context, from pg.DB, id uuid.UUID) (Document, error) {
	d, err := pg.CollectOne(ctx, from, scan, `SELECT `+columns+`
		FROM document d JOIN entity e ON e.id = d.entity_id LEFT JOIN document o ON o.replaced_by = d.id WHERE d.id = $1`, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return Document{}, ErrNoDocument
	}
	if err != nil {
		return Document{}, fmt.Errorf("document: find: %w", err)
	}
	return d, nil
}

// History returns the changes of state of a document, the upload first, or
// [ErrNoDocument].
func (s *Store) History(ctx context.Context, id uuid.UUID) ([]Move, error) {
	d, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	moves, err := pg.Collect(ctx, s.Pool, func(row pgx.CollectableRow) (m Move, err error) {
		var actor uuid.NullUUID
		err = row.Scan(&m.At, &m.From, &m.To, &m.Actor.Kind, &actor, &m.Reason, &m.Note)
		m.At, m.Actor.ID = m.At.UTC(), actor.UUID
		return m, err
	}, `SELECT at, from_state, to_state, actor_kind, actor_id, reason, note FROM document_move WHERE document_id = $1 ORDER BY seq`, id)
	if err != nil {
		return nil, fmt.Errorf("document: read the history: %w", err)
	}
	return slices.Insert(moves, 0, Move{At: d.Created, To: Received, Actor: d.uploader}), nil
}
