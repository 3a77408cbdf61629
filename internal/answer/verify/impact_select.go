package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// ErrNoImport reports an import that does not exist.
var ErrNoImport = fault.New(fault.NotFound, "There is no such import. lineproof lines imports shows the imports.")

// selection has the numbers of a correction and the period of the answers that it may concern.
type selection struct {
	numbers []affected // by number
	// A line that a snapshot is the first to name has its baseline and no event, so that no query
	// of events finds it. Nothing stores when it became visible: until this search began, at the latest.
	baselines      []int32 // the snapshots of the correction
	baselinesUntil time.Time
	from, to       time.Time // the period of all answers together
	contains       func(e *line.Event) bool
}

// affected is the time in which a correction may concern answers about a number: from
// when the first of its events took effect until the last was known.
type affected struct {
	number   int64
	from, to line.Instant
}

// visibleWithin is how long after its time of report an event may become visible.
// Which events an answer knew is judged by its version of the line; this only limits
// which answers are looked at.
const visibleWithin = time.Hour

// choose finds the numbers that a correction is about.
func (f *ImpactFinder) choose(ctx context.Context, c Correction) (*selection, error) {
	s, events, err := f.selectionOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if s.numbers, err = f.readAffected(ctx, events); err != nil {
		return nil, err
	}
	if c.Seq != 0 && len(s.numbers) == 0 {
		return nil, ErrNoEvent
	}
	from := line.Forever
	for _, n := range s.numbers {
		from = min(from, n.from)
		s.to = latest(s.to, n.to.Time())
	}
	if len(s.baselines) > 0 {
		from, s.to = line.Never, latest(s.to, s.baselinesUntil)
	}
	s.from = latest(from.Time(), c.NotBefore) // the zero time for Never
	return s, nil
}

// eventsWhere is an SQL condition for rows of line_event, with its arguments.
type eventsWhere struct {
	condition string
	args      []any
}

// selectionOf returns the selection of a correction without its numbers, and the condition for
// the events that have them.
func (f *ImpactFinder) selectionOf(ctx context.Context, c Correction) (*selection, eventsWhere, error) {
	switch {
	case len(c.Numbers) > 0:
		all := func(*line.Event) bool { return true }
		return &selection{contains: all}, eventsWhere{`number = ANY($1) AND reported_at >= $2`, []any{c.Numbers, c.From}}, nil
	case c.Seq != 0:
		isIt := func(e *line.Event) bool { return e.Seq == c.Seq }
		return &selection{contains: isIt}, eventsWhere{`seq = $1`, []any{c.Seq}}, nil
	case c.Import != uuid.Nil:
		return f.selectImport(ctx, c.Import)
	default:
		return f.selectPeriod(ctx, c.From, c.To)
	}
}

func (f *ImpactFinder) selectImport(ctx context.Context, uid uuid.UUID) (*selection, eventsWhere, error) {
	var id int32
	var kind string
	var created time.Time
	err := f.Pool.QueryRow(ctx, `SELECT id, kind, created_at FROM supply_import WHERE uid = $1`, uid).Scan(&id, &kind, &created)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, eventsWhere{}, ErrNoImport
	}
	if err != nil {
		return nil, eventsWhere{}, fmt.Errorf("verify: find the import: %w", err)
	}
	s := &selection{contains: func(e *line.Event) bool { return e.Import == id }}
	if kind == "snapshot" {
		s.baselines, s.baselinesUntil = []int32{id}, time.Now()
	}
	return s, eventsWhere{`import = $1 AND reported_at >= $2`, []any{id, created}}, nil
}

func (f *ImpactFinder) selectPeriod(ctx context.Context, from, to time.Time) (*selection, eventsWhere, error) {
	snapshots, err := pg.Collect(ctx, f.Pool, pgx.RowTo[int32], `SELECT id FROM supply_import WHERE kind = 'snapshot' AND created_at >= $1 AND created_at < $2`, from, to)
	if err != nil {
		return nil, eventsWhere{}, fmt.Errorf("verify: find the imports of the period: %w", err)
	}
	reported := func(e *line.Event) bool { return !e.ReportedAt.Before(from) && e.ReportedAt.Before(to) }
	return &selection{contains: reported, baselines: snapshots, baselinesUntil: time.Now()},
		eventsWhere{`reported_at >= $1 AND reported_at < $2`, []any{from, to}}, nil
}

// readAffected reads the numbers of the events that a condition selects, and the time in which
// each of them may concern answers. The start of that time follows from the event, or from the
// target of a void or a confirmation:
//   - These have no beginning: a restatement, which replaces what was said about any time; the
//     event that stores a baseline which came after events of its number (base_import is its own
//     import); and a void or a confirmation whose target was not found, or is one itself.
//   - A bare date is stored as the last second of its day, and counts from the start of the day.
//   - A void or a confirmation counts a day earlier, too, because its target may be known before
//     it takes effect: a bare date of today is, and so is a time that is a minute ahead.
func (f *ImpactFinder) readAffected(ctx context.Context, events eventsWhere) (numbers []affected, err error) {
	const (
		day      = 25 * 60 * 60 // no day is longer
		bareDate = 1            // the bit of an event
	)
	var n affected
	var from int64
	var reported time.Time
	err = pg.ForEach(ctx, f.Pool, []any{&n.number, &from, &reported}, func() error {
		n.from = line.Instant(max(from, math.MinInt32)) //nolint:gosec // an instant, or a day before one
		n.to = line.InstantOf(reported.Add(visibleWithin))
		numbers = append(numbers, n)
		return nil
	}, fmt.Sprintf(`SELECT number,
			min(CASE WHEN any_time THEN %d WHEN day_earlier THEN effective - %d ELSE effective END), max(reported_at)
		FROM (SELECT e.number, e.reported_at, coalesce(t.effective, e.effective)::bigint AS effective,
				coalesce(t.kind, e.kind) = ANY(ARRAY[%d, %d, %d]) OR e.base_import = e.import AS any_time,
				e.target IS NOT NULL OR coalesce(t.bits, e.bits) & %d <> 0 AS day_earlier
			FROM (SELECT number, kind, bits, effective, reported_at, import, base_import, target FROM line_event WHERE %s) e
			LEFT JOIN LATERAL (SELECT kind, bits, effective FROM line_event
				WHERE e.target IS NOT NULL AND number = e.number AND seq = e.target LIMIT 1) t ON true) x
		GROUP BY number`, math.MinInt32, day, line.Restate, line.Void, line.Confirm, bareDate, events.condition), events.args...)
	if err != nil {
		return nil, fmt.Errorf("verify: read the events of the correction: %w", err)
	}
	slices.SortFunc(numbers, func(a, b affected) int { return cmp.Compare(a.number, b.number) })
	return numbers, nil
}

func (s *selection) find(number int64) (affected, bool) {
	i, found := slices.BinarySearchFunc(s.numbers, number, func(n affected, number int64) int { return cmp.Compare(n.number, number) })
	if !found {
		return affected{}, false
	}
	return s.numbers[i], true
}

// numbersOn returns the numbers that the correction may concern on a day, or some of
// them if they are too many to be found by the index.
func (s *selection) numbersOn(day time.Time) (numbers []int64) {
	start, end := line.InstantOf(day), line.InstantOf(day.AddDate(0, 0, 1))
	for _, n := range s.numbers {
		if n.from < end && n.to >= start && len(numbers) <= journal.MaxIndexed {
			numbers = append(numbers, n.number)
		}
	}
	return numbers
}

// mayConcern reports whether the correction may concern answers about a number that
// were given from this version of its line. Where nothing was known of the line (version 0), a
// baseline may have brought it, and it is not among the numbers of events.
func (s *selection) mayConcern(number, version int64) bool {
	if version == 0 && len(s.baselines) > 0 {
		return true
	}
	_, found := s.find(number)
	return found
}

// inPeriod reports whether an answer was given while the correction was in effect and
// not known.
func (s *selection) inPeriod(e *record.Entry) bool {
	if e.LineVersion == 0 && len(s.baselines) > 0 {
		return e.At.Before(s.baselinesUntil)
	}
	n, found := s.find(e.Number)
	at := line.InstantOf(e.At)
	return found && at >= n.from && at < n.to
}

// concerns reports whether the correction has a part in what was known later: hindsight
// has one of its events, or its baseline, that was not known then.
func (s *selection) concerns(known, hindsight *line.History) bool {
	if known.Base == nil && hindsight.Base != nil && slices.Contains(s.baselines, hindsight.Base.Import) {
		return true
	}
	learned := hindsight.Events[len(known.Events):]
	for i := range learned {
		if s.contains(&learned[i]) {
			return true
		}
	}
	return false
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
