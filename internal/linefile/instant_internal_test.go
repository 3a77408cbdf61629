package linefile

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// Every day that a file may have is parsed and written as package time does it, at
// its first and last second.
func TestEveryDay(t *testing.T) {
	t.Parallel()
	for at := earliest.Time(); !at.After(latest.Time()); at = at.AddDate(0, 0, 1) {
		evening := at.Add(24*time.Hour - time.Second)
		for form, want := range map[string]time.Time{at.Format(time.DateOnly): at, at.Format(time.RFC3339): at, evening.Format(time.RFC3339): evening} {
			if got, ok := parseTimeFast([]byte(form)); !ok || got != line.InstantOf(want) {
				t.Fatalf("%s is read as %v, %v", form, got.Time(), ok)
			}
		}
		if got := string(appendTime(nil, line.InstantOf(evening), false)); got != evening.Format(time.RFC3339) {
			t.Fatalf("%v is written as %s", evening, got)
		}
		if got := string(appendTime(nil, line.InstantOf(at), true)); got != at.Format(time.DateOnly) {
			t.Fatalf("%v is written as %s", at, got)
		}
	}
}

// parseTimeFast and package time agree about every text, and the API accepts the
// same times as a file.
func FuzzReadTime(f *testing.F) {
	for _, s := range []string{
		"2020-02-29", "2020-02-30", "2021-02-29", "1990-01-01", "1989-12-31", "2087-12-31", "2088-01-01", "2020-01-31T10:20:30Z", "2020-01-31T24:00:00Z",
		"2020-01-31T10:20:30+01:00", "2020-01-31T10:20:30.5Z", "2020-01-31T1:20:30Z", "2020-01-31T10:20:30,5Z", "2020-01-31T10:20:30+24:00", "", "2020-1-1", "1989-12-31T23:30:00-01:00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		slow, reason := parseTimeSlow(text)
		if quick, ok := parseTimeFast(text); ok && (quick != slow || reason != "") {
			t.Errorf("%q: %v by parseTimeFast, %v %s by parseTimeSlow", text, quick.Time(), slow.Time(), reason)
		}
		at, reason := parseTime(text)
		if parsed, ok := line.ParseInstant(string(text)); reason == "" && (!ok || parsed != at) {
			t.Errorf("%q: %v in a file, %v, %v in the API", text, at.Time(), parsed.Time(), ok)
		}
		if reason == "" && (at < earliest-2*day || at > latest+2*day) {
			t.Errorf("%q is read as %v", text, at.Time())
		}
	})
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
				if reason.Reason == BadFormat && (column == "" || column == colState || column == colType) || reason.Reason == NotAllowed && column != colState && column != colType {
					continue // does not occur
				}
				if m := w.message(k); !strings.HasSuffix(m, ".") {
					t.Errorf("%s of %q in %s: %q", reason.Reason, column, k, m)
				}
			}
		}
	}
}
