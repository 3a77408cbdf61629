package web_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/web"
)

// The API takes a date or a time of RFC 3339 and nothing that merely looks like
// one, and reads it in one way.
func TestTimesAreReadStrictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-01-31": "2026-01-31T00:00:00Z", "2026-01-31T08:00:00Z": "2026-01-31T08:00:00Z", "2026-01-31T08:00:00+01:00": "2026-01-31T07:00:00Z",
		"2026-01-31T08:00:00.999Z": "2026-01-31T08:00:00Z", "1969-12-31T23:59:59.5Z": "1969-12-31T23:59:59Z", "0001-01-01": "0001-01-01T00:00:00Z",
	} {
		if got, ok := web.ParseTime(text); !ok || got.Format("2006-01-02T15:04:05.999999Z07:00") != want {
			t.Errorf("%s was read as %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", " ", "2026", "2026-1-31", "2026-02-30", "31.01.2026", "2026-01-31 08:00:00Z", "2026-01-31T08:00:00", "2026-01-31T8:00:00Z", "2026-01-31T24:00:00Z",
		"2026-01-31T08:00:00,5Z", "2026-01-31T08:00:00+24:00", "2026-01-31T08:00Z", " 2026-01-31", "2026-01-31\n", "1769846400", "now", "２０２６-01-31", "+002026-01-31",
	} {
		if got, ok := web.ParseTime(text); ok {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

// The portal's forms also take a time without an offset, which is in UTC.
func TestFormTimesNeedNoOffset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-01-31T08:00": "2026-01-31T08:00:00Z", "2026-01-31T08:00:09": "2026-01-31T08:00:09Z", "2026-01-31 08:00": "2026-01-31T08:00:00Z",
		"2026-01-31": "2026-01-31T00:00:00Z", "2026-01-31T08:00:00+01:00": "2026-01-31T07:00:00Z",
	} {
		if got, ok := web.ParseFormTime(text); !ok || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s was read as %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "08:00", "31.01.2026", "2026-02-30T08:00", "tomorrow"} {
		if got, ok := web.ParseFormTime(text); ok {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

// A range of dates includes its last day, and names the fields that are wrong.
func TestDateRangeIncludesItsLastDay(t *testing.T) {
	t.Parallel()
	since, until, wrong := web.DateRange(url.Values{"from": {"2026-01-30"}, "to": {"2026-01-31"}}, "from", "to")
	if since.Format(time.DateOnly) != "2026-01-30" || until.Format(time.DateOnly) != "2026-02-01" || wrong != nil {
		t.Errorf("from %s to %s, wrong %v", since, until, wrong)
	}
	since, until, wrong = web.DateRange(url.Values{"from": {"30.1."}, "to": {"x"}}, "from", "to")
	if !since.IsZero() || !until.IsZero() || !slices.Equal(wrong, []string{"from", "to"}) {
		t.Errorf("from %s to %s, wrong %v", since, until, wrong)
	}
	if since, until, wrong = web.DateRange(nil, "from", "to"); !since.IsZero() || !until.IsZero() || wrong != nil {
		t.Errorf("from %s to %s, wrong %v", since, until, wrong)
	}
}
