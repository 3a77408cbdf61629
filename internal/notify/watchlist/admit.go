package watchlist

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A list of a bank's customers has about one number in a hundred that nobody has; of
// numbers at random more than half are no lines. So a list waits for staff when more
// than about a tenth of a sample of what entered is missing, or lies where nobody supplies
// and so nobody can tell: with one call, or since staff released it. verdict.go says when.
const (
	minSample  = 1_000
	sampleOf   = 100   // one number in so many, at least minSample
	lookupSize = 5_000 // numbers that are looked up with one query
)

// sample counts the sampled numbers among those that entered a list.
type sample struct{ sampled, missing, uncovered int64 }

// limit counts at most so many numbers as sampled, and forgets no miss: a number that is
// removed and added again costs nothing and is sampled again, and must not hide others.
func (c *sample) limit(most int64) { c.sampled = min(c.sampled, max(most, c.missing+c.uncovered)) }

// judge looks a sample of these numbers up, and decides by them, and by those and what was
// sampled before, whether the list is to be held. Test lists are not judged.
func (s *Service) judge(ctx context.Context, tx pg.Tx, o *Owner, l *stored, numbers iter.Seq[phone.Number]) error {
	if !o.live() {
		return nil
	}
	var c sample
	for part := range slices.Chunk(sampleFrom(numbers), lookupSize) {
		found, err := s.Lines.LookupAll(ctx, tx, part, l.ChangedAt)
		if err != nil {
			return err
		}
		for _, n := range part {
			known := found.Get(n)
			c.sampled++
			switch view := known.View(l.ChangedAt); {
			case view.Reason == line.ReasonNoSupply:
				c.uncovered++
			case !known.Row.State.Ongoing():
				c.missing++
			}
		}
	}
	l.limit(max(l.Members, minSample))
	l.sampled, l.missing, l.uncovered = l.sampled+c.sampled, l.missing+c.missing, l.uncovered+c.uncovered
	s.decide(l, &c)
	return nil
}

// spend counts the numbers that enter a live list against the budget.
func (s *Service) spend(ctx context.Context, tx pg.Tx, o *Owner, numbers iter.Seq[phone.Number]) error {
	if !o.live() {
		return nil
	}
	return s.Guard.Enter(ctx, tx, o.Entity, o.Budget, numbers)
}

// sampleFrom returns numbers at random: one in a hundred, but at least a thousand, or all.
func sampleFrom(numbers iter.Seq[phone.Number]) []phone.Number {
	var all int
	for range numbers {
		all++
	}
	size := min(max(all/sampleOf, minSample), all)
	sample := make([]phone.Number, 0, size)
	for n := range numbers { // each rest of the sample is equally likely (selection sampling)
		if rand.IntN(all) < size-len(sample) { //nolint:gosec // a statistic, and not a secret
			sample = append(sample, n)
		}
		all--
	}
	return sample
}

// Figures describe a list to staff.
type Figures struct {
	List

	Entity                      uuid.UUID
	Sampled, Missing, Uncovered int64 // since the last release
}

// HeldLists returns the lists that wait for staff, oldest first, without their members.
func (s *Service) HeldLists(ctx context.Context) (held []Figures, err error) {
	return heldLists(ctx, s.Pool, "")
}

func heldLists(ctx context.Context, from pg.DB, which string, args ...any) (held []Figures, err error) {
	held, err = pg.Collect(ctx, from, func(row pgx.CollectableRow) (f Figures, err error) {
		f.List, err = scanList(row, &f.Entity, &f.Sampled, &f.Missing, &f.Uncovered)
		return f, err
	}, `SELECT `+listColumns+`, entity_id, sampled, missing, uncovered FROM watch_list WHERE state = 'held' `+which+` ORDER BY changed_at, id`, args...)
	return held, fault.Wrap(err, "watchlist: read held lists")
}

// ErrNotHeld reports a list that does not wait for staff.
var ErrNotHeld = fault.New(fault.IncompatibleState, "This watch-list is not held.")

// Release lets a held list take effect, in the caller's transaction, who has made sure
// that two people agreed. What was sampled before no longer counts.
func Release(ctx context.Context, tx pg.Tx, id uuid.UUID, at time.Time) error {
	mark, err := outbox.LockMark(ctx, tx)
	if err != nil {
		return err
	}
	var o feed.Owner
	rows, err := tx.Query(ctx, `UPDATE watch_list SET state = 'active', to_hold = false, judge_at = NULL, sampled = 0, missing = 0, uncovered = 0, effective_from = $2 WHERE id = $1 AND state = 'held' RETURNING `+listColumns+`, entity_id, mode`, id, mark)
	if err != nil {
		return fmt.Errorf("watchlist: release a list: %w", err)
	}
	l, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (List, error) { return scanList(row, &o.Entity, &o.Mode) })
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotHeld
	}
	if err != nil {
		return fmt.Errorf("watchlist: release a list: %w", err)
	}
	return tell(ctx, tx, o, &l, at)
}
