package linefile

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

const (
	// calendarStart is 1990-01-01 in days since 2020-01-01, and calendarDays is how
	// many days there are from then to the end of 2087.
	calendarStart = -10957
	calendarDays  = 35794
)

// calendar finds the first and the last second of the days in a time zone, in the
// years that a file may have. Days are numbered from 2020-01-01 on.
type calendar struct {
	zone   *time.Location
	offset int // seconds east of UTC, if that never changes
	// ends is nil if the offset never changes. Otherwise it has the last second of
	// each day once it is needed, 0 before, and Never for a day that the zone skipped.
	// No day ends at 0, which is the first second of a minute.
	ends []line.Instant
}

func newCalendar(zone *time.Location) calendar {
	if zone == nil {
		zone = time.UTC
	}
	first := earliest.Add(-48 * time.Hour).Time().In(zone)
	_, offset := first.Zone()
	c := calendar{zone: zone, offset: offset}
	if _, change := first.ZoneBounds(); !change.IsZero() && change.Before(latest.Add(48*time.Hour).Time()) {
		c.ends = make([]line.Instant, calendarDays)
	}
	return c
}

// end returns the last second of a day, or Never if the zone skipped the day.
func (c *calendar) end(number int) line.Instant {
	if c.ends == nil {
		return instant(int64(day*number + day - 1 - c.offset))
	}
	end := &c.ends[number-calendarStart]
	if *end == 0 {
		_, *end = c.bounds(number)
	}
	return *end
}

// start returns the first second of the day on which an instant lies.
func (c *calendar) start(at line.Instant) line.Instant {
	if c.ends == nil {
		since := (int64(at) + int64(c.offset)) % day
		return at - instant((since+day)%day)
	}
	return line.DayStart(at, c.zone)
}

// bounds returns the first and the last second of a day, or Never twice if the zone
// skipped the day.
func (c *calendar) bounds(number int) (first, last line.Instant) {
	return line.DayBounds(time.Date(2020, 1, 1+number, 0, 0, 0, 0, time.UTC), c.zone)
}
