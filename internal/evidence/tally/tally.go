// Package tally counts the records of the journal, so that no query has to scan it.
//
// What it guarantees:
//
//   - The counts of answers by entity, mode, status and minute, and by day, equal
//     those of the journal, however late a record was committed and whenever a
//     count was interrupted. What was committed in the last seconds may be missing
//     until the next count.
//   - Counting reads only what is new, never the whole journal.
//   - The records of one entity are found, newest first, by reading only those
//     seconds of the journal that contain some of them. The journal itself has no
//     index but that on the time, so that nothing slows the writing of an answer.
//
// Minutes are kept for 35 days, days forever. Days are in UTC. Records that were
// archived before they were counted are not counted.
//
// [Meter] counts how requests ended and how long they took: a failed request has
// no record in the journal that could be counted.
package tally

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Retention is how long minutes are kept, and so how far back the records of an entity
// can be listed.
const Retention = 35 * 24 * time.Hour

// Tally counts the journal and reads the counts. Pool and Now are required.
type Tally struct {
	Pool *pgxpool.Pool
	// Read, if set, is a database that is only read, such as a standby, in which records
	// are searched. Its newest records can be a little older.
	Read *pgxpool.Pool
	Now  func() time.Time
}

// Day is the number of answers on one day.
type Day struct {
	Day      time.Time // its midnight, UTC
	Total    int64
	ByStatus map[string]int64 // nil if there were none
}

// Days returns the counts of every day from the day of from to the day of to,
// inclusive, oldest first; days without answers are included. The entity uuid.Nil
// and the mode "" mean all.
func (t *Tally) Days(ctx context.Context, entity uuid.UUID, mode string, from, to time.Time) ([]Day, error) {
	first, last := dayOf(from), dayOf(to)
	days := make([]Day, 0, max(0, int(last.Sub(first)/(24*time.Hour))+1))
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		days = append(days, Day{Day: day})
	}
	var at time.Time
	var status string
	var n int64
	err := forEachRow(ctx, t.Pool, []any{&at, &status, &n}, func() {
		d := &days[int(at.UTC().Sub(first)/(24*time.Hour))]
		if d.ByStatus == nil {
			d.ByStatus = make(map[string]int64)
		}
		d.ByStatus[status] = n
		d.Total += n
	}, `SELECT day::timestamptz, status, sum(n)::bigint FROM journal_day
		WHERE entity_id = $1 AND day >= $2::timestamptz::date AND day <= $3::timestamptz::date AND ($4 = '' OR mode = $4) GROUP BY day, status`, entity, first, last, mode)
	if err != nil {
		return nil, err
	}
	return days, nil
}

// Minute is the number of answers in one minute.
type Minute struct {
	Minute time.Time
	N      int64
}

// Minutes returns the minutes between from and to in which an entity got answers,
// newest first. The mode "" and the status "" mean all.
func (t *Tally) Minutes(ctx context.Context, entity uuid.UUID, mode, status string, from, to time.Time) ([]Minute, error) {
	var list []Minute
	var m Minute
	err := forEachRow(ctx, t.Pool, []any{&m.Minute, &m.N}, func() { list = append(list, Minute{m.Minute.UTC(), m.N}) },
		`SELECT minute, sum(n)::bigint FROM journal_minute
		WHERE entity_id = $1 AND minute >= $2 AND minute < $3 AND ($4 = '' OR mode = $4) AND ($5 = '' OR status = $5)
		GROUP BY minute ORDER BY minute DESC`, entity, from, to, mode, status)
	return list, err
}

// CountedUntil returns the time of the last count: records committed before it are counted.
// It is zero if nothing was ever counted.
func (t *Tally) CountedUntil(ctx context.Context) (time.Time, error) {
	var seen time.Time
	err := forEachRow(ctx, t.Pool, []any{&seen}, func() {}, `SELECT seen FROM tally_mark`)
	return seen.UTC(), err
}

// onReader returns the tally of the database in which records are searched. Counts and
// records then come from the same database.
func (t *Tally) onReader() *Tally { return &Tally{Pool: cmp.Or(t.Read, t.Pool), Now: t.Now} }

// dayOf returns the start of the day of t.
func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// forEachRow calls fn for every row of a query after scanning it into the variables.
func forEachRow(ctx context.Context, from pg.DB, into []any, fn func(), sql string, args ...any) error {
	err := pg.ForEach(ctx, from, into, func() error {
		fn()
		return nil
	}, sql, args...)
	return fault.Wrap(err, "tally: read")
}
