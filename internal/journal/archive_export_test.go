package journal

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/record"
)

// Note archives a day and stops before anything is dropped, as if it had been
// interrupted there.
func (a *Archiver) Note(ctx context.Context, day time.Time) error {
	_, _, err := a.ensureArchive(ctx, day)
	return err
}

// InParts sets a small part size.
func (a *Archiver) InParts(bytes int) *Archiver {
	a.partBytes = bytes
	return a
}

// Manifest returns the manifest of an archive.
func (a *Archiver) Manifest(ctx context.Context, of Archive) (Manifest, error) {
	return of.open(ctx, a.Files)
}

// SpoilFilters replaces the filters of an archive by others that agree with their
// manifest, as a bug in the writer would.
func (a *Archiver) SpoilFilters(ctx context.Context, of Archive, spoil func([]byte)) error {
	m, err := of.open(ctx, a.Files)
	if err != nil {
		return err
	}
	content, err := readFile(ctx, a.Files, m.Filters.Key)
	if err != nil {
		return err
	}
	spoil(content)
	key, sum, err := store(ctx, a.Files, content)
	if err != nil {
		return err
	}
	m.Filters.Key, m.Filters.SHA256 = key.String(), hex.EncodeToString(sum[:])
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	manifest, sum, err := store(ctx, a.Files, text)
	if err != nil {
		return err
	}
	_, err = a.Pool.Exec(ctx, `UPDATE journal_archive SET manifest = $1, sha256 = $2 WHERE manifest = $3`, manifest, sum[:], of.Manifest)
	return err
}

// Read reads a part of a day and returns what is wrong with it.
func (a *Archiver) Read(ctx context.Context, p Part, day string, number int) error {
	return p.read(ctx, a.Files, day, number, func(*storedBatch) error { return nil })
}

// ArchiveLines returns the lines that an archive has of a batch of one record,
// and the manifest of a day that has nothing else.
func ArchiveLines(ctx context.Context, files blob.Store, node string, epoch, n int64, xact string, e record.Entry) (lines [2]string, m Manifest, err error) {
	hash := e.Hash()
	root, err := record.Root([][]byte{hash[:]})
	if err != nil {
		return lines, m, err
	}
	f := &storedBatch{batchKey: batchKey{epoch, n}, node: node, at: e.At, count: 1, root: root, xact: xact, entries: []storedEntry{{Entry: e, hash: hash[:]}}}
	for i, l := range []archiveLine{f.line(), f.entries[0].line()} {
		text, err := json.Marshal(l)
		if err != nil {
			return lines, m, err
		}
		lines[i] = string(text)
	}
	w, err := newPartWriter(files, dayOf(e.At))
	if err == nil {
		err = w.add(ctx, f)
	}
	if err == nil {
		_, err = w.finish(ctx, dayOf(e.At))
	}
	return lines, w.manifest, err
}

// EntryLines returns the lines that an archive would have of all records.
func EntryLines(ctx context.Context, db pg.DB) (lines []string, err error) {
	rows, err := db.Query(ctx, `SELECT `+entryColumns+` FROM journal_entry`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(e.line())
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(text))
	}
	return lines, rows.Err()
}
