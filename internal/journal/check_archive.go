package journal

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/transparency-dev/merkle/rfc6962"

	"github.com/lineproof/lineproof/internal/blob"
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
		t := &trial{Report: total, day: archives[i].Day, limit: c.Limit}
		if err := t.archive(ctx, c.Files, &archives[i], func() { c.watch(t.Report) }); err != nil {
			return total, err
		}
		total = t.Report
		total.Archives++
	}
	return total, nil
}

// archive checks that an archive is whole. What is wrong with it is a finding;
// the error says that there was no time to look.
func (t *trial) archive(ctx context.Context, files blob.Store, a *Archive, watch func()) error {
	m, err := a.open(ctx, files)
	if err != nil {
		t.find("file "+a.Manifest.String(), "%v", err)
		return ctx.Err()
	}
	roots := newRoots()
	var batches, entries int64
	for i, p := range m.Parts {
		var within Part
		err := p.read(ctx, files, m.Day, i+1, func(f *flush) error {
			within.Batches++
			within.Entries += int64(len(f.entries))
			for j := range f.entries {
				widen(&within.First, &within.Last, f.entries[j].At.Format(archiveTime))
			}
			if err := roots.Append(rfc6962.DefaultHasher.HashLeaf(f.root), nil); err != nil {
				return fmt.Errorf("journal: merkle root: %w", err)
			}
			return t.flush(f)
		})
		if err != nil {
			t.find("file "+p.Key, "%v", err)
		} else if within.Batches != p.Batches || within.Entries != p.Entries || within.First != p.First || within.Last != p.Last {
			t.find("file "+p.Key, "holds other records than its manifest says")
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		batches, entries = batches+within.Batches, entries+within.Entries
		watch()
	}
	root, err := rootOf(roots)
	if err != nil {
		return err
	}
	if batches != a.Batches || entries != a.Entries || !bytes.Equal(root, a.Root) {
		t.find("archive of "+m.Day, "its files hold %d batches with %d records, and %d with %d were archived, or their roots make another one",
			batches, entries, a.Batches, a.Entries)
	}
	return nil
}
