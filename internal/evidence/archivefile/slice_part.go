package archivefile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/lineproof/lineproof/internal/platform/blob"
)

// PartCheck checks a part of an archive.
type PartCheck struct {
	SliceCheck

	number  int
	found   Part
	numbers []int64 // of its live records
	Roots   []byte  // of its batches
}

// File checks the file of a part of a day.
func (c *PartCheck) File(ctx context.Context, files blob.Store, day string, number int, p *Part) {
	c.number = number
	err := p.Read(ctx, files, day, number, func(b *Batch) error {
		c.found.Count(b)
		c.numbers = c.found.LiveNumbers(c.numbers, b)
		if len(b.Root) != HashBytes {
			return fmt.Errorf("the root of batch %d of epoch %d has a wrong length", b.N, b.Epoch)
		}
		c.Roots = append(c.Roots, b.Root...)
		c.Batch(b)
		return ctx.Err()
	})
	found := &c.found
	if err != nil {
		c.AddFinding("file "+p.Key, "%v", err)
	} else if found.Batches != p.Batches || found.Entries != p.Entries || found.Logged != p.Logged || found.First != p.First || found.Last != p.Last || found.Erased != p.Erased {
		c.AddFinding("file "+p.Key, "has other records than its manifest says")
	}
}

// Filter checks that a filter belongs to the part. Another one could hide answers
// from a search, or have a number that was erased.
func (c *PartCheck) Filter(filter Filter, where string) {
	if !bytes.Equal(filter, NewFilter(c.numbers)) {
		c.AddFinding(where, "the filter of part %d is not that of the numbers of its live records", c.number)
	}
}
