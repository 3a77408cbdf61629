package linefile

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// Every day that a file may have is parsed and written as package time does it, at
// its first and last second. A bare date is its last second.
func TestEveryDay(t *testing.T) {
	t.Parallel()
	c := newCalendar(nil)
	for at := earliest.Time(); !at.After(latest.Time()); at = at.AddDate(0, 0, 1) {
		evening := at.Add(24*time.Hour - time.Second)
		for form, want := range map[string]time.Time{at.Format(time.DateOnly): evening, at.Format(time.RFC3339): at, evening.Format(time.RFC3339): evening} {
			if got, bare, ok := c.parseTimeFast([]byte(form)); !ok || got != line.InstantOf(want) || bare != (len(form) == len(time.DateOnly)) {
				t.Fatalf("%s is read as %v, bare %v, %v", form, got.Time(), bare, ok)
			}
		}
		if got := string(appendTime(nil, line.InstantOf(evening), false)); got != evening.Format(time.RFC3339) {
			t.Fatalf("%v is written as %s", evening, got)
		}
		if got := string(appendTime(nil, line.InstantOf(evening), true)); got != at.Format(time.DateOnly) {
			t.Fatalf("the date of %v is written as %s", evening, got)
		}
	}
}

// fuzzZones are zones whose clocks never skip or repeat a midnight since 1990, so that
// package time finds it.
var fuzzZones = []string{"UTC", "Africa/Lagos", "Europe/Berlin", "Asia/Kolkata", "Pacific/Auckland", "America/New_York"}

// parseTimeFast and package time agree about every text, and the API accepts the
// same times as a file.
func FuzzReadTime(f *testing.F) {
	for i, s := range []string{
		"2020-02-29", "2020-02-30", "2021-02-29", "1990-01-01", "1989-12-31", "2087-12-31", "2088-01-01", "2020-01-31T10:20:30Z", "2020-01-31T24:00:00Z",
		"2020-01-31T10:20:30+01:00", "2020-01-31T10:20:30.5Z", "2020-01-31T1:20:30Z", "2020-01-31T10:20:30,5Z", "2020-01-31T10:20:30+24:00", "", "2020-1-1", "1989-12-31T23:30:00-01:00",
		"2026-03-28", "2026-03-29", "2026-10-24", "2026-10-25",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(i))
	}
	var calendars []calendar
	for _, name := range fuzzZones {
		calendars = append(calendars, newCalendar(zone(f, name)))
	}
	f.Fuzz(func(t *testing.T, text []byte, of uint8) {
		c := &calendars[int(of)%len(calendars)]
		compareWithReference(t, c, string(text))
	})
}

// compareWithReference checks that parseTimeFast, parseTimeSlow and the API read the
// same from a text. The API also accepts some times that are not strict RFC 3339.
func compareWithReference(t interface {
	Helper()
	Errorf(format string, args ...any)
}, c *calendar, text string,
) {
	t.Helper()
	slow, slowBare, reason := c.parseTimeSlow([]byte(text))
	if fast, bare, ok := c.parseTimeFast([]byte(text)); ok && (fast != slow || bare != slowBare || reason != "") {
		t.Errorf("%q in %v: %v by parseTimeFast, %v %s by parseTimeSlow", text, c.zone, fast.Time(), slow.Time(), reason)
	}
	at, bare, reason := c.parseTime([]byte(text))
	want, wantBare, ok := line.ParseInstant(text, c.zone)
	if reason == "" && (!ok || want != at || wantBare != bare) || wantBare && ok && reason != "" {
		t.Errorf("%q in %v: %v %s in a file, %v, %v in the API", text, c.zone, at.Time(), reason, want.Time(), ok)
	}
	if reason == "" && (at < earliest-2*day || at > latest+2*day) {
		t.Errorf("%q is read as %v", text, at.Time())
	}
}

// The same for dates and times at random, in every form in which they can be written.
func TestRandomTimes(t *testing.T) {
	t.Parallel()
	var calendars []calendar
	for _, name := range fuzzZones {
		calendars = append(calendars, newCalendar(zone(t, name)))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		c := &calendars[random.IntN(len(calendars))]
		at := time.Unix(earliest.Time().Unix()-400*day+random.Int64N(int64(latest)-int64(earliest)+800*day), random.Int64N(1e9))
		for _, form := range []string{time.DateOnly, time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05Z"} {
			compareWithReference(t, c, at.In(c.zone).Format(form))
		}
	}
}

// A line is split as encoding/csv splits it.
func FuzzCut(f *testing.F) {
	for _, s := range []string{"a,b,c", `"a","b"`, `"a""b",c`, `"a,b"`, `"a`, `a"`, `a"b`, `"a"b`, `""`, `"",`, `,""`, `""""`, `"" ,a`, ` "a"`, ",,,", `"é",ü`, "a\x00b"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) == 0 || len(text) > maxLine || bytes.ContainsAny(text, "\r\n") {
			t.Skip("no line")
		}
		r := Reader{header: header{width: maxLine}, unquoted: make([]byte, 0, maxLine)}
		w := r.splitCells(text)
		c := csv.NewReader(bytes.NewReader(text))
		c.FieldsPerRecord = -1
		want, err := c.Read()
		if (err != nil) != (w.reason != "") {
			t.Fatalf("%q: %v, package csv says %v", text, w, err)
		}
		var got []string
		for _, cell := range r.cells {
			got = append(got, string(cell))
		}
		if err == nil && !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, encoding/csv makes %q", text, got, want)
		}
	})
}

// The figures of every state add up to a thousand, and every state has some.
func TestChangesAddUpToAThousand(t *testing.T) {
	t.Parallel()
	for s := line.StateActive; s <= line.StateBarred; s++ {
		sum := int64(0)
		for _, c := range changesByState[s] {
			sum += c.perMille
		}
		if sum != 1000 {
			t.Errorf("%s: %d of 1000", s, sum)
		}
	}
}

// Every reason has a message for every column that can have it, and a row in the
// documentation.
func TestEveryReasonHasAMessage(t *testing.T) {
	t.Parallel()
	for _, reason := range Reasons() {
		if reason.Meaning == "" {
			t.Errorf("%s has no meaning", reason.Reason)
		}
		for _, k := range []Kind{Snapshot, Events} {
			for _, column := range append(slices.Clone(columnsOf(k)), "") {
				w := problem{column, reason.Reason}
				words := []string{colState, colType, colFirstHolder}
				if reason.Reason == BadFormat && (column == "" || slices.Contains(words, column)) ||
					reason.Reason == NotAllowed && !slices.Contains(append(words, colChurnAt), column) {
					continue // does not occur
				}
				if m := w.message(k); !strings.HasSuffix(m, ".") {
					t.Errorf("%s of %q in %s: %q", reason.Reason, column, k, m)
				}
			}
		}
	}
}
