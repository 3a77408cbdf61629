package supply

import (
	"bytes"
	"context"
	"slices"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The phases of applying a snapshot: first its rows, then the numbers that it
// no longer has.
const (
	phaseRows    = "rows"
	phaseMissing = "missing"
)

// apply applies the file chunk by chunk, starting after the last chunk that was
// committed.
func (r *importRun) apply(ctx context.Context) error {
	caughtUp := r.im.place == 0 // until then rows are only skipped: they are applied already
	closeFile, err := r.openFile(ctx)
	if err != nil && !caughtUp {
		return differentFile(err)
	}
	if err != nil {
		return err
	}
	defer closeFile()
	var digest [32]byte
	r.loadsAhead = r.src.turns == nil // with turns, the database works on one chunk at a time
	err = r.eachChunk(ctx, func(c *chunk) error {
		digest = c.digest
		if !caughtUp {
			for i := range c.rows {
				r.seen.Add(c.rows[i].Number)
			}
			if c.place < r.im.place {
				return nil
			}
			if c.place > r.im.place || !bytes.Equal(c.digest[:], r.im.digest) {
				return errDifferentFile
			}
			caughtUp = true
			return nil
		}
		if len(c.rows) == 0 && len(c.refused) == 0 {
			return nil
		}
		if err := r.applyChunk(ctx, c); err != nil {
			return err
		}
		return r.reportProgress(ctx, false)
	})
	if err != nil && !caughtUp {
		return differentFile(err)
	}
	if err != nil {
		return err
	}
	if !caughtUp || len(r.im.fileDigest) > 0 && !bytes.Equal(digest[:], r.im.fileDigest) {
		return errDifferentFile
	}
	if r.im.hasLines() {
		if err := r.eachMissing(ctx, r.endMissing); err != nil {
			return err
		}
	}
	return r.finish(ctx, digest[:])
}

// applyChunk applies one chunk and saves the import's progress, in one
// transaction.
func (r *importRun) applyChunk(ctx context.Context, c *chunk) (err error) {
	var counts Counts
	var first []*linefile.Row
	refused := slices.Clone(c.refused)
	if r.im.hasLines() {
		first = r.dropRepeated(c, &refused)
	}
	repeated := int64(len(refused) - len(c.refused))
	refusedBefore, attempt := len(refused), 0
	err = r.service.inLongTx(ctx, func(tx pg.Tx) error {
		attempt++
		counts, refused = Counts{Duplicates: repeated}, refused[:refusedBefore]
		var more []linefile.Refusal
		if r.im.hasLines() {
			more, err = r.applySnapshotRows(ctx, tx, first, attempt > 1, &counts)
		} else {
			more, err = r.applyEventRows(ctx, tx, c, &counts)
		}
		if err != nil {
			return err
		}
		refused = append(refused, more...)
		counts.Refused = int64(len(refused))
		if r.im.Counts.Refused < filerows.MaxRejected {
			if err := filerows.SaveRejected(ctx, tx, r.im.id, refused); err != nil {
				return err
			}
		}
		// The rows in more are counted where they were refused.
		day := newDailyCounts(rules{now: r.service.now()})
		day.countRefused(r.im.Network, int64(refusedBefore))
		if err := day.save(ctx, tx); err != nil {
			return err
		}
		return r.saveProgress(ctx, tx, phaseRows, c.place, 0, c.digest[:], int64(len(c.rows)+len(c.refused)), counts)
	})
	if err != nil {
		return err
	}
	r.appliedChunks.Add(1)
	r.im.place, r.im.digest = c.place, slices.Clone(c.digest[:])
	r.im.Rows += int64(len(c.rows) + len(c.refused))
	r.im.Counts.add(counts)
	return nil
}

// applyEventRows applies the events of a chunk.
func (r *importRun) applyEventRows(ctx context.Context, tx pg.Tx, from *chunk, counts *Counts) ([]linefile.Refusal, error) {
	rules, rows := r.rules, from.rows
	rules.now = r.service.now()
	items := make([]item, len(rows))
	for i := range rows {
		items[i].number = rows[i].Number
		items[i].parseEvent(rows[i].Event, r.supplier, rules)
		items[i].event.Import = r.im.id
	}
	_, cs, err := r.service.applyItems(ctx, tx, r.supplier, rules, items, r.takeLoaded(from))
	if err != nil {
		return nil, err
	}
	r.recentChanges[r.appliedChunks.Load()%int64(len(r.recentChanges))] = cs.byNumber
	var refused []linefile.Refusal
	for i := range items {
		switch items[i].result.Outcome {
		case Applied:
			counts.Changed++
		case NoEffect:
			counts.NoEffect++
		case Waiting:
			counts.Waiting++
		case Duplicate:
			counts.Duplicates++
		default:
			refused = append(refused, rows[i].Refuse(columnOf(items[i].result.Field), items[i].result.Reason))
		}
	}
	return refused, nil
}

// columnOf returns the column of a file for a field of the API.
func columnOf(field string) string {
	if field == "phoneNumber" {
		return "number"
	}
	return field
}

// loadChunk loads the numbers of a chunk of events while the chunk before it is
// being written. If that fails, the transaction of the chunk loads them.
func (r *importRun) loadChunk(ctx context.Context, c *chunk) {
	if !r.loadsAhead || r.im.hasLines() || len(c.rows) == 0 {
		return
	}
	c.loadedAfter = r.appliedChunks.Load()
	numbers := make([]phone.Number, len(c.rows))
	for i := range c.rows {
		numbers[i] = c.rows[i].Number
	}
	if cs, err := r.service.load(ctx, r.service.Pool, r.rules, numbers, false); err == nil {
		c.loaded = cs
	}
}

// takeLoaded returns the changeSet that was loaded ahead. It returns nil if a
// chunk that was applied since then has changed one of its numbers.
func (r *importRun) takeLoaded(c *chunk) *changeSet {
	cs := c.loaded
	c.loaded = nil // applying events changes it, so a retry must load anew
	if cs == nil {
		return nil
	}
	for i, n := int64(0), r.appliedChunks.Load(); i < int64(len(r.recentChanges)) && n-i > c.loadedAfter; i++ {
		changed := r.recentChanges[(n-i-1)%int64(len(r.recentChanges))]
		for number := range cs.byNumber {
			if changed[number] != nil {
				return nil
			}
		}
	}
	return cs
}
