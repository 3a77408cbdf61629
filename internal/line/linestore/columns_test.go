package linestore_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/testing/linemodel"
)

// randomRows returns rows that a fold can make, the same on every run.
func randomRows(n int) []line.Row {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]line.Row, n)
	for i := range rows {
		h := linemodel.RandomHistory(r, linemodel.World{Networks: 3, Events: 12})
		rows[i] = h.Row(linemodel.RandomTerms)
	}
	return rows
}

// filledRow returns a row in which every field has a value that no other field of its type has,
// and that does not follow from others.
func filledRow(seed int32) (r line.Row) {
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		switch n := int64(seed) + int64(i); v.Field(i).Kind() {
		case reflect.Int32:
			v.Field(i).SetInt(1000*int64(seed) + n)
		default:
			v.Field(i).SetInt(n)
		}
	}
	r.BarReason, r.HolderBarReason, r.NumberBarReason = line.Code(seed), line.Code(seed+2), line.Code(seed+4)
	return r
}

// Every field of a row that a fold can make survives what is left out of the table
// because it follows from other columns. Each field has a value in some of the rows.
func TestEveryFieldOfARowSurvivesStoring(t *testing.T) {
	t.Parallel()

	used, none := map[string]int{}, reflect.ValueOf(line.NoRow())
	for _, row := range randomRows(20_000) {
		if diff := cmp.Diff(row, linestore.AfterStoring(&row)); diff != "" {
			t.Fatalf("the row (-folded +after storing):\n%s", diff)
		}
		v := reflect.ValueOf(row)
		for i := range v.NumField() {
			if !v.Field(i).Equal(none.Field(i)) {
				used[v.Type().Field(i).Name]++
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[line.Row]()) {
		if used[f.Name] < 20 {
			t.Errorf("only %d of the rows have a value in %s", used[f.Name], f.Name)
		}
	}
	row := filledRow(3)
	if diff := cmp.Diff(row, linestore.AfterStoring(&row)); diff != "" {
		t.Errorf("a row with a value in every field (-before +after storing):\n%s", diff)
	}
}

// NoRow has no time in any field: zero is a time, in the year 2020.
func TestNoRowHasNoTime(t *testing.T) {
	t.Parallel()

	v := reflect.ValueOf(line.NoRow())
	for i := range v.NumField() {
		if at, ok := reflect.TypeAssert[line.Instant](v.Field(i)); ok && at != line.Never {
			t.Errorf("%s is %d", v.Type().Field(i).Name, at)
		}
	}
}
