package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"
	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/lineproof/lineproof/internal/blob"
)

// partBytes is about how large a part is before it is compressed. Whoever looks
// for one record reads one part, and whoever writes holds one in memory.
const partBytes = 16 << 20

// partWriter writes a day into parts.
type partWriter struct {
	files    blob.Store
	manifest Manifest
	roots    *compact.Range

	most   int // bytes of a part; 0 means partBytes
	part   Part
	raw    int
	packed bytes.Buffer
	zip    *zstd.Encoder
}

func newPartWriter(files blob.Store, day time.Time) (*partWriter, error) {
	w := &partWriter{files: files, most: partBytes, roots: newRoots()}
	w.manifest = Manifest{Form: archiveForm, Day: day.Format(time.DateOnly), Parts: []Part{}}
	// One goroutine and the usual level: the same day makes the same bytes, so
	// that an archive that was broken off finds what is there already.
	var err error
	if w.zip, err = zstd.NewWriter(&w.packed, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, fmt.Errorf("journal: compress: %w", err)
	}
	return w, nil
}

func newRoots() *compact.Range {
	return (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
}

// rootOf returns the root of the roots so far. Of none it is the hash of
// nothing, as RFC 6962 has it.
func rootOf(roots *compact.Range) ([]byte, error) {
	root, err := roots.GetRootHash(nil)
	if err != nil {
		return nil, fmt.Errorf("journal: merkle root: %w", err)
	}
	if root == nil {
		root = rfc6962.DefaultHasher.EmptyRoot()
	}
	return root, nil
}

// add writes a batch and its entries. A batch is never split.
func (w *partWriter) add(ctx context.Context, f *flush) error {
	if w.raw == 0 {
		if err := w.line(archiveLine{Head: &archiveHead{Form: archiveForm, Day: w.manifest.Day, Part: len(w.manifest.Parts) + 1}}); err != nil {
			return err
		}
	}
	if err := w.line(f.line()); err != nil {
		return err
	}
	for i := range f.entries {
		e := &f.entries[i]
		if err := w.line(e.line()); err != nil {
			return err
		}
		widen(&w.part.First, &w.part.Last, e.At.Format(archiveTime))
	}
	w.part.Batches++
	w.part.Entries += int64(len(f.entries))
	if err := w.roots.Append(rfc6962.DefaultHasher.HashLeaf(f.root), nil); err != nil {
		return fmt.Errorf("journal: merkle root: %w", err)
	}
	if w.raw >= w.most {
		return w.cut(ctx)
	}
	return nil
}

// widen makes a stretch of time reach to at. Times in this form sort as text.
func widen(first, last *string, at string) {
	if *first == "" || at < *first {
		*first = at
	}
	if at > *last {
		*last = at
	}
}

func (w *partWriter) line(l archiveLine) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.zip.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("journal: write an archive: %w", err)
	}
	w.raw += len(text) + 1
	return nil
}

// cut stores what was written since the last time as a part.
func (w *partWriter) cut(ctx context.Context) error {
	if w.raw == 0 {
		return nil
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("journal: compress: %w", err)
	}
	key, sum, err := store(ctx, w.files, w.packed.Bytes())
	if err != nil {
		return err
	}
	w.part.Key, w.part.SHA256, w.part.Bytes = key.String(), hex.EncodeToString(sum[:]), int64(w.packed.Len())
	m := &w.manifest
	m.Parts = append(m.Parts, w.part)
	m.Batches += w.part.Batches
	m.Entries += w.part.Entries
	if w.part.Entries > 0 {
		widen(&m.First, &m.Last, w.part.First)
		widen(&m.First, &m.Last, w.part.Last)
	}
	w.part, w.raw = Part{}, 0
	w.packed.Reset()
	w.zip.Reset(&w.packed)
	return nil
}

// finish stores the last part and the manifest, and returns the archive that
// they are.
func (w *partWriter) finish(ctx context.Context, day time.Time) (Archive, error) {
	if err := w.cut(ctx); err != nil {
		return Archive{}, err
	}
	root, err := rootOf(w.roots)
	if err != nil {
		return Archive{}, err
	}
	w.manifest.Root = hex.EncodeToString(root)
	text, err := json.Marshal(w.manifest)
	if err != nil {
		return Archive{}, fmt.Errorf("journal: write a manifest: %w", err)
	}
	a := Archive{Day: day, Batches: w.manifest.Batches, Entries: w.manifest.Entries, Root: root, Bytes: int64(len(text))}
	for _, p := range w.manifest.Parts {
		a.Bytes += p.Bytes
	}
	a.Manifest, a.SHA256, err = store(ctx, w.files, text)
	return a, err
}

// store keeps content under a key that is made from it: whoever was broken off
// and begins again finds the file there, and no file is ever replaced by
// another.
func store(ctx context.Context, files blob.Store, content []byte) (key uuid.UUID, sum [sha256.Size]byte, err error) {
	sum = sha256.Sum256(content)
	copy(key[:], sum[:])
	key[6] = 0x80 | key[6]&0x0f // a UUID of version 8 says that its maker knows what it means
	key[8] = 0x80 | key[8]&0x3f
	if _, err := files.Put(ctx, key.String(), bytes.NewReader(content)); err != nil && !errors.Is(err, blob.ErrExists) {
		return key, sum, fmt.Errorf("journal: store: %w", err)
	}
	return key, sum, nil
}
