package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// table is rows of cells under a heading. The first column is text, the others
// are figures.
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

// spread shows the median and, when there were several rounds, how far they lie
// apart.
func spread(s summary, rounds int) string {
	if rounds < 2 {
		return grouped(s.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", grouped(s.Median), grouped(s.Low), grouped(s.High))
}

func us(s summary) string { return brief(time.Duration(s.Median * float64(time.Microsecond))) }

// cost shows CPU; a process that does not exist has none.
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

// tables returns everything that the report has to show.
func (r *report) tables() []table {
	var all []table
	if len(r.Variants) > 0 {
		t := table{caption: "What each does, in turn on the same lines:", head: append([]string{"variant", "at a time"}, figureHead...)}
		for i := range r.Variants {
			f := &r.Variants[i]
			at := slices.IndexFunc(variants, func(v variant) bool { return v.name == f.Variant })
			t.rows = append(t.rows, append([]string{variants[at].title, grouped(float64(f.Clients))}, f.cells()...))
		}
		all = append(all, t)
	}
	if len(r.Ratios) > 0 {
		t := table{caption: "Side by side, round by round:", head: []string{"ratio", "goal", "median (lowest to highest)", "reached"}}
		for _, x := range r.Ratios {
			bound, reached := "at most ", "no"
			if x.AtLeast {
				bound = "at least "
			}
			if x.Met {
				reached = "yes"
			}
			t.rows = append(t.rows, []string{x.Name, bound + grouped(x.Goal), spread(x.Value, r.Rounds), reached})
		}
		all = append(all, t)
	}
	all = append(all, growth("Growth of verify with callers:", "callers", r.GrowCallers, func(f *figures) float64 { return float64(f.Clients) })...)
	all = append(all, growth("Growth of verify with lines:", "lines", r.GrowLines, func(f *figures) float64 { return float64(f.Lines) })...)
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
		caption: "Steady rates (open loop; times count from when a question was due):",
		head: []string{
			"asked/s", "for", "answered/s", "p50", "p90", "p99", "p99.9", "longest", "refused", "no answer", "sent late, p99",
			"service CPU µs", "PostgreSQL CPU µs", "held with p99 under 50 ms",
		},
	}
	for _, o := range found {
		held, l := "no", o.Tally.Latencies
		if o.Held {
			held = "yes"
		}
		t.rows = append(t.rows, []string{
			grouped(o.Rate), o.For.String(), grouped(float64(o.Tally.Answered) / o.Tally.Window.Seconds()), brief(l.P50), brief(l.P90), brief(l.P99),
			brief(l.P999), brief(l.Longest), grouped(float64(o.Tally.Refused)), grouped(float64(o.Tally.Failed)), brief(o.Tally.SentLate.P99),
			grouped(o.Cost.ServiceCPU), grouped(o.Cost.PostgresCPU), held,
		})
	}
	return []table{t}
}
