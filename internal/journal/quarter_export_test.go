package journal

import (
	"context"
	"iter"
	"time"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/record"
)

// WriteDay archives a day that was never in the database: its batches go straight into
// files, which is much faster. Everything else is as the archiver does it.
func (a *Archiver) WriteDay(ctx context.Context, day time.Time, batches iter.Seq[[]record.Entry]) (Archive, error) {
	w, err := archivefile.NewWriter(a.Files, day)
	if err != nil {
		return Archive{}, err
	}
	if a.partBytes > 0 {
		w.MaxBytes = a.partBytes
	}
	n := int64(0)
	for entries := range batches {
		n++
		b, err := newStoredBatch(archivefile.BatchKey{Epoch: 1, N: n}, entries)
		if err != nil {
			return Archive{}, err
		}
		if err := w.Add(ctx, b); err != nil {
			return Archive{}, err
		}
	}
	archive, err := w.Finish(ctx, day)
	if err != nil {
		return Archive{}, err
	}
	archive.At = a.Now().UTC().Truncate(time.Microsecond)
	return archive, a.recordArchive(ctx, &archive)
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
	b.Root, err = record.Root(hashes)
	return b, err
}
