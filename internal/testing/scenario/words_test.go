package scenario_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Units for offsets from a day.
const (
	sec  = time.Second
	hour = time.Hour
)

// day0 is noon (UTC) of the day from which scenarios count. The policy's time zone is
// Africa/Lagos, one hour ahead of UTC in every season.
var (
	day0  = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	lagos = time.FixedZone("Lagos", 3600)
)

// when is a time of a scenario, or a bare date.
type when struct {
	at    time.Time
	bare  bool   // a date without a time
	words string // how the page writes it, if not as an offset from day 0
}

// d is noon of a day, counted from day 0.
func d(n int) when { return when{at: day0.AddDate(0, 0, n)} }

func (w when) plus(by time.Duration) when  { return when{at: w.at.Add(by)} }
func (w when) minus(by time.Duration) when { return when{at: w.at.Add(-by)} }

// date is the bare date of a day.
func date(n int) when { return when{at: clock(n, "00:00:00").at, bare: true} }

// year is the bare date of the first of January of a year.
func year(y int) when {
	return when{at: time.Date(y, 1, 1, 0, 0, 0, 0, lagos), bare: true, words: fmt.Sprint(y, "-01-01")}
}

// clock is a time of a day in Lagos.
func clock(n int, hms string) when {
	t, err := time.Parse(time.TimeOnly, hms)
	if err != nil {
		panic(err)
	}
	y, m, day := day0.AddDate(0, 0, n).Date()
	return when{
		at:    time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, lagos),
		words: fmt.Sprintf("day %s at %s in Lagos", signed(n), hms),
	}
}

// utc is a time that is written out.
func utc(text string) when {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return when{at: t, words: text}
}

// String writes a time for the page.
func (w when) String() string {
	switch {
	case w.words != "":
		return w.words
	case w.bare:
		return "the date of day " + signed(dayNumber(w.at.Add(13*time.Hour)))
	}
	n := dayNumber(w.at)
	text := "day " + signed(n)
	switch rest := w.at.Sub(d(n).at); {
	case rest == 0:
	case rest >= 23*time.Hour: // a moment before the next day
		text = fmt.Sprintf("day %s − %s", signed(n+1), span(24*time.Hour-rest))
	default:
		text += " + " + span(rest)
	}
	return text
}

// signed writes a number with the sign that does not break a line.
func signed(n int) string { return strings.ReplaceAll(strconv.Itoa(n), "-", "−") }

func dayNumber(t time.Time) int {
	n := int(t.Sub(day0) / (24 * time.Hour))
	if t.Before(d(n).at) {
		n--
	}
	return n
}

// span writes a duration of less than a day.
func span(of time.Duration) string {
	var parts []string
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := of / u.unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			of %= u.unit
		}
	}
	return strings.Join(parts, " ")
}

// written is the time as a supplier writes it.
func (w when) written() string {
	if w.bare {
		return w.at.In(lagos).Format(time.DateOnly)
	}
	return w.at.Format(time.RFC3339)
}
