package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// table is a table with a caption and a header. The first column is text, the
// others are figures.
type table struct {
	caption string
	head    []string
	rows    [][]string
}

// text writes the table for a terminal.
func (t *table) text(b *strings.Builder) {
	wide := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	b.WriteString(t.caption + "\n\n")
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			gap := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString("  " + cell + gap)
			} else {
				b.WriteString("  " + gap + cell)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// markdown writes the table for a page.
func (t *table) markdown(b *strings.Builder) {
	b.WriteString(t.caption + "\n\n| " + strings.Join(t.head, " | ") + " |\n| ---" + strings.Repeat(" | ---:", len(t.head)-1) + " |\n")
	for _, row := range t.rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n")
}

// spread formats the median and, if there were several rounds, the range.
func spread(s summary, rounds int) string {
	if rounds < 2 {
		return grouped(s.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", grouped(s.Median), grouped(s.Low), grouped(s.High))
}

func us(s summary) string { return formatDuration(time.Duration(s.Median * float64(time.Microsecond))) }

// cost formats CPU; "-" for a process that the variant does not have.
func cost(s summary) string {
	if s.High == 0 {
		return "-"
	}
	return grouped(s.Median)
}

var figureHead = []string{"requests/s, median (lowest to highest)", "p50", "p99", "service CPU µs", "PostgreSQL CPU µs", "generator CPU µs", "other work"}

func (f *figures) cells() []string {
	return []string{
		spread(f.Rate, f.Rounds), us(f.P50), us(f.P99), cost(f.ServiceCPU), cost(f.PostgresCPU), cost(f.GeneratorCPU), percent(f.Other.Median),
	}
}

// tables returns all tables of the report.
func (r *report) tables() []table {
	var all []table
	if len(r.Variants) > 0 {
		t := table{caption: "Variants, measured in turn on the same lines:", head: append([]string{"variant", "callers"}, figureHead...)}
		for i := range r.Variants {
			f := &r.Variants[i]
			at := slices.IndexFunc(variants, func(v variant) bool { return v.name == f.Variant })
			t.rows = append(t.rows, append([]string{variants[at].title, grouped(float64(f.Clients))}, f.cells()...))
		}
		all = append(all, t)
	}
	if len(r.Ratios) > 0 {
		t := table{caption: "Ratios, computed per round:", head: []string{"ratio", "goal", "median (lowest to highest)", "met"}}
		for _, x := range r.Ratios {
			bound, met := "at most "+grouped(x.Goal), "no"
			if x.AtLeast {
				bound = "at least " + grouped(x.Goal)
			}
			if x.Met {
				met = "yes"
			}
			if x.Goal == 0 {
				bound, met = "-", "-"
			}
			t.rows = append(t.rows, []string{x.Name, bound, spread(x.Value, r.Rounds), met})
		}
		all = append(all, t)
	}
	all = append(all, growth("Verify by number of callers:", "callers", r.GrowCallers, func(f *figures) float64 { return float64(f.Clients) })...)
	all = append(all, growth("Verify by number of lines:", "lines", r.GrowLines, func(f *figures) float64 { return float64(f.Lines) })...)
	return append(all, r.openTable()...)
}

func growth(caption, by string, found []figures, of func(*figures) float64) []table {
	if len(found) == 0 {
		return nil
	}
	t := table{caption: caption, head: append([]string{by}, figureHead...)}
	for i := range found {
		t.rows = append(t.rows, append([]string{grouped(of(&found[i]))}, found[i].cells()...))
	}
	return []table{t}
}

func (r *report) openTable() []table {
	found := slices.Clone(r.Search)
	if r.Open != nil {
		found = append([]openResult{*r.Open}, found...)
	}
	if len(found) == 0 {
		return nil
	}
	t := table{
		caption: "Constant rates (open loop; latency is measured from the time a request was due):",
		head: []string{
			"due/s", "duration", "answered/s", "p50", "p90", "p99", "p99.9", "longest", "refused", "failed", "send delay, p99",
			"service CPU µs", "PostgreSQL CPU µs", "sustained with p99 under 50 ms",
		},
	}
	for _, o := range found {
		sustained, l := "no", o.Tally.Latencies
		if o.Sustained {
			sustained = "yes"
		}
		t.rows = append(t.rows, []string{
			grouped(o.Rate), o.For.String(), grouped(float64(o.Tally.Answered) / o.Tally.Window.Seconds()), formatDuration(l.P50), formatDuration(l.P90), formatDuration(l.P99),
			formatDuration(l.P999), formatDuration(l.Longest), grouped(float64(o.Tally.Refused)), grouped(float64(o.Tally.Failed)), formatDuration(o.Tally.SentLate.P99),
			grouped(o.Cost.ServiceCPU), grouped(o.Cost.PostgresCPU), sustained,
		})
	}
	return []table{t}
}
