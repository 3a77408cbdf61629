package journal_test

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A day in many parts is found completely, each part has its period, and writing
// the same day again gives the same files: so a repeated run finds the files of a
// killed one.
func TestLargeDayIsArchivedInParts(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	records := p.fill(t, day, 60, 4)
	a := p.archivist().InParts(8)
	if err := a.Note(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	files := p.list(t)
	p.exec(t, `TRUNCATE journal_archive`) // as if it had not come so far
	made, err := a.Archive(t.Context(), day)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, p.list(t)); diff != "" {
		t.Errorf("the second time made other files:\n%s", diff)
	}
	m, err := a.Manifest(t.Context(), made)
	if err != nil || len(m.Parts) < 8 || m.Entries != 240 || m.Batches != 60 {
		t.Fatalf("%d parts with %d records in %d batches, %v", len(m.Parts), m.Entries, m.Batches, err)
	}
	stamp := func(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }
	if m.First != stamp(records[0].At) || m.Last != stamp(records[len(records)-1].At) {
		t.Errorf("it spans %s to %s", m.First, m.Last)
	}
	for i, part := range m.Parts[1:] {
		if part.First <= m.Parts[i].Last || part.Last < part.First {
			t.Errorf("part %d spans %s to %s, after %s", i+2, part.First, part.Last, m.Parts[i].Last)
		}
	}
	whole, other := m.Parts[0], m.Parts[0]
	other.SHA256 = m.Parts[1].SHA256
	if err := a.ReadPart(t.Context(), whole, m.Day, 1); err != nil {
		t.Error(err)
	}
	if a.ReadPart(t.Context(), other, m.Day, 1) == nil || a.ReadPart(t.Context(), whole, m.Day, 2) == nil || a.ReadPart(t.Context(), whole, "2026-01-01", 1) == nil {
		t.Error("a part is taken for another one")
	}
	p.found(t, records)
	if r := p.checkArchives(t); !r.OK() || r.Entries != 240 {
		t.Errorf("the archive: %+v", r)
	}
}

// list returns the names of the files of the archive.
func (p *past) list(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(p.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
