package journal

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/lineproof/lineproof/internal/archivefile"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/bloom"
)

// CheckArchives reads the archives of the days from one to another, both
// included, and checks every file, every record and every batch. The zero time
// is no limit.
func (c *Checker) CheckArchives(ctx context.Context, from, to time.Time) (Report, error) {
	var total Report
	archives, err := Archives(ctx, c.Pool, from, to)
	if err != nil {
		return total, err
	}
	for i := range archives {
		t := &dayCheck{Report: total, day: archives[i].Day, limit: c.Limit}
		if t.erased, err = erasedOf(ctx, c.Pool, t.day); err != nil {
			return total, err
		}
		if err := t.checkArchive(ctx, c.Files, &archives[i], func() { c.progress(t.Report) }); err != nil {
			return total, err
		}
		total = t.Report
		total.Archives++
	}
	return total, nil
}

// checkArchive checks that an archive is complete. Damage is a finding; the error
// is only that of ctx.
func (t *dayCheck) checkArchive(ctx context.Context, files blob.Store, a *Archive, watch func()) error {
	m, err := a.Open(ctx, files)
	if err != nil {
		t.addFinding("file "+a.Manifest.String(), "%v", err)
		return ctx.Err()
	}
	filters, err := m.ReadFilters(ctx, files)
	if err != nil {
		t.addFinding("file "+m.Filters.Key, "%v", err)
	}
	roots := archivefile.NewRoots()
	var batches, entries int64
	for i, p := range m.Parts {
		var found archivefile.Part
		var numbers []int64
		err := p.Read(ctx, files, m.Day, i+1, func(b *archivefile.Batch) error {
			found.Batches++
			found.Entries += int64(len(b.Entries))
			for j := range b.Entries {
				archivefile.Extend(&found.First, &found.Last, b.Entries[j].At.Format(archivefile.TimeFormat))
			}
			numbers = found.LiveNumbers(numbers, b)
			if err := roots.Append(rfc6962.DefaultHasher.HashLeaf(b.Root), nil); err != nil {
				return fmt.Errorf("journal: merkle root: %w", err)
			}
			return t.checkBatch(b)
		})
		if err != nil {
			t.addFinding("file "+p.Key, "%v", err)
		} else if found.Batches != p.Batches || found.Entries != p.Entries || found.First != p.First || found.Last != p.Last || found.Erased != p.Erased {
			t.addFinding("file "+p.Key, "has other records than its manifest says")
		} else if filters != nil && !bytes.Equal(filters[i], bloom.New(numbers)) {
			// It could hide answers from a search, or have a number that was erased.
			t.addFinding("file "+m.Filters.Key, "the filter of part %d is not that of the numbers of its live records", i+1)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		batches, entries = batches+found.Batches, entries+found.Entries
		watch()
	}
	root, err := archivefile.RootOf(roots)
	if err != nil {
		return err
	}
	if batches != a.Batches || entries != a.Entries || !bytes.Equal(root, a.Root) {
		t.addFinding("archive of "+m.Day, "its files have %d batches with %d records, but %d with %d were archived, or the Merkle root differs",
			batches, entries, a.Batches, a.Entries)
	}
	return nil
}
