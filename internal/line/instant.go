package line

import (
	"math"
	"strings"
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
	return Instant(min(max(t.Unix()-epoch, math.MinInt32+1), math.MaxInt32))
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

// HasFraction reports whether a time of RFC 3339 is written with a fraction of a second other than 0. Lines are known to the
// second: who asks since such a time means the changes of that second, too.
func HasFraction(s string) bool {
	_, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimLeft(fraction, "0")
	return fraction != "" && fraction[0] >= '1' && fraction[0] <= '9'
}

// Latest returns the latest time at which the event can have taken effect: of a bare
// date the last second of its day. Lateness is judged by it.
func (e *Event) Latest(zone *time.Location) Instant {
	if e.Day && e.Kind == End {
		_, last := DayBounds(e.Effective.Time().In(zone), zone)
		return last
	}
	return e.Effective
}

// DayBounds returns the first and the last second of a date in a zone, of which only
// year, month and day are used. Both are Never if the zone skipped the date.
//
// It does not use [time.Date], which is off by an hour on days whose midnight the
// clocks skip or repeat.
func DayBounds(date time.Time, zone *time.Location) (first, last Instant) {
	const day = 24 * 60 * 60
	y, m, d := date.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	first, last = Never, Never
	// The day in this zone lies between a day before and two days after midnight in
	// UTC. Each pass looks at the part of it that has the same offset.
	for from, stop := midnight-day, midnight+2*day; from < stop; {
		t := time.Unix(from, 0).In(zone)
		_, offset := t.Zone()
		to := stop
		if _, change := t.ZoneBounds(); !change.IsZero() {
			to = min(stop, change.Unix())
		}
		if to <= from {
			to = from + 3600 // on 31 December of a leap year ZoneBounds returns that day's start
		}
		begin, end := max(from, midnight-int64(offset)), min(to, midnight+day-int64(offset))
		if begin < end {
			if first == Never {
				first = InstantOf(time.Unix(begin, 0))
			}
			last = InstantOf(time.Unix(end-1, 0))
		}
		from = to
	}
	return first, last
}

// DayStart returns the first second of the day that an instant lies on: an end that
// was reported as a bare date is ordered there.
func DayStart(i Instant, zone *time.Location) Instant {
	first, _ := DayBounds(i.Time().In(zone), zone)
	return first
}
