package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The marks between which the page is ours.
const (
	beginMark = "<!-- bench:begin -->"
	endMark   = "<!-- bench:end -->"
	chartName = "bench.svg"
)

var errMarks = errors.New("bench: the page must have the lines " + beginMark + " and " + endMark + ", once each and in this order")

// between replaces what stands between the marks.
func between(page, text string) (string, error) {
	before, rest, found := strings.Cut(page, beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed || strings.Contains(before, endMark) || strings.Contains(after, beginMark) || strings.Contains(after, endMark) {
		return "", errMarks
	}
	return before + beginMark + "\n" + strings.TrimSpace(text) + "\n" + endMark + after, nil
}

// checkPage finds out before a long run whether its result can be written.
func checkPage(path string) error {
	_, err := replaced(path, "")
	return err
}

// replaced returns the page at path with text between its marks.
func replaced(path, text string) (string, error) {
	page, err := os.ReadFile(path) //nolint:gosec // the page that the user names
	if err != nil {
		return "", fmt.Errorf("bench: read the page: %w", err)
	}
	return between(string(page), text)
}

// writePage writes the report into a page, and its chart beside it.
func (r *report) writePage(path string) error {
	text, err := replaced(path, r.markdown())
	if err != nil {
		return err
	}
	if len(r.Variants) > 0 {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), chartName), []byte(r.chart()), 0o644); err != nil { //nolint:gosec // a page for everybody
			return fmt.Errorf("bench: write the chart: %w", err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // a page for everybody
		return fmt.Errorf("bench: write the page: %w", err)
	}
	return nil
}

// circumstances says where and how the figures were made.
func (r *report) circumstances() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s; the generator on the same cores. %s lines, brought into memory; synchronous_commit and fsync on.",
		r.When.Format("2006-01-02"), r.Machine, grouped(float64(r.Lines)))
	if len(r.Variants) > 0 {
		fmt.Fprintf(&b, " %d rounds of %d s for each variant, in another order each time.", r.Rounds, r.Seconds)
		busiest := 0.0
		for i := range r.Variants {
			busiest = max(busiest, r.Variants[i].Other.High)
		}
		fmt.Fprintf(&b, " Other work on the machine, interrupts included: at most %s of it in a round; load before the run: %s.", percent(busiest), r.Machine.Load)
	}
	if len(r.Settings) > 0 {
		fmt.Fprintf(&b, " Settings of the server: %s.", strings.Join(r.Settings, ", "))
	}
	if len(r.PostgreSQL) > 0 {
		fmt.Fprintf(&b, " Settings of PostgreSQL: %s.", strings.Join(r.PostgreSQL, ", "))
	}
	fmt.Fprintf(&b, " Verify gave %s answers, and the journal has %s records of them.", grouped(float64(r.Answers)), grouped(float64(r.Records)))
	return b.String()
}

// quietMachine is the share of other work above which a reader is warned.
const quietMachine = 0.15

// oddities says what a reader must know about the figures.
func (r *report) oddities() []string {
	var all []string
	found := slices.Concat(r.Variants, r.GrowCallers, r.GrowLines)
	busiest := 0.0
	for i := range found {
		busiest = max(busiest, found[i].Other.Median)
	}
	if busiest > quietMachine {
		all = append(all, fmt.Sprintf("The machine was not quiet: in the median round, other work took up to %s of it. "+
			"Requests/s and times are worse than they would be alone; CPU for each request is less affected.", percent(busiest)))
	}
	for i := range found {
		if f := &found[i]; f.Refused+f.Failed > 0 {
			all = append(all, fmt.Sprintf("%s with %d at a time: %d refused, %d failed; they are not among the requests/s.", f.Variant, f.Clients, f.Refused, f.Failed))
		}
	}
	return all
}

func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString(r.circumstances() + "\n\n")
	if len(r.Variants) > 0 {
		b.WriteString("![Requests a second and CPU for each request, by variant](" + chartName + ")\n\n")
	}
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	for _, s := range r.oddities() {
		b.WriteString("- " + s + "\n")
	}
	return b.String()
}

func (r *report) text() string {
	var b strings.Builder
	b.WriteString(r.circumstances() + "\n\n")
	for _, t := range r.tables() {
		t.text(&b)
	}
	for _, s := range r.oddities() {
		b.WriteString(s + "\n")
	}
	return b.String()
}
