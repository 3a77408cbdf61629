package publiclog

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// entryReader reads the entries of the log in order: from the database, and those about
// batches of archived days from the archives.
type entryReader struct {
	from    pg.DB
	archive archiveReader
}

func newEntryReader(from pg.DB, archive blob.Store) *entryReader {
	return &entryReader{from, archiveReader{from: from, files: archive, days: map[time.Time]bool{}, ahead: map[int64][]byte{}}}
}

// storedEntry is an entry with its columns. One from an archive has only its bytes.
type storedEntry struct {
	Idx      int64
	At       time.Time
	Kind     int16
	Epoch, N *int64
	Entry    []byte
}

// chunk is how many entries are read at once.
const chunk = 10_000

// each calls a function with the entries from one index to before another, as far as there
// are. Indexes that neither the database nor an archive has are left out.
func (r *entryReader) each(ctx context.Context, from, to int64, do func(*storedEntry) error) error {
	for ; from < to; from += chunk {
		if err := r.chunk(ctx, from, min(from+chunk, to), do); err != nil {
			return err
		}
	}
	return nil
}

func (r *entryReader) chunk(ctx context.Context, from, to int64, do func(*storedEntry) error) error {
	stored, err := pg.Collect(ctx, r.from, pgx.RowToStructByPos[storedEntry], `SELECT idx, at, kind, epoch, n, entry FROM log_entry WHERE idx >= $1 AND idx < $2 ORDER BY idx`, from, to)
	if err != nil {
		return fmt.Errorf("publiclog: read the entries: %w", err)
	}
	for next := from; next < to; next++ {
		if len(stored) > 0 && stored[0].Idx <= next {
			e := stored[0]
			stored = stored[1:]
			if e.Idx < next {
				next-- // an index that occurs twice
			}
			if err := do(&e); err != nil {
				return err
			}
			continue
		}
		entry, err := r.archived(ctx, next)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		if err := do(&storedEntry{Idx: next, Entry: entry}); err != nil {
			return err
		}
	}
	return nil
}

// archived returns an entry that the database does not have, or nil.
func (r *entryReader) archived(ctx context.Context, index int64) ([]byte, error) {
	if r.archive.files == nil {
		return nil, nil // nothing was archived
	}
	return r.archive.take(ctx, index)
}

// addTo adds the entries from the size of a writer up to another size.
func (r *entryReader) addTo(ctx context.Context, w *merkle.TileWriter, to int64, emit func(merkle.Tile, []byte) error) error {
	err := r.each(ctx, w.Size(), to, func(e *storedEntry) error {
		if e.Idx != w.Size() {
			return fmt.Errorf("publiclog: entry %d is missing; run: lineproof log check", w.Size())
		}
		return w.Add(e.Entry, emit)
	})
	if err == nil && w.Size() != to {
		err = fmt.Errorf("publiclog: entry %d is missing; run: lineproof log check", w.Size())
	}
	return err
}
