package journal

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// Checker finds records and batches that were changed after they were written.
type Checker struct {
	Pool       *pgxpool.Pool // what is checked; may be a standby
	Files      blob.Store    // has the archives; needed only for CheckArchives
	Limit      int           // the number of findings to return; all are counted
	OnProgress func(Report)  // reports progress; may be nil

	// Remember, if set, is the database in which the results of days that have ended are
	// remembered, in journal_checked.
	Remember *pgxpool.Pool
	// OnlyNew skips the days that a remembered check has found whole and that have not
	// changed since. It is a convenience: what was done to a day without the service since
	// that check is not found.
	OnlyNew bool

	sliceEntries, maxEntries int // for tests; 0 means the constants
}

// Report is the result of a check.
type Report struct {
	archivefile.Result

	Days     int // in the database
	Archives int
	Skipped  []CheckedDay // days that were not checked, because of OnlyNew
	Gone     []time.Time  // days that were archived while the check ran
}

// Finding is one inconsistency.
type Finding = archivefile.SliceFinding

// Check reads the days from one to another that are in the database, both
// included, and checks every record and every batch. The zero time is no limit.
// The service may be running. Several slices are read and checked at the same time.
func (c *Checker) Check(ctx context.Context, from, to time.Time) (Report, error) {
	days, err := readableDays(ctx, c.Pool)
	if err != nil {
		return Report{}, err
	}
	days = within(days, from, to)
	var skipped []CheckedDay
	if c.OnlyNew {
		if days, skipped, err = c.newDays(ctx, days); err != nil {
			return Report{}, err
		}
	}
	run := &checkRun{Checker: c}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results, groupCtx := archivefile.NewInOrder(ctx, func(r sliceResult) error { return run.add(ctx, &r) })
	for _, day := range days {
		spans, planErr := planDay(groupCtx, c.Pool, day, sliceSize(c.sliceEntries))
		if planErr != nil {
			err = planErr
			cancel()
			break
		}
		for i, span := range spans {
			results.Run(func() (sliceResult, error) { return c.checkSlice(groupCtx, day, span, i == len(spans)-1) })
		}
	}
	if failed := results.Wait(); failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = failed // the plan of a later day was only cancelled because of it
	}
	run.total.Skipped = skipped
	return run.total, err
}

// sliceSize returns of how many records a slice is planned.
func sliceSize(forTests int) int {
	if forTests > 0 {
		return forTests
	}
	return archivefile.PartEntries
}

// sliceResult is the result of the check of a slice.
type sliceResult struct {
	archivefile.Result

	day   time.Time
	roots []byte // of its batches
	last  bool   // it is the last of its day
	gone  bool   // the day is no longer in the database
}

// checkSlice checks a slice of a day.
func (c *Checker) checkSlice(ctx context.Context, day time.Time, span Span, last bool) (sliceResult, error) {
	r := &sliceReader{pool: c.Pool, day: day, maxEntries: c.maxEntries}
	result := sliceResult{day: day, last: last}
	t := &archivefile.SliceCheck{Day: day, Limit: c.Limit}
	err := archivefile.WithMemory(func(memory *archivefile.Memory) error {
		return r.read(ctx, span, memory, func(s *daySlice) error {
			s.check(t)
			for i := range s.batches {
				result.roots = append(result.roots, s.batches[i].Root...)
			}
			return nil
		})
	})
	if errors.Is(err, ErrNoDay) {
		result.gone = true
		return result, nil
	}
	result.Result = t.Result
	return result, err
}

// checkRun puts the results of the slices together, in their order.
type checkRun struct {
	*Checker

	total Report
	day   archivefile.Result // of the day whose slices are being put together
	roots merkle.Tree
	gone  bool
}

func (r *checkRun) add(ctx context.Context, s *sliceResult) error {
	r.day.Merge(&s.Result, r.Limit-len(r.total.Findings))
	for roots := s.roots; len(roots) > 0; roots = roots[archivefile.HashBytes:] {
		r.roots.Add(roots[:archivefile.HashBytes])
	}
	r.gone = r.gone || s.gone
	if r.OnProgress != nil {
		progress := r.total
		progress.Merge(&r.day, 0)
		r.OnProgress(progress)
	}
	if !s.last {
		return nil
	}
	day, root, gone := r.day, r.roots.Root(), r.gone
	r.day, r.gone = archivefile.Result{}, false
	r.roots.Reset()
	if gone {
		r.total.Gone = append(r.total.Gone, s.day)
		return nil
	}
	r.total.Days++
	r.total.Merge(&day, r.Limit)
	return r.remember(ctx, s.day, &day, root)
}
