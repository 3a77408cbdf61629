package supply

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// The phases of applying a snapshot: first its rows, then the numbers that it
// no longer has.
const (
	phaseRows    = "rows"
	phaseMissing = "missing"
)

// apply takes the file in, chunk by chunk, from where the last committed chunk
// ended.
func (r *runner) apply(ctx context.Context) error {
	going := r.im.place == 0 // else the rows that are in already are passed over
	closeFile, err := r.open()
	if err != nil && !going {
		return otherFile(err)
	}
	if err != nil {
		return err
	}
	defer closeFile()
	var digest [32]byte
	r.ahead, r.newest = true, line.Never
	if !going && r.im.Kind == linefile.Events {
		r.newest = line.Instant(r.im.cursor) //nolint:gosec // it was one
	}
	err = r.each(ctx, func(c *chunk) error {
		digest = c.digest
		if !going {
			for i := range c.rows {
				r.seen.add(c.rows[i].Number)
			}
			if c.place < r.im.place {
				return nil
			}
			if c.place > r.im.place || !bytes.Equal(c.digest[:], r.im.digest) {
				return errOtherFile
			}
			going = true
			return nil
		}
		if len(c.rows) == 0 && len(c.refused) == 0 {
			return nil
		}
		if err := r.applyChunk(ctx, c); err != nil {
			return err
		}
		return r.progress(ctx, false)
	})
	if err != nil && !going {
		return otherFile(err)
	}
	if err != nil {
		return err
	}
	if !going || len(r.im.checked) > 0 && !bytes.Equal(digest[:], r.im.checked) {
		return errOtherFile
	}
	if r.im.Kind == linefile.Snapshot {
		if err := r.missing(ctx, r.end); err != nil {
			return err
		}
	}
	return r.finish(ctx, digest[:])
}

// applyChunk takes one chunk in, in one transaction with the import's progress.
func (r *runner) applyChunk(ctx context.Context, c *chunk) (err error) {
	var counts Counts
	var cursor int64
	var fresh []*linefile.Row
	refused := slices.Clone(c.refused)
	if r.im.Kind == linefile.Snapshot {
		fresh = r.sift(c, &refused)
	}
	twice := int64(len(refused) - len(c.refused))
	known, attempt := len(refused), 0
	err = r.desk.inLongTx(ctx, func(tx pg.Tx) error {
		attempt++
		counts, refused = Counts{Duplicates: twice}, refused[:known]
		var more []linefile.Refusal
		if r.im.Kind == linefile.Snapshot {
			more, err = r.applySnapshot(ctx, tx, fresh, attempt > 1, &counts)
		} else {
			var newest line.Instant
			more, newest, err = r.applyEvents(ctx, tx, c, &counts)
			cursor = int64(max(r.newest, newest)) // so that whoever goes on knows it
		}
		if err != nil {
			return err
		}
		refused = append(refused, more...)
		counts.Refused = int64(len(refused))
		if r.im.Counts.Refused < maxRefused {
			if err := r.desk.keepRefused(ctx, tx, r.im.id, refused); err != nil {
				return err
			}
		}
		account := newTally(rules{now: r.desk.now()})
		account.refused(r.im.Network, int64(known)) // the others are counted where they were refused
		if err := account.save(ctx, tx); err != nil {
			return err
		}
		return r.advance(ctx, tx, phaseRows, c.place, cursor, c.digest[:], int64(len(c.rows)+len(c.refused)), counts)
	})
	if err != nil {
		return err
	}
	r.applied.Add(1)
	r.im.place, r.im.cursor, r.im.digest = c.place, cursor, slices.Clone(c.digest[:])
	if r.im.Kind == linefile.Events {
		r.newest = line.Instant(cursor) //nolint:gosec // it was one
	}
	r.im.Rows += int64(len(c.rows) + len(c.refused))
	r.im.Counts.add(counts)
	return nil
}

// advance writes the progress. It fails when the import is not where this
// process left it: then somebody else has gone on with it.
func (r *runner) advance(ctx context.Context, tx pg.Tx, phase string, place, cursor int64, digest []byte, rows int64, c Counts) error {
	done, err := tx.Exec(ctx, `UPDATE supply_import SET phase = $2, place = $3, cursor = $4, digest = $5, rows = rows + $6, added = added + $7,
		changed = changed + $8, unchanged = unchanged + $9, ended = ended + $10, duplicates = duplicates + $11, no_effect = no_effect + $12,
		ported_out = ported_out + $13, refused = refused + $14, updated_at = $15, started_at = coalesce(started_at, $15)
		WHERE id = $1 AND state = 'applying' AND place = $16 AND cursor = $17`,
		r.im.id, phase, place, cursor, digest, rows, c.Added, c.Changed, c.Unchanged, c.Ended, c.Duplicates, c.NoEffect, c.PortedOut, c.Refused,
		r.desk.now(), r.im.place, r.im.cursor)
	if err != nil {
		return fmt.Errorf("supply: write progress: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errBusy
	}
	return nil
}

// applyEvents tells the events of a chunk.
func (r *runner) applyEvents(ctx context.Context, tx pg.Tx, from *chunk, c *Counts) ([]linefile.Refusal, line.Instant, error) {
	rules, rows := r.rules, from.rows
	rules.now = r.desk.now()
	items := make([]item, len(rows))
	for i := range rows {
		items[i].place, items[i].number = rows[i].Place, rows[i].Number
		r.voice.judge(&items[i], rows[i].Event, rules)
		items[i].event.Import = r.im.id
	}
	sheet := r.laid(from)
	newest, sheet, err := r.desk.apply(ctx, tx, r.voice, rules, items, sheet)
	if err != nil {
		return nil, newest, err
	}
	r.recent[r.applied.Load()%int64(len(r.recent))] = sheet.by
	var refused []linefile.Refusal
	for i := range items {
		switch items[i].result.Outcome {
		case Applied:
			c.Changed++
		case NoEffect, Conflict:
			c.NoEffect++
		case Duplicate:
			c.Duplicates++
		default:
			refused = append(refused, linefile.Refusal{Place: items[i].place, Field: columnOf(items[i].result.Field), Reason: items[i].result.Reason})
		}
	}
	return refused, newest, nil
}

// applySnapshot takes the rows of a snapshot in: a number that has no row gets
// one, of the others only what changes becomes an event.
func (r *runner) applySnapshot(ctx context.Context, tx pg.Tx, rows []*linefile.Row, again bool, c *Counts) (refused []linefile.Refusal, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	rules := r.rules
	rules.now = r.desk.now()
	low, high := span(rows)
	some, err := line.Between(ctx, tx, low, high)
	if err != nil {
		return nil, err
	}
	sheet := &sheet{rules: rules, tally: newTally(rules)}
	if some {
		if sheet, err = r.desk.lay(ctx, tx, rules, numbersOf(rows), again); err != nil {
			return nil, err
		}
	}
	seqs := &seqs{tx: tx}
	records := make([]line.Record, 0, len(rows))
	for _, s := range rows {
		w := sheet.by[s.Number]
		known := w != nil && w.found.Version > 0
		row := line.NoRow()
		if known {
			row = w.at(line.InstantOf(r.im.AsOf))
		}
		base, refusal := r.read(s, row, known)
		if refusal.Reason != "" {
			if refusal.Reason == portedOut {
				c.PortedOut++
			}
			refused = append(refused, refusal)
			continue
		}
		if !known {
			made := line.FromBaseline(base)
			none := line.NoRow()
			sheet.tally.move(&none, &made)
			records = append(records, line.Record{Number: s.Number, Row: made})
			c.Added++
			continue
		}
		if says(&row, &base) {
			c.Unchanged++
			continue
		}
		ok, err := r.rewrite(ctx, sheet, w, row, &base, seqs)
		if err != nil {
			return nil, err
		}
		if !ok {
			refused = append(refused, contradicts(s))
			continue
		}
		c.Changed++
	}
	if !slices.IsSortedFunc(records, byNumber) {
		slices.SortFunc(records, byNumber)
	}
	if len(records) > 0 {
		if err := line.InsertBaselines(ctx, tx, records); err != nil {
			return nil, err
		}
	}
	if err := sheet.save(ctx, tx); err != nil {
		return nil, err
	}
	sheet.tally.refused(r.im.Network, int64(len(refused)))
	return refused, sheet.tally.save(ctx, tx)
}

// rewrite tells the events by which a line becomes what the snapshot says. It
// returns false, and tells none, if events that were told contradict it.
func (r *runner) rewrite(ctx context.Context, s *sheet, w *work, row line.Row, base *line.Baseline, seqs *seqs) (bool, error) {
	asOf := line.InstantOf(r.im.AsOf)
	events := derive(row, base, asOf)
	for i := range events {
		e := &events[i]
		var err error
		if e.Seq, err = seqs.next(ctx); err != nil {
			return false, err
		}
		e.Supplier, e.Import, e.Told = r.im.supplier, r.im.id, s.now
		w.add(*e)
	}
	if after := w.at(asOf); !says(&after, base) {
		w.told, w.row = nil, w.found
		return false, nil
	}
	for i := range events {
		s.tally.count(&events[i], row)
	}
	return true, nil
}

func byNumber(a, b line.Record) int { return compareNumbers(a.Number, b.Number) }

// seqs hands out the numbers of events, which it fetches in blocks. Without a
// transaction nothing will be written, and the numbers are only greater than
// those that were.
type seqs struct {
	tx    pg.Tx
	free  []int64
	trial int64
}

func (s *seqs) next(ctx context.Context) (seq int64, err error) {
	const block = 1000
	if s.tx == nil {
		s.trial++
		return 1<<62 + s.trial, nil
	}
	if len(s.free) == 0 {
		if s.free, err = line.Reserve(ctx, s.tx, block); err != nil {
			return 0, err
		}
	}
	seq, s.free = s.free[0], s.free[1:]
	return seq, nil
}

// keepRefused stores which rows were refused and why.
func (d *Desk) keepRefused(ctx context.Context, to pg.DB, id int32, refused []linefile.Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	places, fields, reasons := make([]int64, len(refused)), make([]string, len(refused)), make([]string, len(refused))
	for i, f := range refused {
		places[i], fields[i], reasons[i] = f.Place, f.Field, f.Reason
	}
	_, err := to.Exec(ctx, `INSERT INTO supply_refused (import, place, field, reason)
		SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING`, id, places, fields, reasons)
	if err != nil {
		return fmt.Errorf("supply: keep refused rows: %w", err)
	}
	return nil
}

// interval is a stretch of numbers, both ends included.
type interval struct{ low, high int64 }

// intervals returns the numbers that the network's ranges hold, in order.
func intervals(plan *numbering.Plan, n numbering.Network) []interval {
	var all []interval
	for _, r := range plan.Ranges() {
		if r.Network != n {
			continue
		}
		low := prefixValue(r.Prefix)
		high := low + 1
		for range plan.Digits - len(r.Prefix) {
			low, high = low*10, high*10
		}
		all = append(all, interval{low, high - 1})
	}
	slices.SortFunc(all, func(a, b interval) int { return compareInts(a.low, b.low) })
	return all
}

func compareNumbers(a, b phone.Number) int { return compareInts(a.Int(), b.Int()) }

// columnOf returns the column of a file for a field of the API.
func columnOf(field string) string {
	if field == "phoneNumber" {
		return "number"
	}
	return field
}
