package archivefile

import (
	"context"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// PartEntries is about how many records a part has. Finding one record reads one part,
// and writing or reading a part keeps all of it in memory, about 16 MiB.
const PartEntries = 20_000

// PartWriter makes the parts of a day, one after the other. Several writers can make
// different parts of a day at the same time.
type PartWriter struct {
	files   blob.Store
	part    Part
	numbers []int64 // of the live records
	roots   []byte  // of the batches
	lines   []byte  // of the frame that is not complete
	frame   frame
	frames  frameList
	encoder *zstd.Encoder
	stored  []byte // memory that is used again
}

// StoredPart is a part of a day whose file is stored, with what the day needs to know of
// it.
type StoredPart struct {
	Part

	Filter Filter // of the numbers of its live records
	Roots  []byte // of its batches in order, 32 bytes each
}

// NewPartWriter returns a writer that stores files.
func NewPartWriter(files blob.Store) (*PartWriter, error) {
	// One goroutine, so that the same part always gives the same bytes: a repeated run
	// finds the files of the interrupted one. The fastest level also makes the smallest
	// files of such lines: 103 bytes of a record, and 109 with the default.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("archivefile: compress: %w", err)
	}
	return &PartWriter{files: files, encoder: encoder}, nil
}

// Start begins a part of a day. Parts are numbered from 1.
func (w *PartWriter) Start(day string, number int) error {
	w.part, w.numbers, w.roots, w.frame = Part{}, w.numbers[:0], nil, frame{}
	w.frames.reset()
	text, err := json.Marshal(Line{Head: &head{Form: Format, Day: day, Part: number}})
	if err != nil {
		return fmt.Errorf("archivefile: write an archive: %w", err)
	}
	w.lines = append(append(w.lines[:0], text...), '\n')
	return nil
}

// Add adds a batch and its entries. A batch is never split.
func (w *PartWriter) Add(b *Batch) (err error) {
	if w.lines, err = b.AppendLine(w.lines); err != nil {
		return fmt.Errorf("archivefile: write a batch: %w", err)
	}
	for i := range b.Entries {
		if w.lines, err = b.Entries[i].AppendLine(w.lines); err != nil {
			return fmt.Errorf("archivefile: write a record: %w", err)
		}
	}
	w.frame.count(b)
	if w.frame.entries >= frameEntries {
		w.endFrame()
	}
	w.part.Count(b)
	w.numbers = w.part.LiveNumbers(w.numbers, b)
	w.roots = append(w.roots, b.Root...)
	return nil
}

// Count adds a batch to the numbers and the period of a part.
func (p *Part) Count(b *Batch) {
	p.Batches++
	p.Entries += int64(len(b.Entries))
	if b.Log != NotLogged {
		p.Logged++
	}
	for i := range b.Entries {
		if i == 0 || !b.Entries[i].At.Equal(b.Entries[i-1].At) { // usually all have one time
			Extend(&p.First, &p.Last, b.Entries[i].At.Format(TimeFormat))
		}
	}
}

// Size returns how many batches and records were added since Start.
func (w *PartWriter) Size() (batches, entries int64) { return w.part.Batches, w.part.Entries }

// Store compresses and stores the part.
func (w *PartWriter) Store(ctx context.Context) (*StoredPart, error) {
	if len(w.lines) > 0 {
		w.endFrame()
	}
	w.stored = w.frames.appendTo(w.stored[:0])
	key, sum, err := Store(ctx, w.files, w.stored)
	if err != nil {
		return nil, err
	}
	w.part.Key, w.part.SHA256, w.part.Bytes = key.String(), hex.EncodeToString(sum[:]), int64(len(w.stored))
	return &StoredPart{Part: w.part, Filter: NewFilter(w.numbers), Roots: w.roots}, nil
}

// endFrame compresses the lines so far.
func (w *PartWriter) endFrame() {
	w.frames.add(w.frame, func(to []byte) []byte { return w.encoder.EncodeAll(w.lines, to) })
	w.lines, w.frame = w.lines[:0], frame{}
}
