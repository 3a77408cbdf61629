package journal

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// standbyWait is how long the archiver waits for a standby that is behind.
const standbyWait = 5 * time.Minute

// write makes the files of the archive of a day and checks them. Each slice of the day
// becomes a part: it is read, checked, written, read back and checked again on its own,
// and several are at the same time.
//
// The slices come from different snapshots. That is no risk: the day has ended an hour
// ago, so that nothing is written to it any more; nothing of it is erased meanwhile,
// because that takes the same lock; and if a batch were written all the same, the day
// would have more batches than the archive, and would be neither recorded nor dropped.
func (a *Archiver) write(ctx context.Context, day time.Time) (Archive, error) {
	a.summarize(ctx, day)
	reader := &sliceReader{pool: a.Pool, day: day}
	if a.Read != nil {
		reader.pool, reader.primary = a.Read, a.Pool
		if !a.trustStandby {
			if err := pg.WaitForStandby(ctx, a.Pool, a.Read, standbyWait); err != nil {
				return Archive{}, err
			}
		}
	}
	spans, err := planDay(ctx, a.Pool, day, sliceSize(a.partEntries))
	if err != nil {
		return Archive{}, err
	}
	to := archivefile.NewWriter(a.Files, day)
	run := &archiveRun{Archiver: a, reader: reader}
	results, groupCtx := archivefile.NewInOrder(ctx, func(p *archivefile.StoredPart) error {
		if p.Batches == 0 && len(spans) > 1 {
			return ErrChanging
		}
		if p.Batches > 0 {
			to.Add(p)
		}
		a.progress(day, "archiving", to.Manifest.Entries)
		return nil
	})
	for i, span := range spans {
		results.Run(func() (*archivefile.StoredPart, error) { return run.writePart(groupCtx, span, i+1) })
	}
	if err := results.Wait(); err != nil {
		return Archive{}, err
	}
	archive, err := to.Finish(ctx, day)
	if err != nil {
		return Archive{}, err
	}
	archive.At = a.Now().UTC().Truncate(time.Microsecond)
	return archive, a.readBack(ctx, &archive)
}

// summarize updates the indexes on the time, by which slices are read. Without it the
// result is the same, but every slice would read all pages that were never summarized.
// The service does it, too, as long as it runs.
func (a *Archiver) summarize(ctx context.Context, day time.Time) {
	_, _ = a.Pool.Exec(ctx, `SELECT brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
		WHERE m.amname = 'brin' AND i.indrelid = ANY (ARRAY[to_regclass($1), to_regclass($2)]::oid[])`,
		"public."+partitionOf(entryTable, day), "public."+partitionOf(batchTable, day)) // fails if a vacuum holds the lock, which does the same work
}

// archiveRun archives one day.
type archiveRun struct {
	*Archiver

	reader  *sliceReader
	writers sync.Pool // of *archivefile.PartWriter that are not in use
}

// writePart makes a part of a slice, reads it back and checks it. It returns a part
// without batches, which is not stored, if there is nothing in the slice.
func (r *archiveRun) writePart(ctx context.Context, span Span, number int) (*archivefile.StoredPart, error) {
	writer, _ := r.writers.Get().(*archivefile.PartWriter)
	if writer == nil {
		var err error
		if writer, err = archivefile.NewPartWriter(r.Files); err != nil {
			return nil, err
		}
	}
	defer r.writers.Put(writer)
	day := r.reader.day.Format(time.DateOnly)
	if err := writer.Start(day, number); err != nil {
		return nil, err
	}
	erased := archivefile.ErasedSet{}
	var indexes map[archivefile.BatchKey]int64
	if r.LogIndexes != nil {
		var err error
		if indexes, err = r.LogIndexes(ctx, span.From, span.To); err != nil {
			return nil, err
		}
	}
	err := archivefile.WithMemory(func(memory *archivefile.Memory) error {
		return r.reader.read(ctx, span, memory, func(s *daySlice) error {
			check := &archivefile.SliceCheck{Day: r.reader.day}
			if s.check(check); !check.OK() {
				return ErrDamaged
			}
			for i := range s.batches {
				if index, ok := indexes[s.batches[i].BatchKey]; ok {
					s.batches[i].Log = index
				}
				if err := writer.Add(&s.batches[i]); err != nil {
					return err
				}
			}
			erased.Add(&s.erased)
			return nil
		})
	})
	if batches, _ := writer.Size(); err != nil || batches == 0 {
		return &archivefile.StoredPart{}, err
	}
	part, err := writer.Store(ctx)
	if err != nil {
		return nil, err
	}
	read := &archivefile.PartCheck{SliceCheck: archivefile.SliceCheck{Day: r.reader.day, Limit: 1, MayBeErased: erased}}
	read.File(ctx, r.Files, day, number, &part.Part)
	read.Filter(part.Filter, "part "+part.Key)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !read.OK() {
		return nil, fmt.Errorf("%w: %s %s; remove the file from LINEPROOF_DATA/journal and run the command again",
			archivefile.ErrDamaged, read.Findings[0].Where, read.Findings[0].What)
	}
	return part, nil
}

// readBack reads the files that belong to all parts of an archive, and compares them with
// the hashes of what was written. The parts were read back one by one.
func (a *Archiver) readBack(ctx context.Context, archive *Archive) error {
	m, err := archive.Open(ctx, a.Files)
	if err == nil {
		_, err = m.ReadFilters(ctx, a.Files)
	}
	a.progress(archive.Day, "reading back", archive.Entries)
	return err
}
