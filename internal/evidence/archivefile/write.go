package archivefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Writer collects the stored parts of a day and writes the files that belong to all of
// them.
type Writer struct {
	Manifest Manifest

	files   blob.Store
	roots   merkle.Tree
	filters []byte // of the parts so far
}

// NewWriter returns a writer of a day.
func NewWriter(files blob.Store, day time.Time) *Writer {
	return &Writer{files: files, Manifest: Manifest{Form: Format, Day: day.Format(time.DateOnly), Parts: []Part{}}}
}

// Add adds the next part.
func (w *Writer) Add(p *StoredPart) {
	part := p.Part
	part.FilterAt, part.FilterBytes = int64(len(w.filters)), int64(len(p.Filter))
	w.filters = append(w.filters, p.Filter...)
	for roots := p.Roots; len(roots) > 0; roots = roots[sha256.Size:] {
		w.roots.Add(roots[:sha256.Size])
	}
	m := &w.Manifest
	m.Parts = append(m.Parts, part)
	m.Batches += part.Batches
	m.Entries += part.Entries
	m.Logged += part.Logged
	if part.Entries > 0 {
		Extend(&m.First, &m.Last, part.First)
		Extend(&m.First, &m.Last, part.Last)
	}
}

// Extend makes the period from first to last include at. Times in this format
// sort as text.
func Extend(first, last *string, at string) {
	if *first == "" || at < *first {
		*first = at
	}
	if at > *last {
		*last = at
	}
}

// Finish stores the filters and the manifest, and returns the archive.
func (w *Writer) Finish(ctx context.Context, day time.Time) (Archive, error) {
	root := w.roots.Root()
	w.Manifest.Root = hex.EncodeToString(root[:])
	// The same numbers on another day have the same filters, and erasing one day deletes its file.
	key, sum, err := storeAs(ctx, w.files, sha256.Sum256(append([]byte(w.Manifest.Day+"\n"), w.filters...)), w.filters)
	if err != nil {
		return Archive{}, err
	}
	w.Manifest.Filters = File{Key: key.String(), SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(w.filters))}
	text, err := json.Marshal(w.Manifest)
	if err != nil {
		return Archive{}, fmt.Errorf("archivefile: write a manifest: %w", err)
	}
	a := Archive{Day: day, Batches: w.Manifest.Batches, Entries: w.Manifest.Entries, Logged: w.Manifest.Logged, Root: root[:], Bytes: int64(len(text)) + w.Manifest.Filters.Bytes}
	for _, p := range w.Manifest.Parts {
		a.Bytes += p.Bytes
	}
	a.Manifest, a.SHA256, err = Store(ctx, w.files, text)
	return a, err
}

// Store stores content under a key that is derived from its hash: a repeated run
// finds the files of an interrupted one, and no file is ever overwritten with
// other content.
func Store(ctx context.Context, files blob.Store, content []byte) (key uuid.UUID, sum [sha256.Size]byte, err error) {
	return storeAs(ctx, files, sha256.Sum256(content), content)
}

func storeAs(ctx context.Context, files blob.Store, keyHash [sha256.Size]byte, content []byte) (key uuid.UUID, sum [sha256.Size]byte, err error) {
	sum = sha256.Sum256(content)
	copy(key[:], keyHash[:])
	key[6] = 0x80 | key[6]&0x0f // UUID version 8: the application defines the bits
	key[8] = 0x80 | key[8]&0x3f
	if _, err := files.Put(ctx, key.String(), bytes.NewReader(content)); err != nil && !errors.Is(err, blob.ErrExists) {
		return key, sum, fmt.Errorf("archivefile: store: %w", err)
	}
	return key, sum, nil
}
