package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// started is the beginning of an epoch and, if it is known, its end.
type started struct {
	epoch   int64
	node    string
	flushes int
	at      time.Time
	ended   bool
	last    int64   // the highest number
	unused  []int64 // numbers without a batch
	unknown []int64 // numbers that may have a batch
	tooMany bool    // an end lists more numbers than batches can have been in flight
}

// readStarted returns the epochs that started, by their ids. An end that another process
// found is there after one of the epoch's own that left an outcome unknown, and settles it.
func readStarted(ctx context.Context, from pg.DB) (map[int64]*started, error) {
	rows, err := from.Query(ctx, `SELECT s.epoch, s.node, s.flushes, s.started_at, w.epoch IS NOT NULL OR f.epoch IS NOT NULL, greatest(w.last, f.last, 0),
			coalesce(w.unused, '{}') || coalesce(f.unused, '{}'), CASE WHEN f.epoch IS NULL THEN coalesce(w.unknown, '{}') ELSE '{}' END,
			coalesce(cardinality(w.unused) + cardinality(w.unknown) > s.flushes, false) OR coalesce(cardinality(f.unused) > s.flushes, false)
		FROM journal_epoch_start s
		LEFT JOIN journal_epoch_end w ON w.epoch = s.epoch AND w.by_writer
		LEFT JOIN journal_epoch_end f ON f.epoch = s.epoch AND NOT f.by_writer`)
	if err != nil {
		return nil, fmt.Errorf("journal: read the epochs: %w", err)
	}
	all := make(map[int64]*started)
	for rows.Next() {
		s := new(started)
		if err := rows.Scan(&s.epoch, &s.node, &s.flushes, &s.at, &s.ended, &s.last, &s.unused, &s.unknown, &s.tooMany); err != nil {
			return nil, fmt.Errorf("journal: read the epochs: %w", err)
		}
		s.at = s.at.UTC()
		all[s.epoch] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("journal: read the epochs: %w", err)
	}
	return all, nil
}

// CheckGaps finds batches that are missing, in the epochs that have a batch on one of the days
// from one to another, or that started on one. The zero time is no limit. The numbers of
// days that have left the database are known from when they were archived. The service may
// be running. The result has at most limit findings, and counts all.
func CheckGaps(ctx context.Context, db pg.DB, from, to time.Time, limit int) (archivefile.Result, error) {
	var result archivefile.Result
	// What has ended now is complete when its batches are read.
	epochs, err := readStarted(ctx, db)
	if err != nil {
		return result, err
	}
	runs, err := allRuns(ctx, db)
	if err != nil {
		return result, err
	}
	if err := addNew(ctx, db, epochs, runs); err != nil {
		return result, err
	}
	for id := range epochs {
		if _, has := runs[id]; !has {
			runs[id] = nil
		}
	}
	within := func(at time.Time) bool {
		return (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to.AddDate(0, 0, 1)))
	}
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		of, e := runs[id], epochs[id]
		if e != nil && within(e.at) || slices.ContainsFunc(of, func(r Run) bool { return within(r.Since) || within(r.Until) }) {
			one := checkEpoch(id, e, of, limit-len(result.Findings))
			result.Merge(&one, limit)
		}
	}
	return result, nil
}

// allRuns returns the numbers of all batches by their epoch. The newest day is read first:
// a batch that is written meanwhile is then not taken for a gap before younger ones.
func allRuns(ctx context.Context, db pg.DB) (map[int64][]Run, error) {
	days, err := Days(ctx, db)
	if err != nil {
		return nil, err
	}
	ofDay := make(map[time.Time][]Run)
	for _, day := range slices.Backward(days) {
		if ofDay[day], err = RunsOfDay(ctx, db, day); err != nil {
			return nil, err
		}
	}
	if days, err = Days(ctx, db); err != nil { // without those that were archived meanwhile
		return nil, err
	}
	all, err := ArchivedRuns(ctx, db, days)
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		all = append(all, ofDay[day]...)
	}
	byEpoch := make(map[int64][]Run)
	for _, r := range all {
		byEpoch[r.Epoch] = append(byEpoch[r.Epoch], r)
	}
	return byEpoch, nil
}

// addNew adds the epochs that started while the batches were read.
func addNew(ctx context.Context, db pg.DB, epochs map[int64]*started, runs map[int64][]Run) error {
	known := true
	for id := range runs {
		known = known && epochs[id] != nil
	}
	if known {
		return nil
	}
	now, err := readStarted(ctx, db)
	for id, e := range now {
		if epochs[id] == nil {
			e.ended = false // it may have ended after its batches were read
			epochs[id] = e
		}
	}
	return err
}

// checkEpoch compares the batches of an epoch with its beginning and its end.
func checkEpoch(id int64, e *started, runs []Run, limit int) archivefile.Result {
	missing, last, end := gaps(runs)
	c := &archivefile.SliceCheck{Limit: limit, Day: end.UTC().Truncate(24 * time.Hour)}
	where := fmt.Sprintf("epoch %d", id)
	if e == nil {
		c.AddFinding(where, "has batches, and no process started it")
		return c.Result
	}
	if len(runs) == 0 {
		c.Day = e.at.Truncate(24 * time.Hour)
	}
	where = fmt.Sprintf("epoch %d of node %s", id, e.node)
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Node != e.node }) {
		c.AddFinding(where, "has batches of another node")
	}
	if e.tooMany {
		c.AddFinding(where, "its end lists more numbers without a batch than the %d that could be in flight", e.flushes)
	}
	if !e.ended {
		_, missing = inFlight(missing, end, e.flushes)
	} else {
		if last > e.last {
			c.AddFinding(where, "ended with batch %d, and has one with the number %d", e.last, last)
		} else if last < e.last {
			missing = append(missing, gap{first: last + 1, last: e.last})
		}
		missing = without(missing, slices.Concat(e.unused, e.unknown))
	}
	for _, g := range missing {
		if g.first == g.last {
			c.AddFinding(where, "batch %d is missing", g.first)
		} else {
			c.AddFinding(where, "the batches %d to %d are missing", g.first, g.last)
		}
	}
	return c.Result
}

// without removes numbers from gaps.
func without(missing []gap, numbers []int64) (rest []gap) {
	slices.Sort(numbers)
	for _, g := range missing {
		for _, n := range numbers {
			if n < g.first || n > g.last {
				continue
			}
			if n > g.first {
				rest = append(rest, gap{first: g.first, last: n - 1})
			}
			g.first = n + 1
		}
		if g.first <= g.last {
			rest = append(rest, g)
		}
	}
	return rest
}
