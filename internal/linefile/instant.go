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

// parseTime parses an RFC 3339 time, or a date, which means its midnight in UTC.
// The reason is empty if it succeeds.
func parseTime(text []byte) (at line.Instant, reason string) {
	if at, ok := parseTimeFast(text); ok {
		return at, ""
	}
	return parseTimeSlow(text)
}

// parseTimeFast parses 2006-01-02 and 2006-01-02T15:04:05Z in the years that a file
// may have. It returns false for everything else, which package time then parses; a
// test compares the two.
func parseTimeFast(text []byte) (at line.Instant, ok bool) {
	const day, second = len("2006-01-02"), len("2006-01-02T15:04:05Z")
	if len(text) != day && len(text) != second {
		return 0, false
	}
	y1, ok1 := twoDigits(text, 0)
	y2, ok2 := twoDigits(text, 2)
	m, ok3 := twoDigits(text, 5)
	d, ok4 := twoDigits(text, 8)
	y := y1*100 + y2
	if !ok1 || !ok2 || !ok3 || !ok4 || text[4] != '-' || text[7] != '-' ||
		y < firstYear || y > lastYear || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
		return 0, false
	}
	seconds := 86400 * daysSince2020(y, m, d)
	if len(text) == second {
		hour, ok1 := twoDigits(text, 11)
		minute, ok2 := twoDigits(text, 14)
		sec, ok3 := twoDigits(text, 17)
		if !ok1 || !ok2 || !ok3 || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != 'Z' ||
			hour > 23 || minute > 59 || sec > 59 {
			return 0, false
		}
		seconds += 3600*hour + 60*minute + sec
	}
	return line.Instant(seconds), true //nolint:gosec // the years are checked
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
func parseTimeSlow(text []byte) (at line.Instant, reason string) {
	if len(text) > maxTimeLength {
		return 0, BadFormat
	}
	layout := time.RFC3339
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, string(text))
	if err != nil || layout == time.RFC3339 && !isRFC3339(text) {
		return 0, BadFormat
	}
	if t.Year() < firstYear || t.Year() > lastYear {
		return 0, OutOfRange
	}
	return line.InstantOf(t), ""
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
