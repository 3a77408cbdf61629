package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The marks between which the page is generated.
const (
	beginMark = "<!-- bench:begin -->"
	endMark   = "<!-- bench:end -->"
)

var errMarks = errors.New("bench: the page must have the lines " + beginMark + " and " + endMark + ", once each and in this order")

// replaceBetweenMarks replaces the text between the marks.
func replaceBetweenMarks(page, text string) (string, error) {
	before, rest, found := strings.Cut(page, beginMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed || strings.Contains(before, endMark) || strings.Contains(after, beginMark) || strings.Contains(after, endMark) {
		return "", errMarks
	}
	return before + beginMark + "\n" + strings.TrimSpace(text) + "\n" + endMark + after, nil
}

// checkPage checks before a long run that its result can be written.
func checkPage(path string) error {
	_, err := pageWith(path, "")
	return err
}

// pageWith returns the page at path with text between its marks.
func pageWith(path, text string) (string, error) {
	page, err := os.ReadFile(path) //nolint:gosec // the page that the user names
	if err != nil {
		return "", fmt.Errorf("bench: read the page: %w", err)
	}
	return replaceBetweenMarks(string(page), text)
}

// writePage writes the report into a page.
func (r *report) writePage(path string) error {
	text, err := pageWith(path, r.markdown())
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // a page for everybody
		return fmt.Errorf("bench: write the page: %w", err)
	}
	return nil
}

// conditions describes where and how the figures were measured.
func (r *report) conditions() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; %s; the generator on the same cores. %s lines, loaded into memory; synchronous_commit and fsync on.",
		r.When.Format("2006-01-02"), r.Machine, grouped(float64(r.Lines)))
	if len(r.Variants) > 0 {
		fmt.Fprintf(&b, " %d rounds of %d s per variant, in a different order each time.", r.Rounds, r.Seconds)
		busiest := 0.0
		for i := range r.Variants {
			busiest = max(busiest, r.Variants[i].Other.High)
		}
		fmt.Fprintf(&b, " Other work on the machine, including interrupts: at most %s of it in a round; load before the run: %s.", percent(busiest), r.Machine.Load)
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

// maxOtherWork is the share of other work above which the report has a warning.
const maxOtherWork = 0.15

// warnings are notes on the reliability of the figures.
func (r *report) warnings() []string {
	var all []string
	found := slices.Concat(r.Variants, r.GrowCallers, r.GrowLines)
	busiest := 0.0
	for i := range found {
		busiest = max(busiest, found[i].Other.Median)
	}
	if busiest > maxOtherWork {
		all = append(all, fmt.Sprintf("The machine was busy: in the median round, other work took up to %s of it. "+
			"Requests/s and latencies are worse than on an idle machine; CPU per request is less affected.", percent(busiest)))
	}
	for i := range found {
		if f := &found[i]; f.Refused+f.Failed > 0 {
			all = append(all, fmt.Sprintf("%s with %d callers: %d refused, %d failed; they are not counted in requests/s.", f.Variant, f.Clients, f.Refused, f.Failed))
		}
	}
	return all
}

func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString(r.conditions() + "\n\n")
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	for _, s := range r.warnings() {
		b.WriteString("- " + s + "\n")
	}
	return b.String()
}

func (r *report) text() string {
	var b strings.Builder
	b.WriteString(r.conditions() + "\n\n")
	for _, t := range r.tables() {
		t.text(&b)
	}
	for _, s := range r.warnings() {
		b.WriteString(s + "\n")
	}
	return b.String()
}
