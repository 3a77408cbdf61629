package sandbox

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Clock is the test clock of a key. It runs with real time, ahead of it by as
// much as the caller has advanced it. The zero Clock belongs to a key that has
// never advanced or reset its clock: its day 0 is always now.
type Clock struct {
	Start time.Time // day 0, in whole seconds; zero when the clock was never set
	Ahead time.Duration
}

// Now returns the time of the test clock at a real time.
func (c Clock) Now(at time.Time) time.Time { return at.Add(c.Ahead) }

// DayZero returns the time at which day 0 started.
func (c Clock) DayZero(at time.Time) time.Time {
	if c.Start.IsZero() {
		return at.UTC().Truncate(time.Second)
	}
	return c.Start
}

func (c Clock) moment(at time.Time, p *policy.Policy) moment {
	return moment{start: line.InstantOf(c.DayZero(at)), at: line.InstantOf(c.Now(at)), policy: p}
}

// MaxAhead is how far a test clock can be advanced. Every scenario has ended by
// then.
const MaxAhead = 10 * year

// ErrTooFar reports a test clock that would be advanced too far.
var ErrTooFar = fault.New(fault.OutOfRange, "A test clock can be at most 3,650 days ahead. Start over with reset.").With(fault.Violation{
	Field: "advance", Code: fault.NotAllowed, Message: "Advance the clock by less, or start over with reset.",
})

// durationForm is an ISO 8601 duration without years and months, whose lengths
// vary.
var durationForm = regexp.MustCompile(`^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$`)

// ParseDuration parses by how much a clock is to be advanced: an ISO 8601 duration in
// weeks, days, hours, minutes and seconds, such as P30D or P1DT12H. It is false
// for other forms and for a duration of zero.
func ParseDuration(text string) (by time.Duration, ok bool) {
	m := durationForm.FindStringSubmatch(text)
	if m == nil || text[len(text)-1] == 'T' {
		return 0, false
	}
	for i, unit := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(m[i+1]) // an absent part is 0
		by += time.Duration(n) * unit
	}
	return by, by > 0
}

// Clocks returns the test clocks of keys. A key that has never set its clock is
// not in the map; the zero Clock is right for it.
func Clocks(ctx context.Context, from pg.DB, keys []uuid.UUID) (map[uuid.UUID]Clock, error) {
	rows, err := from.Query(ctx, `SELECT key_id, begun_at, ahead FROM rehearsal_clock WHERE key_id = ANY($1)`, keys)
	if err != nil {
		return nil, fmt.Errorf("sandbox: read clocks: %w", err)
	}
	all := make(map[uuid.UUID]Clock, len(keys))
	var key uuid.UUID
	var start time.Time
	var ahead int64
	_, err = pgx.ForEachRow(rows, []any{&key, &start, &ahead}, func() error {
		all[key] = clockOf(start, ahead)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sandbox: read clocks: %w", err)
	}
	return all, nil
}

func clockOf(start time.Time, ahead int64) Clock {
	return Clock{Start: start.UTC(), Ahead: time.Duration(ahead) * time.Second}
}

// advanceClock moves the test clock of a key forward. A clock that was never set
// starts at day 0 now. It is one statement, so that of two concurrent calls
// neither is lost.
func advanceClock(ctx context.Context, to pg.DB, key uuid.UUID, by time.Duration, now time.Time) (Clock, error) {
	return saveClock(ctx, to, `INSERT INTO rehearsal_clock AS c (key_id, begun_at, ahead, updated_at) VALUES ($1, date_trunc('second', $2::timestamptz), $3, $2)
		ON CONFLICT (key_id) DO UPDATE SET ahead = c.ahead + excluded.ahead, updated_at = excluded.updated_at WHERE c.ahead + excluded.ahead <= $4
		RETURNING begun_at, ahead`, key, by, now, int64(MaxAhead/time.Second))
}

// resetClock makes now day 0 and advances the clock from there.
func resetClock(ctx context.Context, to pg.DB, key uuid.UUID, by time.Duration, now time.Time) (Clock, error) {
	return saveClock(ctx, to, `INSERT INTO rehearsal_clock (key_id, begun_at, ahead, updated_at) VALUES ($1, date_trunc('second', $2::timestamptz), $3, $2)
		ON CONFLICT (key_id) DO UPDATE SET begun_at = excluded.begun_at, ahead = excluded.ahead, updated_at = excluded.updated_at
		RETURNING begun_at, ahead`, key, by, now)
}

func saveClock(ctx context.Context, to pg.DB, sql string, key uuid.UUID, by time.Duration, now time.Time, more ...any) (Clock, error) {
	if by > MaxAhead {
		return Clock{}, ErrTooFar
	}
	var start time.Time
	var ahead int64
	err := to.QueryRow(ctx, sql, append([]any{key, now, int64(by / time.Second)}, more...)...).Scan(&start, &ahead)
	if errors.Is(err, pgx.ErrNoRows) {
		return Clock{}, ErrTooFar
	}
	if err != nil {
		return Clock{}, fmt.Errorf("sandbox: save a clock: %w", err)
	}
	return clockOf(start, ahead), nil
}
