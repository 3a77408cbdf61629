package document

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Upload is the record of an uploaded file.
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
	_, err := tx.Exec(ctx, `INSERT INTO document (id, entity_id, type, label, file_name, media_type, size, sha256, state, uploader, uploader_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		f.ID, u.Entity, kind, u.Label, f.Name, f.MediaType, f.Size, f.SHA256[:], Received, u.Actor.Kind, u.Actor.ID, now)
	if err != nil {
		return fmt.Errorf("document: record: %w", err)
	}
	// Of two uploads at the same time the second waits for the lock, and then finds that
	// document replaced.
	_, err = tx.Exec(ctx, `UPDATE document SET replaced_by = $1 WHERE id = (
		SELECT d.id FROM document d
		WHERE d.entity_id = $2 AND d.label = $3 AND d.state IN ('rejected', 'refused', 'infected') AND d.replaced_by IS NULL
		ORDER BY d.created_at DESC, d.id DESC LIMIT 1 FOR UPDATE)`, f.ID, u.Entity, u.Label)
	if err != nil {
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
	return fault.Wrap(s.Queue(ctx, tx, id), "document: queue the scan")
}
