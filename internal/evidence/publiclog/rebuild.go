package publiclog

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Rebuilt is the result of [Rebuild].
type Rebuilt struct {
	Size  int64 // of the newest published checkpoint
	Root  merkle.Hash
	Tiles int64
	Note  string   // that checkpoint
	Found []string // tiles that are missing in the store, or others there
}

// Rebuild computes all tiles of the published log anew from its entries, which are in the
// database and in the archives of the journal, compares them with those in the store, and calls each for every one. Progress, if not nil, is called
// with the number of entries so far and in all.
func Rebuild(ctx context.Context, from *pgxpool.Pool, archive, tiles blob.Store, each func(path string, content []byte) error, progress func(done, all int64)) (r Rebuilt, err error) {
	h, err := ReadHead(ctx, from)
	if err != nil {
		return r, err
	}
	if err := from.QueryRow(ctx, `SELECT published, note FROM log_published`).Scan(&r.Size, &r.Note); err != nil {
		return r, fmt.Errorf("publiclog: read what is published: %w", err)
	}
	emit := func(t merkle.Tile, content []byte) error {
		r.Tiles++
		there, err := ReadTile(ctx, tiles, h.Origin, t)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			r.Found = append(r.Found, t.Path()+" is not in the store")
		case err != nil:
			return err
		case !bytes.Equal(there, content):
			r.Found = append(r.Found, t.Path()+" is another one in the store")
		}
		return each(t.Path(), content)
	}
	w, entries := &merkle.TileWriter{}, newEntryReader(from, archive)
	for w.Size() < r.Size {
		if err := entries.addTo(ctx, w, min(r.Size, w.Size()+chunk), emit); err != nil {
			return r, err
		}
		if progress != nil {
			progress(w.Size(), r.Size)
		}
	}
	if err := w.Flush(emit); err != nil {
		return r, err
	}
	r.Root, err = w.Root()
	return r, fault.Wrap(err, "publiclog")
}
