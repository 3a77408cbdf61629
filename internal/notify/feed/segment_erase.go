package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Place identifies an entry of a feed, without what it tells.
type Place struct {
	Entity uuid.UUID `json:"entity"`
	Mode   string    `json:"mode"`
	Epoch  int       `json:"epoch"`
	Seq    int64     `json:"seq"`
}

// Find returns the entries about a number, in the database and in the segments.
func (a *Archive) Find(ctx context.Context, number int64) ([]Place, error) {
	places, err := pg.Collect(ctx, a.Pool, pgx.RowToStructByPos[Place], `SELECT entity_id, mode, epoch, seq FROM feed_entry WHERE number = $1`, number)
	if err != nil {
		return nil, fmt.Errorf("feed: find the entries about a number: %w", err)
	}
	segments, err := a.segments(ctx, `key IS NOT NULL`)
	for i := range segments {
		if err != nil {
			return nil, err
		}
		err = a.read(ctx, &segments[i], func(r *Row) error {
			if r.Number == number {
				places = append(places, r.place())
			}
			return nil
		})
	}
	return places, err
}

// Erase erases entries, in the database and in the segments. Those that are erased already,
// or are not there, are left alone: it can be stopped at any moment and done again.
func (a *Archive) Erase(ctx context.Context, places []Place) error {
	if len(places) == 0 {
		return nil
	}
	wanted := make(map[Place]bool, len(places))
	var keys []Key
	for _, p := range places {
		wanted[p] = true
		keys = append(keys, Key{Owner: Owner{Entity: p.Entity, Mode: p.Mode}, Epoch: p.Epoch, Seq: p.Seq})
	}
	tables, err := Erase(ctx, a.Pool, keys)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := a.rewrite(ctx, table); err != nil {
			return err
		}
	}
	segments, err := a.segments(ctx, `key IS NOT NULL`)
	for i := range segments {
		if err == nil {
			err = a.eraseIn(ctx, &segments[i], wanted)
		}
	}
	return err
}

// eraseIn writes a segment anew under another key, if it has one of the entries. The old key
// is destroyed with the change of the row, and so whatever copies of the old file exist.
func (a *Archive) eraseIn(ctx context.Context, s *Segment, wanted map[Place]bool) error {
	found := false
	err := a.read(ctx, s, func(r *Row) error {
		found = found || wanted[r.place()] && len(r.Body) > 0
		return nil
	})
	if err != nil || !found {
		return err
	}
	written, err := a.write(ctx, s.Day, func(add func(*Row) error) error {
		return a.read(ctx, s, func(r *Row) error { // a second time, because a day need not fit into memory
			if wanted[r.place()] {
				r.erase()
			}
			return add(r)
		})
	})
	if err != nil {
		return err
	}
	_, err = a.Pool.Exec(ctx, `UPDATE feed_segment SET file = $2, key = $3, sha256 = $4, bytes = $5, written_at = $6 WHERE day = $1 AND file = $7`,
		s.Day, written.file, written.key, written.sha256[:], written.Bytes, a.Now(), s.file)
	if err != nil {
		return fmt.Errorf("feed: replace a segment: %w", err)
	}
	if err := a.rewrite(ctx, "feed_segment"); err != nil {
		return err
	}
	if err := a.Files.Delete(ctx, s.file.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("feed: delete a segment: %w", err)
	}
	return nil
}
