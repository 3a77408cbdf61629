package linefile

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests do not depend on the zones of the machine

	"github.com/lineproof/lineproof/internal/line"
)

func zone(tb testing.TB, name string) *time.Location {
	tb.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// A day begins with the first second that has its date on the clocks of the zone, and
// ends with the last one, as a walk over a hundred years finds them. The API reads the
// same, except for days next to a midnight that the clocks skip or repeat, where
// package time picks one of two hours.
func TestDaysOfZones(t *testing.T) {
	t.Parallel()
	for name, wantOdd := range map[string]bool{
		"Africa/Lagos": false, "Europe/Berlin": false,
		"Pacific/Apia":      true, // skipped 2011-12-30
		"America/Sao_Paulo": true, // skipped the first hour of a day in spring
		"Asia/Amman":        true, // did so, too, and repeated it in some autumns
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCalendar(zone(t, name))
			clocks := walk(c.zone, time.Hour, earliest.Time().AddDate(0, 0, -2), latest.Time().AddDate(0, 0, 2))
			odd := 0
			for at := earliest.Time(); !at.After(latest.Time()); at = at.AddDate(0, 0, 1) {
				checkDay(t, &c, at, clocks)
				if midnights(c.zone, at) != 1 || midnights(c.zone, at.AddDate(0, 0, 1)) != 1 {
					odd++
					continue
				}
				compareWithReference(t, &c, at.Format(time.DateOnly))
			}
			if (odd > 0) != wantOdd || odd > 200 {
				t.Errorf("%d days are not compared with the API", odd)
			}
		})
	}
}

// span is the first and the last second of a day.
type span struct{ first, last line.Instant }

// walk returns the days of a zone, by their midnight in UTC. The clocks of the zone
// must not change between two steps.
func walk(zone *time.Location, step time.Duration, from, to time.Time) map[int64]span {
	days := map[int64]span{}
	for at := from; at.Before(to); at = at.Add(step) {
		_, offset := at.In(zone).Zone()
		local := at.Unix() + int64(offset)
		s, ok := days[local-local%day]
		if !ok {
			s.first = line.InstantOf(at)
		}
		s.last = line.InstantOf(at.Add(step)) - 1
		days[local-local%day] = s
	}
	return days
}

// midnights returns how often the clocks of a zone show the midnight with which a date
// begins, which is passed as that midnight in UTC.
func midnights(zone *time.Location, date time.Time) int {
	shown := map[time.Time]bool{}
	for _, around := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := date.Add(around).In(zone).Zone()
		at := date.Add(-time.Duration(offset) * time.Second)
		if at.In(zone).Format(time.DateTime) == date.Format(time.DateTime) {
			shown[at] = true
		}
	}
	return len(shown)
}

func checkDay(t *testing.T, c *calendar, date time.Time, clocks map[int64]span) {
	t.Helper()
	text := date.AppendFormat(nil, time.DateOnly)
	end, bare, reason := c.parseTime(text)
	want, exists := clocks[date.Unix()]
	if !exists {
		if reason != BadFormat {
			t.Errorf("%s was skipped, and is read as %v", text, end.Time())
		}
		return
	}
	if reason != "" || !bare || end != want.last {
		t.Errorf("%s ends at %v %s, want %v", text, end.Time(), reason, want.last.Time())
	}
	for _, at := range []line.Instant{want.first, end} {
		if got := c.start(at); got != want.first {
			t.Errorf("the day of %v begins at %v, want %v", at.Time(), got.Time(), want.first.Time())
		}
	}
	if again, _, _ := c.parseTime(text); again != end {
		t.Errorf("%s ends at %v, and at %v when it is read again", text, end.Time(), again.Time())
	}
}

// In Newfoundland the clocks went back from one minute past midnight: for an hour it
// was yesterday again. That hour lies within both days.
func TestDayThatIsInterrupted(t *testing.T) {
	t.Parallel()
	c := newCalendar(zone(t, "America/St_Johns"))
	from := time.Date(2010, 11, 1, 0, 0, 0, 0, time.UTC)
	clocks := walk(c.zone, time.Minute, from, from.AddDate(0, 0, 14))
	saturday := from.AddDate(0, 0, 5)
	if clocks[saturday.Unix()].last <= clocks[saturday.Unix()+day].first {
		t.Fatal("the clocks did not go back at midnight")
	}
	for date := saturday.AddDate(0, 0, -1); date.Before(saturday.AddDate(0, 0, 3)); date = date.AddDate(0, 0, 1) {
		checkDay(t, &c, date, clocks)
	}
}

// The days on which the rule was decided, as the clocks of the place showed them.
func TestDaysInWords(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ zone, date, first, last string }{
		{"UTC", "2026-10-31", "2026-10-31T00:00:00Z", "2026-10-31T23:59:59Z"},
		{"Africa/Lagos", "2026-10-31", "2026-10-30T23:00:00Z", "2026-10-31T22:59:59Z"},
		{"Europe/Berlin", "2026-03-28", "2026-03-27T23:00:00Z", "2026-03-28T22:59:59Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z"}, // 23 hours
		{"Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00Z", "2026-03-30T21:59:59Z"},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z"}, // 25 hours
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T09:59:59Z"},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T09:59:59Z"},
		{"America/Sao_Paulo", "2018-11-03", "2018-11-03T03:00:00Z", "2018-11-04T02:59:59Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T01:59:59Z"}, // began at 01:00
		{"America/Sao_Paulo", "2019-02-16", "2019-02-16T02:00:00Z", "2019-02-17T02:59:59Z"}, // 25 hours
	} {
		c := newCalendar(zone(t, of.zone))
		at, bare, reason := c.parseTime([]byte(of.date))
		if got := at.Time().Format(time.RFC3339); got != of.last || !bare || reason != "" {
			t.Errorf("%s in %s ends at %s, bare %v %s, want %s", of.date, of.zone, got, bare, reason, of.last)
		}
		if got := c.start(at).Time().Format(time.RFC3339); got != of.first {
			t.Errorf("%s in %s begins at %s, want %s", of.date, of.zone, got, of.first)
		}
	}
	c := newCalendar(zone(t, "Pacific/Apia"))
	if at, _, reason := c.parseTime([]byte("2011-12-30")); reason != BadFormat {
		t.Errorf("the day that Samoa skipped is read as %v %s", at.Time(), reason)
	}
}
