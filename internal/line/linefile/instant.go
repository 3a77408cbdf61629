package linefile

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// The years that a file may have, the same as in a call of the API. Nothing is
// older than mobile telephony, and stored rows can hold no later year.
const (
	firstYear = 1990
	lastYear  = 2087
)

// day is how many seconds a day has in UTC.
const day = 86400

// maxTimeLength is the length of the longest time: with nine digits of a second and
// an offset.
const maxTimeLength = 35

// earliest and latest are the first and last second of these years.
var (
	earliest = line.InstantOf(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC))
	latest   = line.InstantOf(time.Date(lastYear, 12, 31, 23, 59, 59, 0, time.UTC))
)

// monthDays is the number of days of a year before each month, and at the end those
// of the whole year.
var monthDays = [13]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// parseTime parses an RFC 3339 time, or a bare date, which means some time on that
// day: the instant is then its last second, and bare is true. The reason is empty if
// it succeeds.
func (c *calendar) parseTime(text []byte) (at line.Instant, bare bool, reason string) {
	if at, bare, ok := c.parseTimeFast(text); ok {
		return at, bare, ""
	}
	return c.parseTimeSlow(text)
}

// parseTimeFast parses 2006-01-02 and 2006-01-02T15:04:05Z in the years that a file
// may have. It returns false for everything else, which package time then parses; a
// test compares the two.
func (c *calendar) parseTimeFast(text []byte) (at line.Instant, bare, ok bool) {
	const date, second = len("2006-01-02"), len("2006-01-02T15:04:05Z")
	if len(text) != date && len(text) != second {
		return 0, false, false
	}
	y1, ok1 := twoDigits(text, 0)
	y2, ok2 := twoDigits(text, 2)
	m, ok3 := twoDigits(text, 5)
	d, ok4 := twoDigits(text, 8)
	y := y1*100 + y2
	if !ok1 || !ok2 || !ok3 || !ok4 || text[4] != '-' || text[7] != '-' ||
		y < firstYear || y > lastYear || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
		return 0, false, false
	}
	number := daysSince2020(y, m, d)
	if len(text) == date {
		at = c.end(number)
		return at, true, at != line.Never
	}
	hour, ok1 := twoDigits(text, 11)
	minute, ok2 := twoDigits(text, 14)
	sec, ok3 := twoDigits(text, 17)
	if !ok1 || !ok2 || !ok3 || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != 'Z' ||
		hour > 23 || minute > 59 || sec > 59 {
		return 0, false, false
	}
	return instant(int64(day*number + 3600*hour + 60*minute + sec)), false, true
}

// instant converts seconds since 2020-01-01.
func instant(seconds int64) line.Instant {
	return line.Instant(seconds) //nolint:gosec // the callers have checked the year
}

// twoDigits parses two digits.
func twoDigits(text []byte, at int) (n int, ok bool) {
	a, b := text[at]-'0', text[at+1]-'0'
	return 10*int(a) + int(b), a <= 9 && b <= 9
}

// daysSince2020 returns the days since 1 January 2020. Between 1990 and 2087
// every fourth year is a leap year.
func daysSince2020(y, m, d int) int {
	days := 365*(y-2020) + (y-1)/4 - 2019/4 + monthDays[m-1] + d - 1
	if m > 2 && y%4 == 0 {
		days++
	}
	return days
}

func daysIn(y, m int) int {
	if m == 2 && y%4 == 0 {
		return 29
	}
	return monthDays[m] - monthDays[m-1]
}

// parseTimeSlow parses what parseTimeFast does not: offsets, fractions of a second,
// which are dropped, and everything that is wrong.
func (c *calendar) parseTimeSlow(text []byte) (at line.Instant, bare bool, reason string) {
	if len(text) > maxTimeLength {
		return 0, false, BadFormat
	}
	bare = len(text) == len(time.DateOnly)
	layout := time.RFC3339
	if bare {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, string(text))
	switch {
	case err != nil || !bare && !isRFC3339(text):
		return 0, false, BadFormat
	case t.Year() < firstYear || t.Year() > lastYear:
		return 0, false, OutOfRange
	case !bare:
		return line.InstantOf(t), false, ""
	}
	if _, at = c.bounds(daysSince2020(t.Year(), int(t.Month()), t.Day())); at == line.Never {
		return 0, false, BadFormat // the zone skipped this day
	}
	return at, true, ""
}

// isRFC3339 reports whether a time that package time has parsed is strict RFC 3339.
// Package time also accepts an hour of one digit, a comma before the fraction
// and an offset of more than a day.
func isRFC3339(text []byte) bool {
	if text[13] != ':' || text[19] == ',' {
		return false
	}
	if text[len(text)-1] == 'Z' {
		return true
	}
	hour, ok1 := twoDigits(text, len(text)-len("07:00"))
	minute, ok2 := twoDigits(text, len(text)-len("00"))
	return ok1 && ok2 && hour < 24 && minute < 60
}
