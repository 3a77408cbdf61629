package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/policy"
)

// Clock is the test clock of a key. It goes on with the time of day, and is
// ahead of it by as much as the caller has advanced it. The zero Clock is that
// of a key that has never touched it: day 0 is always today.
type Clock struct {
	Begun time.Time // day 0, to the second; zero when it was never set
	Ahead time.Duration
}

// Now returns what the test clock shows at a moment.
func (c Clock) Now(at time.Time) time.Time { return at.Add(c.Ahead) }

// Start returns when day 0 began.
func (c Clock) Start(at time.Time) time.Time {
	if c.Begun.IsZero() {
		return at.UTC().Truncate(time.Second)
	}
	return c.Begun
}

func (c Clock) present(at time.Time, p *policy.Policy) present {
	return present{begun: line.InstantOf(c.Start(at)), at: line.InstantOf(c.Now(at)), rules: p}
}

// today returns the day of the test clock.
func (p *present) today() int { return int(p.at.Time().Sub(p.begun.Time()) / day) }

// MaxAhead is how far a test clock can be advanced. Every life is over by then.
const MaxAhead = 10 * year

// ErrTooFar reports a test clock that would be advanced too far.
var ErrTooFar = fault.New(fault.OutOfRange, "A test clock can be at most 3,650 days ahead. Begin anew with reset.").With(fault.Violation{
	Field: "advance", Code: fault.NotAllowed, Message: "Advance the clock by less, or begin anew with reset.",
})

// stepForm is a duration of ISO 8601 without years and months, whose lengths
// vary.
var stepForm = regexp.MustCompile(`^P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$`)

// ParseStep reads by how much a clock is to be advanced: a duration of ISO 8601
// in weeks, days, hours, minutes and seconds, such as P30D or P1DT12H. It is
// false for other forms, and for nothing at all.
func ParseStep(text string) (step time.Duration, ok bool) {
	m := stepForm.FindStringSubmatch(text)
	if m == nil || text[len(text)-1] == 'T' {
		return 0, false
	}
	for i, unit := range []time.Duration{7 * day, day, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(m[i+1]) // nothing is 0
		step += time.Duration(n) * unit
	}
	return step, step > 0
}

// Clocks returns the test clocks of keys. A key that never touched its clock is
// missing, and the zero Clock is the right one for it.
func Clocks(ctx context.Context, from pg.DB, keys []uuid.UUID) (map[uuid.UUID]Clock, error) {
	rows, err := from.Query(ctx, `SELECT key_id, begun_at, ahead FROM rehearsal_clock WHERE key_id = ANY($1)`, keys)
	if err != nil {
		return nil, fmt.Errorf("rehearsal: read clocks: %w", err)
	}
	all := make(map[uuid.UUID]Clock, len(keys))
	var key uuid.UUID
	var begun time.Time
	var ahead int64
	_, err = pgx.ForEachRow(rows, []any{&key, &begun, &ahead}, func() error {
		all[key] = clockOf(begun, ahead)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("rehearsal: read clocks: %w", err)
	}
	return all, nil
}

func clockOf(begun time.Time, ahead int64) Clock {
	return Clock{Begun: begun.UTC(), Ahead: time.Duration(ahead) * time.Second}
}

// advance moves the test clock of a key forward. The first time day 0 is now.
// It is one statement, so that of two calls at once neither is lost.
func advance(ctx context.Context, to pg.DB, key uuid.UUID, step time.Duration, now time.Time) (Clock, error) {
	return set(ctx, to, `INSERT INTO rehearsal_clock AS c (key_id, begun_at, ahead, updated_at) VALUES ($1, date_trunc('second', $2::timestamptz), $3, $2)
		ON CONFLICT (key_id) DO UPDATE SET ahead = c.ahead + excluded.ahead, updated_at = excluded.updated_at WHERE c.ahead + excluded.ahead <= $4
		RETURNING begun_at, ahead`, key, step, now, int64(MaxAhead/time.Second))
}

// restart makes now day 0, and goes ahead from there.
func restart(ctx context.Context, to pg.DB, key uuid.UUID, step time.Duration, now time.Time) (Clock, error) {
	return set(ctx, to, `INSERT INTO rehearsal_clock (key_id, begun_at, ahead, updated_at) VALUES ($1, date_trunc('second', $2::timestamptz), $3, $2)
		ON CONFLICT (key_id) DO UPDATE SET begun_at = excluded.begun_at, ahead = excluded.ahead, updated_at = excluded.updated_at
		RETURNING begun_at, ahead`, key, step, now)
}

func set(ctx context.Context, to pg.DB, sql string, key uuid.UUID, step time.Duration, now time.Time, more ...any) (Clock, error) {
	if step > MaxAhead {
		return Clock{}, ErrTooFar
	}
	var begun time.Time
	var ahead int64
	err := to.QueryRow(ctx, sql, append([]any{key, now, int64(step / time.Second)}, more...)...).Scan(&begun, &ahead)
	if errors.Is(err, pgx.ErrNoRows) {
		return Clock{}, ErrTooFar
	}
	if err != nil {
		return Clock{}, fmt.Errorf("rehearsal: set a clock: %w", err)
	}
	return clockOf(begun, ahead), nil
}
