package line

import (
	"math"
	"time"
)

// Instant is a time as rows store it: whole seconds since 2020-01-01, in four
// bytes. Its range is from 1952 to 2088.
type Instant int32

// Never stands for no time. It is before every other instant.
const Never Instant = math.MinInt32

// epoch is 2020-01-01T00:00:00Z. It is stored in every row; never change it.
const epoch = 1577836800

// InstantOf drops the fraction of a second. A time outside the range becomes the
// nearest one inside.
func InstantOf(t time.Time) Instant {
	return Instant(min(max(t.Unix()-epoch, math.MinInt32+1), math.MaxInt32)) //nolint:gosec // clamped
}

// Time returns the time, or the zero time for Never.
func (i Instant) Time() time.Time {
	if i == Never {
		return time.Time{}
	}
	return time.Unix(int64(i)+epoch, 0).UTC()
}

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant {
	if i == Never {
		return Never
	}
	return InstantOf(i.Time().Add(d))
}

// ParseInstant parses a time as suppliers write it: RFC 3339, or a bare date, which
// means some time on that day in a zone. day is true for a date, and the instant is
// then the day's last second. A date that the zone skipped is not one. Fractions of a
// second are dropped.
func ParseInstant(s string, zone *time.Location) (at Instant, day, ok bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse(time.DateOnly, s)
		day = true
	}
	if err != nil || t.Year() < 1990 || t.Year() > 2087 {
		return Never, false, false
	}
	if at = InstantOf(t); day {
		_, at = DayBounds(t, zone)
	}
	return at, day, at != Never
}

// Latest returns the latest time at which the event can have taken effect: of a bare
// date the last second of its day. Lateness is judged by it.
func (e *Event) Latest(zone *time.Location) Instant {
	if e.Day && e.Kind == End {
		return dayEnd(e.Effective, zone)
	}
	return e.Effective
}
