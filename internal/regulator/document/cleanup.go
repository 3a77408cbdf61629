package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// orphanAge is how old a file without a document must be before it is removed.
	// An upload, with its record, takes an hour at most.
	orphanAge = 24 * time.Hour
	// pageSize is how many documents one query returns.
	pageSize = 500
)

// A sweep that would remove more than maxOrphans files and more than one in
// orphanShare of all files removes none: the database may be a restored old copy,
// and the files newer than it.
const (
	maxOrphans  = 100
	orphanShare = 10
)

// ErrTooMany reports that so many files belong to no document that the database
// may be an old copy.
var ErrTooMany = errors.New("document: too many files belong to no document, more than interrupted uploads leave behind; was an old copy of the database restored? nothing was removed")

// Retention is the reason of a document that was deleted because its retention
// had passed.
const Retention = "retention"

// Sweep removes files that are a day old and belong to no document: leftovers of
// interrupted uploads, and content of deleted documents that could not be removed
// at the time. It returns how many it removed.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	var deleted, orphans []uuid.UUID
	total, before := 0, s.now().Add(-orphanAge)
	err = s.eachFile(ctx, func(files []blob.Item, known map[uuid.UUID]bool) error {
		total += len(files)
		for _, f := range files {
			id := uuid.MustParse(f.Key) // eachFile has parsed it before
			existing, recorded := known[id]
			switch {
			case existing || f.Modified.After(before):
			case recorded:
				deleted = append(deleted, id)
			default:
				orphans = append(orphans, id)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(orphans) > maxOrphans && len(orphans) > total/orphanShare {
		return 0, fmt.Errorf("%w: %d of %d", ErrTooMany, len(orphans), total)
	}
	for _, id := range slices.Concat(deleted, orphans) {
		if err := s.Files.Delete(ctx, id.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return removed, fmt.Errorf("document: sweep: %w", err)
		}
		removed++
	}
	return removed, nil
}

// eachFile calls fn for the files of the store, page by page. Known is true for a
// document that exists, false for a deleted one, and has no entry for an orphan.
func (s *Store) eachFile(ctx context.Context, fn func(files []blob.Item, known map[uuid.UUID]bool) error) error {
	var files []blob.Item
	flush := func() error {
		ids := make([]uuid.UUID, len(files))
		for i, f := range files {
			id, err := uuid.Parse(f.Key)
			if err != nil {
				return fmt.Errorf("document: a key is not an id: %w", err) // the store accepts no others
			}
			ids[i] = id
		}
		known, err := s.known(ctx, ids)
		if err != nil {
			return fmt.Errorf("document: look up the documents: %w", err)
		}
		err = fn(files, known)
		files = files[:0]
		return err
	}
	err := s.Files.List(ctx, func(f blob.Item) error {
		if files = append(files, f); len(files) < pageSize {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("document: list the files: %w", err)
	}
	return flush()
}

// known returns which of the ids are documents: true for one whose content must exist,
// false for a deleted one.
func (s *Store) known(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	return pg.CollectMap[uuid.UUID, bool](ctx, s.Pool, `SELECT id, state <> 'deleted' FROM document WHERE id = ANY($1::uuid[])`, ids)
}

// DeleteExpired deletes the content of documents whose retention has passed,
// counted from the decision about them. It leaves out documents under a legal
// hold, those that wait for a decision, and those that meet a requirement of an
// entity that is not revoked. It returns how many it deleted.
func (s *Store) DeleteExpired(ctx context.Context) (deleted int, err error) {
	kinds := slices.Sorted(maps.Keys(s.Retention))
	for _, kind := range kinds {
		n, err := s.deleteExpired(ctx, kind, kinds)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// expiredSQL lists documents whose retention has passed: that of their label, or of
// their type if the label has none. It leaves out documents under a legal hold,
// and those that meet a requirement of an entity that is not revoked: the newest
// accepted one of each required label.
const expiredSQL = `SELECT d.id FROM document d JOIN entity e ON e.id = d.entity_id
	WHERE d.state IN ('accepted', 'rejected', 'refused', 'infected') AND d.held_at IS NULL AND d.moved_at < $1
	  AND (d.label = $2::text OR (d.type = $2::text AND NOT d.label = ANY($3::text[])))
	  AND NOT (d.state = 'accepted' AND d.label = ANY($4::text[]) AND e.document_required AND e.status <> 'Revoked'
	           AND NOT EXISTS (SELECT 1 FROM document n WHERE n.entity_id = d.entity_id AND n.label = d.label AND n.state = 'accepted'
	                           AND (n.created_at, n.id) > (d.created_at, d.id)))
	ORDER BY d.id LIMIT $5`

func (s *Store) deleteExpired(ctx context.Context, kind string, kinds []string) (deleted int, err error) {
	before := s.now().Add(-s.Retention[kind])
	m := transition{to: Deleted, by: service, reason: Retention, note: fmt.Sprintf("The retention period of a %s has ended.", kind)}
	for {
		ids, err := pg.Collect(ctx, s.Pool, pgx.RowTo[uuid.UUID], expiredSQL, before, kind, kinds, slices.Concat([]string{}, s.Required), pageSize)
		if err != nil {
			return deleted, fmt.Errorf("document: list expired documents: %w", err)
		}
		for _, id := range ids {
			err := s.remove(ctx, id, m)
			if errors.Is(err, ErrHeld) || errors.Is(err, ErrUnsettled) {
				continue // changed in the meantime
			}
			if err != nil {
				return deleted, err
			}
			deleted++
		}
		if len(ids) < pageSize {
			return deleted, nil
		}
	}
}
