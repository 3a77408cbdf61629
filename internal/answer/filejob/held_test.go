package filejob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// everyNth returns a file of numbers in equal steps.
func everyNth(rows, step int) string {
	var b strings.Builder
	b.WriteString("number\n")
	for i := range rows {
		fmt.Fprintf(&b, "0803%07d\n", i*step)
	}
	return b.String()
}

// A file of neighbours, or of numbers in equal steps, is held before a row is answered, and is
// answered as a whole once it is released. Files of customers are not held.
func TestScansAreHeldUntilTheyAreReleased(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file string
		rows int64
		held bool
	}{
		"neighbours":     {everyNth(3_000, 1), 3_000, true},
		"in equal steps": {everyNth(2_500, 37), 2_500, true},
		"one employer":   {everyNth(300, 1), 300, false},
		"customers":      {fileOf(2_000), 2_000, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, 10)
			id := e.send(tc.file)
			j := e.finish(id)
			if !tc.held {
				if j.State != filejob.Done || j.Answered != tc.rows {
					t.Errorf("%+v", j)
				}
				return
			}
			if all, _ := e.records(id); j.State != filejob.Held || j.Answered != 0 || all != 0 || j.Rows != tc.rows || j.Numbers != tc.rows {
				t.Fatalf("%d records: %+v", all, j)
			}
			if again := e.finish(e.send(fileOf(10))); again.State != filejob.Done {
				t.Errorf("a file of customers after one that is held: %+v", again)
			}
			release := filejob.Effects()[filejob.ReleaseKind]
			err := pg.InTx(t.Context(), e.Pool, func(tx pg.Tx) error {
				return release(t.Context(), tx, approval.Approval{Subject: id, Entity: e.bank.Entity, DecidedAt: time.Now(), DecidedBy: audit.Actor{Kind: audit.Operator}})
			})
			if err != nil {
				t.Fatal(err)
			}
			if j = e.finish(id); j.State != filejob.Done || j.Answered != tc.rows || len(e.result(id)) != int(tc.rows) {
				t.Errorf("after the release: %+v", j)
			}
		})
	}
}

// The files of a day may have ten times the different numbers of a day. One that has more than
// is left is refused and spends nothing.
func TestFilesOfADayHaveABudget(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	e.dayNumbers = 100
	for _, tc := range []struct {
		rows int
		want filejob.State
	}{{700, filejob.Done}, {400, filejob.Failed}, {300, filejob.Done}, {1, filejob.Failed}} {
		j := e.finish(e.send(fileOf(tc.rows)))
		if j.State != tc.want || tc.want == filejob.Failed && !strings.Contains(j.Reason, "1,000 a day that files may have") {
			t.Errorf("%d rows: %+v", tc.rows, j)
		}
	}
}

// A file that nobody releases fails after two weeks, and is deleted.
func TestHeldFileIsNotKeptForEver(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 10)
	id := e.send(everyNth(3_000, 1))
	e.finish(id)
	e.ahead = 15 * 24 * time.Hour
	if err := e.CleanUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if j := e.job(id); j.State != filejob.Failed || e.storedFiles() != 0 {
		t.Errorf("%d files are left: %+v", e.storedFiles(), j)
	}
}
