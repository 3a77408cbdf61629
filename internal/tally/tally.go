// Package tally counts what the journal holds, so that nobody has to scan it.
//
// What it promises:
//
//   - The counts of answers by entity, mode, status and minute, and by day, equal
//     what the journal holds, however late a record was committed and whenever a
//     count was broken off. What was committed in the last seconds may be missing
//     until the next count.
//   - Counting reads what is new, and never the whole of the journal.
//   - The records of one entity are found, newest first, by reading those seconds
//     of the journal that hold some of them. The journal itself has no index but
//     that of the time, so that nothing slows the writing of an answer.
//
// Minutes are kept for 35 days, days for good. Days are those of UTC. What was
// archived before it was counted is not counted.
//
// Beside it stands [Meter], which counts how requests ended and how long they
// took: a request that failed has no record that could be counted.
package tally

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/pg"
)

// Keep is for how long minutes are kept, and so how far back the records of an
// entity can be listed.
const Keep = 35 * 24 * time.Hour

// Tally counts the journal and reads the counts. Both fields are required.
type Tally struct {
	Pool *pgxpool.Pool
	Now  func() time.Time
}

// Day is how many answers there were on one day.
type Day struct {
	Day      time.Time // its midnight, UTC
	Total    int64
	ByStatus map[string]int64 // nil when there were none
}

// Days returns the counts of every day from that of one moment to that of
// another, both included, oldest first; days without answers are there, too.
// The entity uuid.Nil and the mode "" stand for all.
func (t *Tally) Days(ctx context.Context, entity uuid.UUID, mode string, from, to time.Time) ([]Day, error) {
	first, last := dayOf(from), dayOf(to)
	days := make([]Day, 0, max(0, int(last.Sub(first)/(24*time.Hour))+1))
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		days = append(days, Day{Day: day})
	}
	// Two statements in place of one that is right for both: each has its index.
	sql := `SELECT day::timestamptz, status, sum(n)::bigint FROM journal_day
		WHERE day >= $1::timestamptz::date AND day <= $2::timestamptz::date AND ($3 = '' OR mode = $3)`
	args := []any{first, last, mode}
	if entity != uuid.Nil {
		sql, args = sql+` AND entity_id = $4`, append(args, entity)
	}
	var at time.Time
	var status string
	var n int64
	err := each(ctx, t.Pool, []any{&at, &status, &n}, func() {
		d := &days[int(at.UTC().Sub(first)/(24*time.Hour))]
		if d.ByStatus == nil {
			d.ByStatus = make(map[string]int64)
		}
		d.ByStatus[status] = n
		d.Total += n
	}, sql+` GROUP BY day, status`, args...)
	if err != nil {
		return nil, err
	}
	return days, nil
}

// Minute is how many answers there were in one minute.
type Minute struct {
	Minute time.Time
	N      int64
}

// Minutes returns the minutes of a stretch of time in which an entity got
// answers, newest first. The mode "" and the status "" stand for all.
func (t *Tally) Minutes(ctx context.Context, entity uuid.UUID, mode, status string, from, to time.Time) ([]Minute, error) {
	var list []Minute
	var m Minute
	err := each(ctx, t.Pool, []any{&m.Minute, &m.N}, func() { list = append(list, Minute{m.Minute.UTC(), m.N}) },
		`SELECT minute, sum(n)::bigint FROM journal_minute
		WHERE entity_id = $1 AND minute >= $2 AND minute < $3 AND ($4 = '' OR mode = $4) AND ($5 = '' OR status = $5)
		GROUP BY minute ORDER BY minute DESC`, entity, from, to, mode, status)
	return list, err
}

// Seen returns by when a record must have been committed to be counted: the
// zero time when nothing was ever counted.
func (t *Tally) Seen(ctx context.Context) (time.Time, error) {
	var seen time.Time
	err := each(ctx, t.Pool, []any{&seen}, func() {}, `SELECT seen FROM tally_mark`)
	return seen.UTC(), err
}

// dayOf returns the day on which a moment lies.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// each calls fn for every row of a query, scanned into those variables.
func each(ctx context.Context, from pg.DB, into []any, fn func(), sql string, args ...any) error {
	rows, err := from.Query(ctx, sql, args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, into, func() error {
			fn()
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("tally: read: %w", err)
	}
	return nil
}
