package whoasked_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
)

// The report has every live answer about the number in the period, from the database and
// from archives, grouped, and nothing else.
func TestReportIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	harbour, credit := w.organisation("Harbour Bank", "RC 100001"), w.organisation("Credit Union", "RC 100002")
	days := []time.Time{w.day(91), w.day(90), w.day(60), w.day(40), w.clock.Truncate(24 * time.Hour)}
	months := make(map[string]int)
	for i, day := range days {
		var batch []record.Entry
		for k := range 200 {
			batch = append(batch, entry(day.Add(time.Duration(k)*time.Second), harbour, number+1+int64(k)))
		}
		test, swapped, agent, last := entry(day, harbour, number), entry(day.Add(time.Hour), credit, number), entry(day, credit, number), entry(day.Add(time.Millisecond), harbour, number)
		test.Mode, swapped.Status = "test", "SWAPPED"
		agent.OnBehalfOf, agent.Extra, agent.Status, agent.Reason, agent.MobileNetwork = "RC 7", `{"changedSince":"yes"}`, "UNKNOWN", "STALE", "GLO"
		if i < len(days)-1 {
			last.At = day.AddDate(0, 0, 1).Add(-time.Millisecond) // the last moment of a day belongs to it
			last.RequestID = record.NewRequestID(last.At)
		}
		batch[17] = entry(day, harbour, number)
		w.append(append(batch, test, swapped, agent, last)...)
		if i > 0 { // the first day is before the period
			months[day.Format("2006-01")]++
		}
	}
	for _, day := range days[:3] {
		w.archive(day)
	}
	r, err := w.run(w.confirmed())
	if err != nil {
		t.Fatal(err)
	}
	want := []whoasked.Row{}
	for _, group := range []whoasked.Row{
		{Organisation: "Credit Union", Status: "SWAPPED", Network: "MTN", Answers: 1},
		{Organisation: "Credit Union", OnBehalfOf: "RC 7", Status: "UNKNOWN", Reason: "STALE", Network: "GLO", Answers: 1},
		{Organisation: "Harbour Bank", Status: "NORMAL", Network: "MTN", Answers: 2},
	} {
		for month := days[1].AddDate(0, 0, 1-days[1].Day()); !month.After(w.clock); month = month.AddDate(0, 1, 0) {
			if n := months[month.Format("2006-01")]; n > 0 {
				group.Purpose, group.Month = "account-opening", month.Format("2006-01")
				row := group
				row.Answers *= n
				want = append(want, row)
			}
		}
	}
	if diff := cmp.Diff(want, r.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if r.Answers != 16 || r.WithDetails != 4 || r.Erased != 0 {
		t.Errorf("%d answers, %d with details, %d erased", r.Answers, r.WithDetails, r.Erased)
	}
}

func sample() *whoasked.Report {
	return &whoasked.Report{
		Approval: uuid.MustParse("0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40"), Number: "+2348031234567", First: "2026-08-18", Last: "2026-11-15", MadeAt: time.Date(2026, 11, 16, 9, 30, 0, 0, time.UTC),
		Answers: 7, WithDetails: 2, Erased: 3, Rows: []whoasked.Row{
			{Organisation: "=HYPERLINK(\"x\")", Purpose: "payment", PurposeText: "<script>alert(1)</script>", Month: "2026-09", Status: "NORMAL", Network: "MTN", Answers: 4},
			{Organisation: "Harbour Bank", Purpose: "account-opening", OnBehalfOf: "@RC 7", Month: "2026-10", Status: "UNKNOWN", Reason: "STALE", Network: "GLO", Answers: 3},
		},
	}
}

// The CSV has a row for each row of the report, and no cell is a formula.
func TestCSVHasNoFormula(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	if err := sample().WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"organisation", "purpose", "purpose_text", "on_behalf_of", "month", "status", "reason", "network", "answers"},
		{"'=HYPERLINK(\"x\")", "payment", "<script>alert(1)</script>", "", "2026-09", "NORMAL", "", "MTN", "4"},
		{"Harbour Bank", "account-opening", "", "'@RC 7", "2026-10", "UNKNOWN", "STALE", "GLO", "3"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The page says everything that the person must know, runs nothing and loads nothing.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := sample().WriteHTML(&page, whoasked.Letter{From: "NCC", Contact: "Data protection officer, dpo@regulator.example"}); err != nil {
		t.Fatal(err)
	}
	if file := os.Getenv("LINEPROOF_E2E_PAGE"); file != "" { // to look at it
		if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := page.String()
	for _, want := range []string{
		"+2348031234567", "2026-08-18 to 2026-11-15", "16 November 2026, 09:30 UTC", "2 organisations", "7 answers", "2 of these answers", "there are 3, of all numbers", "on behalf of @RC 7",
		"UNKNOWN (STALE)", "too old", "nothing unusual", "dpo@regulator.example", "NCC", "&lt;script&gt;", "account-opening",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "&#43;", "+"), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|<link|<img|<iframe|src=|href=|url\(|@import|\son\w+=`).FindString(text); found != "" {
		t.Errorf("the page has %s", found)
	}
	page.Reset()
	empty := &whoasked.Report{Number: "+2348031234567"}
	if err := empty.WriteHTML(&page, whoasked.Letter{From: "NCC", Contact: "x"}); err != nil || !strings.Contains(page.String(), "no organisation received an answer") || strings.Contains(page.String(), "<table") {
		t.Errorf("a report without answers: %v\n%s", err, page.String())
	}
}

// Nothing that belongs to an organisation alone is in a report.
func TestReportHasNothingOfTheOrganisationsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bank := w.organisation("Harbour Bank", "RC 100001")
	e := entry(w.clock, bank, number)
	w.append(e)
	r, err := w.run(w.confirmed())
	if err != nil || r.Answers != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	var all bytes.Buffer
	if err := json.NewEncoder(&all).Encode(r); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteCSV(&all); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&all, whoasked.Letter{}); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{e.Key.String(), e.RequestID.String(), e.Correlator, e.ExternalID, bank.String()} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("the report has %s", secret)
		}
	}
}

// The page explains every status of the reference.
func TestEveryStatusIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/reference/line-status.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "## Reasons")
	statuses := regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(table, -1)
	if len(statuses) < 13 {
		t.Fatalf("only %d statuses were found", len(statuses))
	}
	for _, m := range statuses {
		r := whoasked.Report{Rows: []whoasked.Row{{Status: m[1]}}}
		var page bytes.Buffer
		if err := r.WriteHTML(&page, whoasked.Letter{}); err != nil || strings.Contains(page.String(), "documentation of the service explains") {
			t.Errorf("%s is not explained, %v", m[1], err)
		}
	}
}
