package linefile

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// The years that a file may speak of, as a call of the API may. Nothing is older
// than mobile telephony, and the rows hold no later year.
const (
	firstYear = 1990
	lastYear  = 2087
)

// longestTime is more than any time needs: nine digits of a second and an offset.
const longestTime = 35

// earliest and latest are the first and the last second of these years.
var (
	earliest = line.InstantOf(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC))
	latest   = line.InstantOf(time.Date(lastYear, 12, 31, 23, 59, 59, 0, time.UTC))
)

// monthDays counts the days of a year that lie before each month, and those of
// the whole year at the end.
var monthDays = [13]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// readTime reads a time of RFC 3339, or a date, which means its midnight in UTC.
// The reason is empty when it could.
func readTime(text []byte) (at line.Instant, reason string) {
	if at, ok := quickTime(text); ok {
		return at, ""
	}
	return slowTime(text)
}

// quickTime reads 2006-01-02 and 2006-01-02T15:04:05Z in the years that a file
// may speak of. It is false for everything else, which is then left to package
// time; a test holds the two to the same answer.
func quickTime(text []byte) (at line.Instant, ok bool) {
	const day, second = len("2006-01-02"), len("2006-01-02T15:04:05Z")
	if len(text) != day && len(text) != second {
		return 0, false
	}
	y1, ok1 := pair(text, 0)
	y2, ok2 := pair(text, 2)
	m, ok3 := pair(text, 5)
	d, ok4 := pair(text, 8)
	y := y1*100 + y2
	if !ok1 || !ok2 || !ok3 || !ok4 || text[4] != '-' || text[7] != '-' ||
		y < firstYear || y > lastYear || m < 1 || m > 12 || d < 1 || d > daysOf(y, m) {
		return 0, false
	}
	seconds := 86400 * daysSince2020(y, m, d)
	if len(text) == second {
		hour, ok1 := pair(text, 11)
		minute, ok2 := pair(text, 14)
		sec, ok3 := pair(text, 17)
		if !ok1 || !ok2 || !ok3 || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != 'Z' ||
			hour > 23 || minute > 59 || sec > 59 {
			return 0, false
		}
		seconds += 3600*hour + 60*minute + sec
	}
	return line.Instant(seconds), true //nolint:gosec // the years are checked
}

// pair reads two digits.
func pair(text []byte, at int) (n int, ok bool) {
	a, b := text[at]-'0', text[at+1]-'0'
	return 10*int(a) + int(b), a <= 9 && b <= 9
}

// daysSince2020 counts the days from the first of 2020. Between 1990 and 2087
// every fourth year is a leap year.
func daysSince2020(y, m, d int) int {
	days := 365*(y-2020) + (y-1)/4 - 2019/4 + monthDays[m-1] + d - 1
	if m > 2 && y%4 == 0 {
		days++
	}
	return days
}

func daysOf(y, m int) int {
	if m == 2 && y%4 == 0 {
		return 29
	}
	return monthDays[m] - monthDays[m-1]
}

// slowTime reads what quickTime does not: offsets, fractions of a second, which
// are dropped, and everything that is wrong.
func slowTime(text []byte) (at line.Instant, reason string) {
	if len(text) > longestTime {
		return 0, BadFormat
	}
	layout := time.RFC3339
	if len(text) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	t, err := time.Parse(layout, string(text))
	if err != nil || layout == time.RFC3339 && !strict(text) {
		return 0, BadFormat
	}
	if t.Year() < firstYear || t.Year() > lastYear {
		return 0, OutOfRange
	}
	return line.InstantOf(t), ""
}

// strict reports whether a time that package time could read has the form of RFC
// 3339. Package time also takes an hour of one digit, a comma before the fraction
// and an offset of more than a day.
func strict(text []byte) bool {
	if text[13] != ':' || text[19] == ',' {
		return false
	}
	if text[len(text)-1] == 'Z' {
		return true
	}
	hour, ok1 := pair(text, len(text)-len("07:00"))
	minute, ok2 := pair(text, len(text)-len("00"))
	return ok1 && ok2 && hour < 24 && minute < 60
}
