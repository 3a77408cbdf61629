package document_test

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/document"
)

// stray creates a file without a document, of the given age.
func (w *fixture) stray(t *testing.T, age time.Duration) uuid.UUID {
	t.Helper()
	f := must(w.Receive(t.Context(), "a.png", bytes.NewReader(honest())))(t)
	w.age(t, f.ID, age)
	return f.ID
}

func (w *fixture) age(t *testing.T, id uuid.UUID, age time.Duration) {
	t.Helper()
	at := w.Now().Add(-age)
	if err := os.Chtimes(w.pathOf(t, id), at, at); err != nil {
		t.Fatal(err)
	}
}

// The sweep removes files that have belonged to no document for a day, and no file
// of a document.
func TestSweepTakesOnlyStrays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.upload(t, licence, honest())
	deleted := w.reviewed(t, licence, false)
	content := must(os.ReadFile(w.pathOf(t, deleted)))(t)
	path := w.pathOf(t, deleted)
	if err := w.Delete(t.Context(), deleted, "over", operator); err != nil {
		t.Fatal(err)
	}
	write(t, path, content) // as if the store had been away then
	for _, id := range []uuid.UUID{kept, deleted} {
		w.age(t, id, 25*time.Hour)
	}
	young := w.stray(t, 23*time.Hour)
	w.stray(t, 25*time.Hour)
	if n, err := w.Sweep(t.Context()); err != nil || n != 2 {
		t.Errorf("Sweep = %d, %v; want 2", n, err)
	}
	w.pathOf(t, kept)
	w.pathOf(t, young)
	if n := filesIn(t, w.dir); n != 2 {
		t.Errorf("%d files are left, want 2", n)
	}
}

// If the database knows few of the files, it may be an old copy: nothing is swept.
func TestSweepDoesNotBelieveAnOldDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := w.upload(t, licence, honest())
	for range 101 {
		w.stray(t, 48*time.Hour)
	}
	if n, err := w.Sweep(t.Context()); !errors.Is(err, document.ErrTooMany) || n != 0 || filesIn(t, w.dir) != 102 {
		t.Errorf("Sweep = %d, %v; %d files are left", n, err, filesIn(t, w.dir))
	}
	w.pathOf(t, kept)
}

// A check finds every difference between documents and files, and reports no
// others.
func TestCheckFindsWhatDisagrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.upload(t, licence, honest())
	missing, longer, other := w.upload(t, licence, honest()), w.upload(t, licence, honest()), w.upload(t, licence, honest())
	if err := os.Remove(w.pathOf(t, missing)); err != nil {
		t.Fatal(err)
	}
	write(t, w.pathOf(t, longer), append(must(os.ReadFile(w.pathOf(t, longer)))(t), 0))
	write(t, w.pathOf(t, other), flipped(must(os.ReadFile(w.pathOf(t, other)))(t)))
	stray := w.stray(t, 2*time.Hour)
	w.stray(t, time.Minute) // may still get its record
	gone := w.reviewed(t, certificate, false)
	path, content := w.pathOf(t, gone), must(os.ReadFile(w.pathOf(t, gone)))(t)
	if err := w.Delete(t.Context(), gone, "over", operator); err != nil {
		t.Fatal(err)
	}
	write(t, path, content)

	check := func(deep bool) []document.Problem {
		var found []document.Problem
		seen := 0
		tally, err := w.Check(t.Context(), deep, func(p document.Problem) { found = append(found, p) }, func(done, total int) {
			if seen++; done != seen || total != 4 {
				t.Errorf("%d of %d are done", done, total)
			}
		})
		if err != nil || seen != 4 || tally.Records != 4 || tally.Files != 6 || tally.Problems != len(found) || tally.Bytes == 0 {
			t.Errorf("%+v after %d records: %v", tally, seen, err)
		}
		slices.SortFunc(found, func(a, b document.Problem) int { return cmp.Compare(a.Kind, b.Kind) })
		return found
	}
	want := []document.Problem{{document.ProblemDeleted, gone}, {document.ProblemMissing, missing}, {document.ProblemSize, longer}, {document.ProblemStray, stray}}
	if got := check(false); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := check(true); !slices.Equal(got, slices.Insert(want, 0, document.Problem{Kind: document.ProblemContent, Document: other})) {
		t.Errorf("deep found %v", got)
	}
}
