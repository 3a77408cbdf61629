package archivefile

import (
	"bytes"
	"context"
	"errors"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// CheckArchive checks that an archive is complete, several parts at the same time. Damage
// is a finding; the error is only that of ctx. It calls progress with the number of
// records after each part.
func CheckArchive(ctx context.Context, files blob.Store, a *Archive, erased *ErasedSet, limit int, progress func(entries int64)) (Result, error) {
	t := &SliceCheck{Day: a.Day, Limit: limit}
	m, err := a.Open(ctx, files)
	if err != nil {
		t.AddFinding("file "+a.Manifest.String(), "%v", err)
		return t.Result, ctx.Err()
	}
	filters, err := m.ReadFilters(ctx, files)
	if err != nil {
		t.AddFinding("file "+m.Filters.Key, "%v", err)
	}
	var tree merkle.Tree
	var sum Part
	results, partCtx := NewInOrder(ctx, func(p *PartCheck) error {
		t.Merge(&p.Result, limit)
		for roots := p.Roots; len(roots) > 0; roots = roots[HashBytes:] {
			sum.Batches++
			tree.Add(roots[:HashBytes])
		}
		sum.Entries += p.Entries
		progress(t.Entries)
		return nil
	})
	for i := range m.Parts {
		results.Run(func() (*PartCheck, error) {
			p := &PartCheck{SliceCheck: SliceCheck{Day: a.Day, Limit: limit, MayBeErased: *erased}}
			p.File(partCtx, files, m.Day, i+1, &m.Parts[i])
			if filters != nil && p.OK() {
				p.Filter(filters[i], "file "+m.Filters.Key)
			}
			return p, partCtx.Err()
		})
	}
	if err := results.Wait(); err != nil {
		return t.Result, errors.Join(ctx.Err(), err)
	}
	root := tree.Root()
	if sum.Batches != a.Batches || sum.Entries != a.Entries || !bytes.Equal(root[:], a.Root) {
		t.AddFinding("archive of "+m.Day, "its files have %d batches with %d records, but %d with %d were archived, or the Merkle root differs",
			sum.Batches, sum.Entries, a.Batches, a.Entries)
	}
	return t.Result, nil
}
