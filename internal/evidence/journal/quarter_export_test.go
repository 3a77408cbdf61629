package journal

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// WriteDay archives a day that was never in the database: its batches go straight into
// files, which is much faster. Everything else is as the archiver does it.
func (a *Archiver) WriteDay(ctx context.Context, day time.Time, batches iter.Seq[[]record.Entry]) (Archive, error) {
	w := archivefile.NewWriter(a.Files, day)
	var failed error
	err := writeParts(ctx, w, a.Files, a.partEntries, func(yield func(*archivefile.Batch) bool) {
		n := int64(0)
		for entries := range batches {
			n++
			b, err := newStoredBatch(archivefile.BatchKey{Epoch: 1, N: n}, entries)
			if failed = err; err != nil || !yield(b) {
				return
			}
		}
	})
	if err := cmp.Or(failed, err); err != nil {
		return Archive{}, err
	}
	archive, err := w.Finish(ctx, day)
	if err != nil {
		return Archive{}, err
	}
	archive.At = a.Now().UTC().Truncate(time.Microsecond)
	return archive, a.recordArchive(ctx, &archive)
}

// writeParts writes batches to parts of about that many records.
func writeParts(ctx context.Context, to *archivefile.Writer, files blob.Store, entries int, batches iter.Seq[*archivefile.Batch]) error {
	w, err := archivefile.NewPartWriter(files)
	if err != nil {
		return err
	}
	store := func() error {
		part, err := w.Store(ctx)
		if err == nil {
			to.Add(part)
			err = w.Start(to.Manifest.Day, len(to.Manifest.Parts)+1)
		}
		return err
	}
	if err := w.Start(to.Manifest.Day, 1); err != nil {
		return err
	}
	for b := range batches {
		if err := w.Add(b); err != nil {
			return err
		}
		if _, n := w.Size(); n >= int64(sliceSize(entries)) {
			if err := store(); err != nil {
				return err
			}
		}
	}
	if n, _ := w.Size(); n == 0 {
		return nil
	}
	return store()
}

func newStoredBatch(key archivefile.BatchKey, entries []record.Entry) (*archivefile.Batch, error) {
	b := &archivefile.Batch{BatchKey: key, Found: true, Node: "a", At: entries[0].At, Count: len(entries), Xact: "1"}
	hashes := make([][]byte, len(entries))
	for i := range entries {
		hash := entries[i].Hash()
		hashes[i] = hash[:]
		b.Entries = append(b.Entries, archivefile.Entry{Entry: entries[i], Idx: i, StoredHash: hash[:]})
	}
	var err error
	b.Root, err = merkle.Root(hashes)
	return b, err
}
