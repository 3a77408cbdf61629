package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sampleReport has every part that a report can have.
func sampleReport() *report {
	m := func(variant string, clients int, rate, service, postgres float64) measurement {
		return measurement{
			Variant: variant, Clients: clients, Lines: 1000, Rate: rate, ServiceCPU: service, PostgresCPU: postgres, GeneratorCPU: 9,
			Latencies: latencies{P50: time.Millisecond, P99: 3 * time.Millisecond},
		}
	}
	rounds := map[string][]measurement{}
	for _, one := range []measurement{
		m(variantBare, 256, 40_000, 20, 0), m(variantVerify, 256, 20_000, 35, 12), m(variantUnbatched, 256, 6_000, 110, 120),
		m(variantOneRow, 16, 9_000, 0, 95), m(variantOneRowMany, 256, 7_000, 0, 130), m(variantBatch, 4, 85_000, 0, 13),
	} {
		rounds[one.Variant] = []measurement{one, one}
	}
	r := newReport(&options{lines: 1000, callers: 256, rounds: 2, seconds: 8})
	r.Machine.PostgreSQL = `15 <"&'>`
	r.addRounds(rounds)
	r.GrowCallers, r.GrowLines = r.Variants[1:2], r.Variants[1:2]
	r.Open = &openResult{Rate: 1000, For: time.Minute, Tally: tally{Due: 60_000, Answered: 60_000, Window: time.Minute}, Sustained: true}
	return r
}

// Only the text between the marks is replaced, and a page without them, or with
// more than one pair, is refused.
func TestPageIsReplacedBetweenTheMarks(t *testing.T) {
	t.Parallel()

	got, err := replaceBetweenMarks("before\n"+beginMark+"\nold\n"+endMark+"\nafter\n", "\nnew\n\n")
	want := "before\n" + beginMark + "\nnew\n" + endMark + "\nafter\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if again, err := replaceBetweenMarks(got, "new"); err != nil || again != want {
		t.Errorf("a second time: %q, %v, want %q", again, err, want)
	}
	for _, page := range []string{
		"", "no marks", beginMark, endMark, endMark + beginMark, beginMark + beginMark + endMark + endMark, beginMark + endMark + endMark,
		endMark + beginMark + endMark,
	} {
		if got, err := replaceBetweenMarks(page, "new"); err == nil {
			t.Errorf("%q became %q", page, got)
		}
	}
}

// The page gets the tables, and keeps what stands around its marks.
func TestPageGetsTables(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("# Title\n\n"+beginMark+"\n"+endMark+"\n\nthe end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sampleReport().writePage(path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Title\n", "| verify | 256 | 20,000", "at least 2.7", "Verify by number of lines", "the end\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	// Every row has as many cells as the header.
	for _, table := range sampleReport().tables() {
		for _, row := range table.rows {
			if len(row) != len(table.head) {
				t.Errorf("%s: a row of %d cells under %d", table.caption, len(row), len(table.head))
			}
		}
	}
}

// Figures are formatted for people.
func TestFiguresAreReadable(t *testing.T) {
	t.Parallel()

	for n, want := range map[float64]string{
		0: "0", 0.2: "0.2", 2.5: "2.5", 1.005: "1", 9.999: "10", 12.34: "12.3", 50: "50", 99.96: "100", 123.4: "123", 1000: "1,000", 1234567: "1,234,567", -1500: "-1,500",
	} {
		if got := grouped(n); got != want {
			t.Errorf("%v is written %q, want %q", n, got, want)
		}
	}
	for us, want := range map[int]string{0: "0 µs", 850: "850 µs", 1230: "1.23 ms", 12_340: "12.3 ms", 2_000_000: "2 s"} {
		if got := formatDuration(time.Duration(us) * time.Microsecond); got != want {
			t.Errorf("%d µs are written %q, want %q", us, got, want)
		}
	}
}
