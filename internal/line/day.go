package line

import "time"

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

// dayEnd returns the last second of the day that an instant lies on.
func dayEnd(i Instant, zone *time.Location) Instant {
	_, last := DayBounds(i.Time().In(zone), zone)
	return last
}
