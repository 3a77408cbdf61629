package filerows_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply/filerows"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The first ten examples of each kind are stored, instead of those of an earlier check, and
// are deleted after the retention time.
func TestExamplesAreFewAndExpire(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	save := func(of int32, count int64) {
		t.Helper()
		x, before, after := filerows.NewExamples(time.UTC), line.NoRow(), line.NoRow()
		after.State = line.StateActive
		for i := range count {
			number, _ := phone.FromInt(2348030000000 + i)
			x.Add(filerows.Added, number, &before, &after)
			x.Add(filerows.Ended, number, &after, &before)
		}
		if err := pg.InTx(ctx, pool, func(tx pg.Tx) error { return x.Save(ctx, tx, of) }); err != nil {
			t.Fatal(err)
		}
	}
	stored := func(of int32) []filerows.Example {
		t.Helper()
		list, err := filerows.FindExamples(ctx, pool, of)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	save(8, 1)
	save(7, 25)
	list := stored(7)
	if len(list) != 2*filerows.MaxExamples || list[0] != (filerows.Example{Kind: filerows.Added, Number: "+2348030000000", After: "ACTIVE"}) || list[19].Number != "+2348030000009" {
		t.Fatalf("%d examples are stored: %+v", len(list), list)
	}
	save(7, 3)
	if n := len(stored(7)); n != 6 {
		t.Errorf("after another check there are %d examples", n)
	}
	for _, c := range []struct {
		age  time.Duration
		want int64
	}{{filerows.Retention - time.Hour, 0}, {filerows.Retention + time.Hour, 8}} {
		if n, err := filerows.DeleteOld(ctx, pool, time.Now().Add(c.age)); err != nil || n != c.want {
			t.Errorf("after %s %d examples are deleted, %v, want %d", c.age, n, err, c.want)
		}
	}
}
