package journal

import (
	"context"
	"encoding/hex"
	"encoding/json/v2"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Note archives a day and stops before anything is dropped, as if it had been
// interrupted there.
func (a *Archiver) Note(ctx context.Context, day time.Time) error {
	_, _, err := a.ensureArchive(ctx, day)
	return err
}

// InParts sets of about how many records a part is.
func (a *Archiver) InParts(entries int) *Archiver {
	a.partEntries = entries
	return a
}

// archivefile.Manifest returns the manifest of an archive.
func (a *Archiver) Manifest(ctx context.Context, of Archive) (archivefile.Manifest, error) {
	return of.Open(ctx, a.Files)
}

// SpoilFilters replaces the filters of an archive by others that agree with their
// manifest, as a bug in the writer would.
func (a *Archiver) SpoilFilters(ctx context.Context, of Archive, spoil func([]byte)) error {
	m, err := of.Open(ctx, a.Files)
	if err != nil {
		return err
	}
	content, err := archivefile.ReadFile(ctx, a.Files, m.Filters.Key)
	if err != nil {
		return err
	}
	spoil(content)
	key, sum, err := archivefile.Store(ctx, a.Files, content)
	if err != nil {
		return err
	}
	m.Filters.Key, m.Filters.SHA256 = key.String(), hex.EncodeToString(sum[:])
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	manifest, sum, err := archivefile.Store(ctx, a.Files, text)
	if err != nil {
		return err
	}
	_, err = a.Pool.Exec(ctx, `UPDATE journal_archive SET manifest = $1, sha256 = $2 WHERE manifest = $3`, manifest, sum[:], of.Manifest)
	return err
}

// ReadPart reads a part of a day and returns what is wrong with it.
func (a *Archiver) ReadPart(ctx context.Context, p archivefile.Part, day string, number int) error {
	return p.Read(ctx, a.Files, day, number, func(*archivefile.Batch) error { return nil })
}

// ArchiveLines returns the lines that an archive has of a batch of one record,
// and the manifest of a day that has nothing else.
func ArchiveLines(ctx context.Context, files blob.Store, node string, epoch, n int64, xact string, e record.Entry) (lines [2]string, m archivefile.Manifest, err error) {
	hash := e.Hash()
	root, err := merkle.Root([][]byte{hash[:]})
	if err != nil {
		return lines, m, err
	}
	f := &archivefile.Batch{BatchKey: archivefile.BatchKey{Epoch: epoch, N: n}, Node: node, At: e.At, Count: 1, Root: root, Xact: xact, Log: 1000, Entries: []archivefile.Entry{{Entry: e, StoredHash: hash[:]}}}
	for i, l := range []archivefile.Line{f.Line(), f.Entries[0].Line()} {
		text, err := json.Marshal(l)
		if err != nil {
			return lines, m, err
		}
		lines[i] = string(text)
	}
	w := archivefile.NewWriter(files, dayOf(e.At))
	err = writeParts(ctx, w, files, 0, slices.Values([]*archivefile.Batch{f}))
	if err == nil {
		_, err = w.Finish(ctx, dayOf(e.At))
	}
	return lines, w.Manifest, err
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
		text, err := json.Marshal(e.Line())
		if err != nil {
			return nil, err
		}
		lines = append(lines, string(text))
	}
	return lines, rows.Err()
}
