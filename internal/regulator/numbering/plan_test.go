package numbering_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// digits is the length of the numbers in these tests. It is short, so that all numbers
// that begin with 234 can be counted.
const digits = 6

func date(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

// row returns a row with these columns and the code as the name.
func row(prefix, network, allocated, withdrawn string) numbering.Row {
	r := numbering.Row{Prefix: prefix, Network: network, Name: network, Allocated: date(allocated)}
	if withdrawn != "" {
		r.Withdrawn = date(withdrawn)
	}
	return r
}

func number(t rapid.TB, digits string) phone.Number {
	t.Helper()
	i, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	n, ok := phone.FromInt(i)
	if !ok {
		t.Fatalf("%d digits are not a number", len(digits))
	}
	return n
}

// firstDay is the first of the ten days on which ranges change in these tests.
var firstDay = date("2020-01-01")

var days = rapid.Custom(func(t *rapid.T) time.Time {
	return firstDay.AddDate(0, 0, rapid.IntRange(0, 9).Draw(t, "day"))
})

var names = map[string]string{"MTN": "MTN", "GLO": `Glo, "the" Globe`, "T2": "T2 Zwölf"}

// someRows draws rows that often overlap: few prefixes, few days.
var someRows = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) numbering.Row {
	r := numbering.Row{
		Prefix:  "234" + rapid.StringOfN(rapid.RuneFrom([]rune("12")), 0, 3, -1).Draw(t, "prefix"),
		Network: rapid.SampledFrom([]string{"GLO", "MTN", "T2"}).Draw(t, "network"), Allocated: days.Draw(t, "allocated"),
	}
	r.Name = names[r.Network]
	if rapid.Bool().Draw(t, "withdrawn") {
		r.Withdrawn = r.Allocated.AddDate(0, 0, rapid.IntRange(1, 5).Draw(t, "after"))
	}
	return r
}), 1, 12)

// held reports, in the simplest way, whether a row is allocated at a time.
func held(r numbering.Row, at time.Time) bool {
	return !r.Allocated.After(at) && (r.Withdrawn.IsZero() || r.Withdrawn.After(at))
}

// overlapping compares every row with every other on every day.
func overlapping(rows []numbering.Row) bool {
	for i, a := range rows {
		for _, b := range rows[:i] {
			for day := range 20 {
				at := firstDay.AddDate(0, 0, day)
				if a.Prefix == b.Prefix && held(a, at) && held(b, at) {
					return true
				}
			}
		}
	}
	return false
}

// compatible draws rows of which no two overlap.
var compatible = someRows.Filter(func(rows []numbering.Row) bool { return !overlapping(rows) })

// A plan is refused exactly when a prefix would be allocated twice on some day.
func TestOverlapsAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := someRows.Draw(t, "rows")
		_, err := numbering.New(rows, digits)
		if refused := err != nil; refused != overlapping(rows) {
			t.Fatalf("overlapping %v, but New: %v", overlapping(rows), err)
		}
	})
}

// The range of a number is the longest prefix that is allocated at the time, whatever
// the length of the number.
func TestLongestAllocatedPrefixWins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := compatible.Draw(t, "rows")
		plan, err := numbering.New(rows, digits)
		if err != nil {
			t.Fatal(err)
		}
		text := rapid.SampledFrom([]string{"234", "23", "5"}).Draw(t, "country") + rapid.StringOfN(rapid.RuneFrom([]rune("123")), 5, 12, -1).Draw(t, "rest")
		at := days.Draw(t, "at").Add(rapid.SampledFrom([]time.Duration{0, 1, 24*time.Hour - 1}).Draw(t, "time"))
		var want numbering.Row
		for _, r := range rows {
			if strings.HasPrefix(text, r.Prefix) && held(r, at) && len(r.Prefix) > len(want.Prefix) {
				want = r
			}
		}
		got, ok := plan.RangeOf(number(t, text), at)
		if ok != (want.Prefix != "") || got.Prefix != want.Prefix || plan.Code(got.Network) != want.Network ||
			!got.Allocated.Equal(want.Allocated) || !got.Withdrawn.Equal(want.Withdrawn) {
			t.Fatalf("got %+v, %v; want %+v", got, ok, want)
		}
	})
}

// The capacity of a network is the count of numbers whose range is its own.
func TestCapacityCountsTheAllocatedNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		plan, err := numbering.New(compatible.Draw(t, "rows"), digits)
		if err != nil {
			t.Fatal(err)
		}
		at, want := days.Draw(t, "at"), map[numbering.Network]int64{}
		for n := range 1000 {
			if r, ok := plan.RangeOf(number(t, fmt.Sprintf("234%03d", n)), at); ok {
				want[r.Network]++
			}
		}
		for _, network := range plan.Networks() {
			if got := plan.Capacity(network, at); got != want[network] {
				t.Fatalf("%s has a capacity of %d numbers, want %d", plan.Code(network), got, want[network])
			}
		}
	})
}

// A plan that is written to a file and read back is the same.
func TestPlanSurvivesWritingAndReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		plan, err := numbering.New(compatible.Draw(t, "rows"), digits)
		if err != nil {
			t.Fatal(err)
		}
		var file, again bytes.Buffer
		if err := plan.WriteCSV(&file); err != nil {
			t.Fatal(err)
		}
		rows, err := numbering.ReadCSV(strings.NewReader(file.String()))
		if err != nil {
			t.Fatal(err)
		}
		read, err := numbering.New(rows, digits)
		if err != nil {
			t.Fatal(err)
		}
		if err := read.WriteCSV(&again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(file.String(), again.String()); diff != "" {
			t.Fatal(diff)
		}
		if len(rows) != len(plan.Ranges()) {
			t.Fatalf("%d rows of %d ranges", len(rows), len(plan.Ranges()))
		}
		for _, r := range rows {
			if n, ok := plan.Network(r.Network); !ok || plan.Name(n) != r.Name {
				t.Fatalf("the name of %s is %q in the file and %q in the plan", r.Network, r.Name, plan.Name(n))
			}
		}
	})
}

// A range that moved from one network to another belongs to each in its time, and to
// none in the gap between.
func TestMovedRangeBelongsToOneNetworkAtATime(t *testing.T) {
	t.Parallel()
	plan, err := numbering.New([]numbering.Row{
		row("234804", "MTEL", "2001-08-01", "2010-01-01"), row("234804", "NTEL", "2015-01-01", ""),
	}, 13)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"2001-07-31T23:59:59Z": "", "2001-08-01T00:00:00Z": "MTEL", "2009-12-31T23:59:59Z": "MTEL",
		"2010-01-01T00:00:00Z": "", "2015-01-01T00:00:00Z": "NTEL", "2015-01-01T00:30:00+01:00": "",
	} {
		moment, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := plan.RangeOf(number(t, "2348041234567"), moment); plan.Code(r.Network) != want {
			t.Errorf("at %s the network is %q, want %q", at, plan.Code(r.Network), want)
		}
	}
}

// A plan finds its own networks by code, and no others.
func TestNetworksOfAPlan(t *testing.T) {
	t.Parallel()
	plan, err := numbering.New([]numbering.Row{row("1", "B", "2001-08-01", ""), row("2", "A", "2001-08-01", "")}, 11)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]numbering.Network{1, 2}, plan.Networks()); diff != "" {
		t.Error(diff)
	}
	b, ok := plan.Network("B")
	if !ok || plan.Code(b) != "B" || plan.Empty() {
		t.Errorf("network B is %d, %v, and the plan is empty: %v", b, ok, plan.Empty())
	}
	if n, ok := plan.Network("C"); ok || plan.Name(7) != "" || plan.Code(7) != "" {
		t.Errorf("there is a network C, %d, or one with the id 7", n)
	}
}

// A prefix must not be longer than the numbers of the plan.
func TestPrefixIsNoLongerThanANumber(t *testing.T) {
	t.Parallel()
	_, err := numbering.New([]numbering.Row{row("23480312345678", "MTN", "2001-08-01", "")}, 13)
	if fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("New: %v", err)
	}
}

// Holder is called once for every row of a national file, so it must not allocate.
func TestHolderAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process
	plan, n := nigeria(t), number(t, "2348031234567")
	at := date("2026-01-01")
	if got := testing.AllocsPerRun(100, func() { plan.RangeOf(n, at) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkHolder(b *testing.B) {
	plan, at := nigeria(b), date("2026-01-01")
	held, free := number(b, "2348031234567"), number(b, "2347091234567")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := plan.RangeOf(held, at); !ok {
			b.Fatal("a number of MTN has no range")
		}
		if _, ok := plan.RangeOf(free, at); ok {
			b.Fatal("an unallocated number has a range")
		}
	}
}
