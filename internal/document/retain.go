package document

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/document/internal/db"
)

const (
	// strayAge is how old a file without a record must be to be nobody's. An
	// upload, with its record, takes an hour at most.
	strayAge = 24 * time.Hour
	// batch is how many documents are asked for at once.
	batch = 500
)

// A sweep that would remove more than this many files, and more than this share
// of all, does not believe the database: it may be an old copy, and the files
// are of the time since.
const (
	fewStrays  = 100
	strayShare = 10 // one in
)

// ErrTooMany says that so many files have no record that the database is not
// believed.
var ErrTooMany = errors.New("document: too many files have no record to be leftovers of uploads; was an old copy of the database restored? nothing was removed")

// Retention is the reason of a document that was deleted because its time was
// over.
const Retention = "retention"

// Sweep removes files that are a day old and belong to no document: leftovers of
// uploads that were cut off, and content of deleted documents that could not be
// removed at the time. It returns how many there were.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	var gone, strays []uuid.UUID
	total, before := 0, s.now().Add(-strayAge)
	err = s.eachFile(ctx, func(files []blob.Item, known map[uuid.UUID]bool) error {
		total += len(files)
		for _, f := range files {
			id := uuid.MustParse(f.Key) // eachFile has
			living, recorded := known[id]
			switch {
			case living || f.Modified.After(before):
			case recorded:
				gone = append(gone, id)
			default:
				strays = append(strays, id)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if len(strays) > fewStrays && len(strays) > total/strayShare {
		return 0, fmt.Errorf("%w: %d of %d", ErrTooMany, len(strays), total)
	}
	for _, id := range slices.Concat(gone, strays) {
		if err := s.Files.Delete(ctx, id.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return removed, fmt.Errorf("document: sweep: %w", err)
		}
		removed++
	}
	return removed, nil
}

// eachFile calls fn for the files of the store, some at a time, with what the
// records know of them: true for a document, false for one that was deleted.
func (s *Store) eachFile(ctx context.Context, fn func(files []blob.Item, known map[uuid.UUID]bool) error) error {
	var files []blob.Item
	flush := func() error {
		ids := make([]uuid.UUID, len(files))
		for i, f := range files {
			id, err := uuid.Parse(f.Key)
			if err != nil {
				return fmt.Errorf("document: a key is no id: %w", err) // the store takes no other
			}
			ids[i] = id
		}
		rows, err := db.New(s.Pool).Known(ctx, ids)
		if err != nil {
			return fmt.Errorf("document: look records up: %w", err)
		}
		known := make(map[uuid.UUID]bool, len(rows))
		for _, r := range rows {
			known[r.ID] = r.Living
		}
		err = fn(files, known)
		files = files[:0]
		return err
	}
	err := s.Files.List(ctx, func(f blob.Item) error {
		if files = append(files, f); len(files) < batch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("document: list the files: %w", err)
	}
	return flush()
}

// Retain deletes the content of documents whose time is over, counted from the
// decision about them. It leaves what is held, what waits for a decision, and
// what meets a requirement of an entity that is not revoked. It returns how many
// it deleted.
func (s *Store) Retain(ctx context.Context) (deleted int, err error) {
	kinds := slices.Sorted(maps.Keys(s.Retention))
	for _, kind := range kinds {
		n, err := s.retain(ctx, kind, kinds)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

func (s *Store) retain(ctx context.Context, kind string, kinds []string) (deleted int, err error) {
	before := s.now().Add(-s.Retention[kind])
	m := step{to: Deleted, by: service, reason: Retention, note: fmt.Sprintf("The time for which a %s is kept is over.", kind)}
	for {
		ids, err := db.New(s.Pool).Expired(ctx, db.ExpiredParams{
			Before: &before, Kind: kind, Kinds: kinds, Required: slices.Concat([]string{}, s.Required), Most: batch,
		})
		if err != nil {
			return deleted, fmt.Errorf("document: list what is over: %w", err)
		}
		for _, id := range ids {
			err := s.remove(ctx, id, m)
			if errors.Is(err, ErrHeld) || errors.Is(err, ErrUnsettled) {
				continue // since a moment
			}
			if err != nil {
				return deleted, err
			}
			deleted++
		}
		if len(ids) < batch {
			return deleted, nil
		}
	}
}
