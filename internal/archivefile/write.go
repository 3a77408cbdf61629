package archivefile

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
	"github.com/lineproof/lineproof/internal/bloom"
)

// partBytes is the approximate size of a part before compression. Finding one
// record reads one part, and writing an archive keeps one in memory.
const partBytes = 16 << 20

// Writer writes a day into parts.
type Writer struct {
	files    blob.Store
	Manifest Manifest
	roots    *compact.Range

	MaxBytes   int // of a part, before compression
	part       Part
	numbers    []int64 // of the live records of the part
	filters    []byte  // of the parts that are finished
	rawBytes   int
	compressed bytes.Buffer
	encoder    *zstd.Encoder
}

// NewWriter returns a writer of a day.
func NewWriter(files blob.Store, day time.Time) (*Writer, error) {
	w := &Writer{files: files, MaxBytes: partBytes, roots: NewRoots()}
	w.Manifest = Manifest{Form: Format, Day: day.Format(time.DateOnly), Parts: []Part{}}
	// One goroutine and the default level, so that the same day always gives the
	// same bytes: a repeated run finds the files of the interrupted one.
	var err error
	if w.encoder, err = zstd.NewWriter(&w.compressed, zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, fmt.Errorf("archivefile: compress: %w", err)
	}
	return w, nil
}

// NewRoots returns an empty Merkle tree, for the roots of the batches of a day.
func NewRoots() *compact.Range {
	return (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
}

// RootOf returns the Merkle root of the batch roots so far. Without any it is the
// hash of the empty string, as in RFC 6962.
func RootOf(roots *compact.Range) ([]byte, error) {
	root, err := roots.GetRootHash(nil)
	if err != nil {
		return nil, fmt.Errorf("archivefile: merkle root: %w", err)
	}
	if root == nil {
		root = rfc6962.DefaultHasher.EmptyRoot()
	}
	return root, nil
}

// Add writes a batch and its entries. A batch is never split.
func (w *Writer) Add(ctx context.Context, b *Batch) error {
	if w.rawBytes == 0 {
		if err := w.line(Line{Head: &head{Form: Format, Day: w.Manifest.Day, Part: len(w.Manifest.Parts) + 1}}); err != nil {
			return err
		}
	}
	if err := w.line(b.Line()); err != nil {
		return err
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		if err := w.line(e.Line()); err != nil {
			return err
		}
		Extend(&w.part.First, &w.part.Last, e.At.Format(TimeFormat))
	}
	w.numbers = w.part.LiveNumbers(w.numbers, b)
	w.part.Batches++
	w.part.Entries += int64(len(b.Entries))
	if err := w.roots.Append(rfc6962.DefaultHasher.HashLeaf(b.Root), nil); err != nil {
		return fmt.Errorf("archivefile: merkle root: %w", err)
	}
	if w.rawBytes >= w.MaxBytes {
		return w.FinishPart(ctx)
	}
	return nil
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

func (w *Writer) line(l Line) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.encoder.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("archivefile: write an archive: %w", err)
	}
	w.rawBytes += len(text) + 1
	return nil
}

// FinishPart stores what was written since the last part as a new part.
func (w *Writer) FinishPart(ctx context.Context) error {
	if w.rawBytes == 0 {
		return nil
	}
	if err := w.encoder.Close(); err != nil {
		return fmt.Errorf("archivefile: compress: %w", err)
	}
	key, sum, err := Store(ctx, w.files, w.compressed.Bytes())
	if err != nil {
		return err
	}
	w.part.Key, w.part.SHA256, w.part.Bytes = key.String(), hex.EncodeToString(sum[:]), int64(w.compressed.Len())
	filter := bloom.New(w.numbers)
	w.part.FilterAt, w.part.FilterBytes = int64(len(w.filters)), int64(len(filter))
	w.filters = append(w.filters, filter...)
	m := &w.Manifest
	m.Parts = append(m.Parts, w.part)
	m.Batches += w.part.Batches
	m.Entries += w.part.Entries
	if w.part.Entries > 0 {
		Extend(&m.First, &m.Last, w.part.First)
		Extend(&m.First, &m.Last, w.part.Last)
	}
	w.part, w.numbers, w.rawBytes = Part{}, w.numbers[:0], 0
	w.compressed.Reset()
	w.encoder.Reset(&w.compressed)
	return nil
}

// Finish stores the last part, the filters and the manifest, and returns the archive.
func (w *Writer) Finish(ctx context.Context, day time.Time) (Archive, error) {
	if err := w.FinishPart(ctx); err != nil {
		return Archive{}, err
	}
	root, err := RootOf(w.roots)
	if err != nil {
		return Archive{}, err
	}
	w.Manifest.Root = hex.EncodeToString(root)
	key, sum, err := Store(ctx, w.files, w.filters)
	if err != nil {
		return Archive{}, err
	}
	w.Manifest.Filters = File{Key: key.String(), SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(w.filters))}
	text, err := json.Marshal(w.Manifest)
	if err != nil {
		return Archive{}, fmt.Errorf("archivefile: write a manifest: %w", err)
	}
	a := Archive{Day: day, Batches: w.Manifest.Batches, Entries: w.Manifest.Entries, Root: root, Bytes: int64(len(text)) + w.Manifest.Filters.Bytes}
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
	sum = sha256.Sum256(content)
	copy(key[:], sum[:])
	key[6] = 0x80 | key[6]&0x0f // UUID version 8: the application defines the bits
	key[8] = 0x80 | key[8]&0x3f
	if _, err := files.Put(ctx, key.String(), bytes.NewReader(content)); err != nil && !errors.Is(err, blob.ErrExists) {
		return key, sum, fmt.Errorf("archivefile: store: %w", err)
	}
	return key, sum, nil
}
