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

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/record"
)

// ErrNoImport reports an import that does not exist.
var ErrNoImport = fault.New(fault.NotFound, "There is no such import. lineproof lines imports shows the imports.")

// selection is what a correction is about, and which answers it may concern.
type selection struct {
	numbers   []affected // by number
	baselines []int32    // the snapshots of the correction that may have brought baselines
	known     time.Time  // when the last of them was known
	from, to  time.Time  // the period of all answers together
	contains  func(e *line.Event) bool
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
	s := &selection{}
	where, args, err := f.condition(ctx, c, s)
	if err != nil {
		return nil, err
	}
	if err := f.readAffected(ctx, s, where, args...); err != nil {
		return nil, err
	}
	if c.Seq != 0 && len(s.numbers) == 0 {
		return nil, ErrNoEvent
	}
	from := line.Forever
	for _, n := range s.numbers {
		from = min(from, n.from)
		if to := n.to.Time(); to.After(s.to) {
			s.to = to
		}
	}
	if len(s.baselines) > 0 {
		from, s.to = line.Never, later(s.to, s.known)
	}
	s.from = later(from.Time(), c.NotBefore) // the zero time for Never
	return s, nil
}

// condition returns the SQL condition for the events of a correction, and sets what
// the selection needs beside them.
func (f *ImpactFinder) condition(ctx context.Context, c Correction, s *selection) (where string, args []any, err error) {
	switch {
	case len(c.Numbers) > 0:
		s.contains = func(*line.Event) bool { return true }
		return `number = ANY($1) AND reported_at >= $2`, []any{c.Numbers, c.From}, nil
	case c.Seq != 0:
		s.contains = func(e *line.Event) bool { return e.Seq == c.Seq }
		return `seq = $1`, []any{c.Seq}, nil
	case c.Import != uuid.Nil:
		var id int32
		var created time.Time
		var kind string
		err := f.Pool.QueryRow(ctx, `SELECT id, kind, created_at FROM supply_import WHERE uid = $1`, c.Import).Scan(&id, &kind, &created)
		if errors.Is(err, pgx.ErrNoRows) {
			return "", nil, ErrNoImport
		}
		if err != nil {
			return "", nil, fmt.Errorf("verify: find the import: %w", err)
		}
		if s.contains = func(e *line.Event) bool { return e.Import == id }; kind == "snapshot" {
			s.baselines, s.known = []int32{id}, time.Now()
		}
		return `import = $1 AND reported_at >= $2`, []any{id, created}, nil
	default:
		s.contains = func(e *line.Event) bool { return !e.ReportedAt.Before(c.From) && e.ReportedAt.Before(c.To) }
		rows, err := f.Pool.Query(ctx, `SELECT id FROM supply_import WHERE kind = 'snapshot' AND created_at >= $1 AND created_at < $2`, c.From, c.To)
		if err == nil {
			s.baselines, err = pgx.CollectRows(rows, pgx.RowTo[int32])
		}
		if err != nil {
			return "", nil, fmt.Errorf("verify: find the imports of the period: %w", err)
		}
		s.known = time.Now()
		return `reported_at >= $1 AND reported_at < $2`, []any{c.From, c.To}, nil
	}
}

// readAffected reads the numbers of the events that a condition selects. A bare date
// counts from the start of its day. A void and a confirmation have the time of their
// event, and count before it where the event was reported ahead of its time. A
// restatement replaces what was said about any time, and so does a baseline that events
// came before.
func (f *ImpactFinder) readAffected(ctx context.Context, s *selection, where string, args ...any) error {
	const day = 25 * 60 * 60 // no day is longer
	rows, err := f.Pool.Query(ctx, fmt.Sprintf(`SELECT e.number,
			min(CASE WHEN coalesce(t.kind, e.kind) = ANY(ARRAY[%d, %d, %d]) OR e.base_import = e.import THEN %d
				ELSE coalesce(t.effective, e.effective)::bigint - %d * greatest(coalesce(t.bits, e.bits) & 1, (e.target IS NOT NULL)::integer) END),
			max(e.reported_at)
		FROM (SELECT number, kind, bits, effective, reported_at, import, base_import, target FROM line_event WHERE %s) e
		LEFT JOIN LATERAL (SELECT kind, bits, effective FROM line_event
			WHERE e.target IS NOT NULL AND number = e.number AND seq = e.target LIMIT 1) t ON true
		GROUP BY e.number`, line.Restate, line.Void, line.Confirm, math.MinInt32, day, where), args...)
	if err != nil {
		return fmt.Errorf("verify: read the events of the correction: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n affected
		var from int64
		var reported time.Time
		if err := rows.Scan(&n.number, &from, &reported); err != nil {
			return fmt.Errorf("verify: read the events of the correction: %w", err)
		}
		n.from, n.to = line.Instant(max(from, math.MinInt32)), line.InstantOf(reported.Add(visibleWithin)) //nolint:gosec // an instant, or a day before one
		s.numbers = append(s.numbers, n)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("verify: read the events of the correction: %w", err)
	}
	slices.SortFunc(s.numbers, func(a, b affected) int { return cmp.Compare(a.number, b.number) })
	return nil
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
// were given by a version of its line. A baseline was not known where nothing was.
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
		return e.At.Before(s.known)
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
	later := hindsight.Events[len(known.Events):]
	for i := range later {
		if s.contains(&later[i]) {
			return true
		}
	}
	return false
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
