package web

import (
	"net/url"
	"regexp"
	"time"
)

// rfc3339 is the form of a time in RFC 3339. Package time accepts more than that.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// formLayouts are the forms of a time without an offset: as browsers send a
// datetime-local field, and as people type it.
var formLayouts = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"}

// ParseDate reads a date, for example 2026-01-31, as its midnight in UTC.
func ParseDate(text string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, text)
	return day, err == nil
}

// ParseTime reads a time as the API takes it: in RFC 3339, without its fraction
// of a second, or a date, which means its midnight in UTC.
func ParseTime(text string) (time.Time, bool) {
	if day, ok := ParseDate(text); ok {
		return day, true
	}
	at, ok := parseRFC3339(text)
	return at.Truncate(time.Second), ok
}

// ParseFormTime reads a time as the portal's forms take it: everything that
// ParseTime reads, and a time without an offset, which is in UTC.
func ParseFormTime(text string) (time.Time, bool) {
	for _, layout := range formLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return ParseTime(text)
}

func parseRFC3339(text string) (time.Time, bool) {
	if !rfc3339.MatchString(text) {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err == nil
}

// DateRange reads the first and the last day of a search, both optional. Until
// is the midnight after the last day, so that the day is included. Wrong lists
// the fields that are not dates.
func DateRange(q url.Values, from, to string) (since, until time.Time, wrong []string) {
	for _, day := range []struct {
		field string
		into  *time.Time
		add   int
	}{{from, &since, 0}, {to, &until, 1}} {
		text := q.Get(day.field)
		if text == "" {
			continue
		}
		at, ok := ParseDate(text)
		if !ok {
			wrong = append(wrong, day.field)
			continue
		}
		*day.into = at.AddDate(0, 0, day.add)
	}
	return since, until, wrong
}
