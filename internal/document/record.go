package document

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/document/internal/db"
	"github.com/lineproof/lineproof/internal/pg"
)

// Upload is what is recorded about an uploaded file.
type Upload struct {
	Entity  uuid.UUID
	Label   string
	Actor   audit.Actor
	Request uuid.UUID
}

// Record records a file as a document of its entity and queues its scan, in the
// caller's transaction. The document replaces the newest one of the same label
// that was rejected, refused or infected, unless another has replaced that.
func (s *Store) Record(ctx context.Context, tx pg.Tx, f File, u Upload) error {
	kind, now := Other, s.now()
	if slices.Contains(Types, u.Label) {
		kind = u.Label
	}
	q := db.New(tx)
	err := q.Insert(ctx, db.InsertParams{
		ID: f.ID, EntityID: u.Entity, Type: kind, Label: u.Label, FileName: f.Name, MediaType: f.MediaType, Size: f.Size,
		Sha256: f.SHA256[:], State: string(Received), Uploader: string(u.Actor.Kind), UploaderID: u.Actor.ID, CreatedAt: now,
	})
	if err != nil {
		return fmt.Errorf("document: record: %w", err)
	}
	if err := q.Replace(ctx, db.ReplaceParams{ID: f.ID, EntityID: u.Entity, Label: u.Label}); err != nil {
		return fmt.Errorf("document: replace: %w", err)
	}
	if err := s.queue(ctx, tx, f.ID); err != nil {
		return err
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: u.Actor, Action: audit.DocumentUploaded, Subject: f.ID, Entity: u.Entity, Request: u.Request,
		After: map[string]any{"type": kind, "mediaType": f.MediaType, "bytes": f.Size},
	})
}

func (s *Store) queue(ctx context.Context, tx pg.Tx, id uuid.UUID) error {
	if s.Queue == nil {
		return nil
	}
	if err := s.Queue(ctx, tx, id); err != nil {
		return fmt.Errorf("document: queue the scan: %w", err)
	}
	return nil
}
