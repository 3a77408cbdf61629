package filerows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Rejected rows are stored once, counted by reason, listed in the order of the file and page
// by page, and their numbers and values are deleted after the retention time.
func TestRejectedRows(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	rows := []linefile.Refusal{
		{Place: 2, Field: "number", Reason: "BAD_FORMAT", Number: "=1+1", Value: "=1+1"},
		{Place: 5, Field: "effectiveAt", Reason: "FUTURE", Number: "+2348030000001", Value: "2099-01-01"},
		{Place: 9, Reason: "BAD_COLUMNS"},
		{Place: 11, Field: "id", Reason: "FUTURE", Number: "+2348030000002", Value: "a"},
	}
	for range 2 {
		if err := filerows.SaveRejected(ctx, pool, 7, rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := filerows.SaveRejected(ctx, pool, 8, rows[:1]); err != nil {
		t.Fatal(err)
	}
	totals, err := filerows.Totals(ctx, pool, 7)
	if diff := cmp.Diff([]filerows.Total{{Reason: "FUTURE", N: 2}, {Reason: "BAD_COLUMNS", N: 1}, {Reason: "BAD_FORMAT", N: 1}}, totals); diff != "" || err != nil {
		t.Errorf("totals (-want +got), %v:\n%s", err, diff)
	}
	find := func(f filerows.Filter) (places []int64) {
		t.Helper()
		f.Import, f.Limit = 7, 2
		list, err := filerows.FindRejected(ctx, pool, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			places = append(places, r.Line)
		}
		return places
	}
	for _, c := range []struct {
		f    filerows.Filter
		want []int64
	}{
		{filerows.Filter{}, []int64{2, 5}},
		{filerows.Filter{After: filerows.Place{Line: 5, Column: "effectiveAt"}}, []int64{9, 11}},
		{filerows.Filter{Reason: "FUTURE"}, []int64{5, 11}},
		{filerows.Filter{Reason: "FUTURE", After: filerows.Place{Line: 5, Column: "effectiveAt"}}, []int64{11}},
		{filerows.Filter{Reason: "NONE"}, nil},
	} {
		if diff := cmp.Diff(c.want, find(c.f)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.f, diff)
		}
	}
	csv := func(values bool) string {
		t.Helper()
		var b strings.Builder
		if err := filerows.WriteCSV(ctx, pool, 7, &b, values); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain := "line,column,reason\n2,number,BAD_FORMAT\n5,effectiveAt,FUTURE\n9,,BAD_COLUMNS\n11,id,FUTURE\n"
	if got := csv(false); got != plain {
		t.Errorf("without values:\n%s", got)
	}
	if got := csv(true); !strings.Contains(got, "2,number,BAD_FORMAT,'=1+1,'=1+1\n") || !strings.Contains(got, "5,effectiveAt,FUTURE,'+2348030000001,2099-01-01\n") {
		t.Errorf("with values:\n%s", got)
	}
	for _, c := range []struct {
		age  time.Duration
		want int64
	}{{filerows.Retention - time.Hour, 0}, {filerows.Retention + time.Hour, 4}} {
		if n, err := filerows.DeleteOld(ctx, pool, time.Now().Add(c.age)); err != nil || n != c.want {
			t.Errorf("after %s %d values are deleted, %v, want %d", c.age, n, err, c.want)
		}
	}
	if got := csv(true); strings.Contains(got, "803") || strings.Count(got, "\n") != 5 {
		t.Errorf("after the retention time:\n%s", got)
	}
}
