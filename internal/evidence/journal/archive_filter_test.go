package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/archivefile"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
)

// searched returns how often a search for a number finds each record.
func (p *past) searched(t *testing.T, number int64) map[uuid.UUID]int {
	t.Helper()
	got := make(map[uuid.UUID]int)
	s := journal.Search{Pool: p.serve, Files: p.files, To: time.Now(), Numbers: []int64{number}, Match: func(n, _ int64) bool { return n == number }}
	if err := s.Run(t.Context(), func(e *record.Entry) error { got[e.RequestID]++; return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

// firstNumber is the number of the first record of [past.numbered].
const firstNumber = 2348030000000

// numbered writes batches to a day whose records are about numbers of their own, from
// firstNumber on.
func (p *past) numbered(t *testing.T, day time.Time, batches, size int) []record.Entry {
	t.Helper()
	var all []record.Entry
	for i := range batches {
		batch := make([]record.Entry, size)
		for k := range batch {
			batch[k] = entry(day.Add(time.Duration(i+1) * time.Minute))
			batch[k].Number = firstNumber + int64(len(all)+k)
		}
		if err := p.journal.Append(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
	}
	return all
}

// damage makes parts of an archive unreadable.
func (p *past) damage(t *testing.T, parts []archivefile.Part) {
	t.Helper()
	for _, part := range parts {
		key := part.Key
		if err := os.WriteFile(filepath.Join(p.dir, key[34:], key[32:34], key), []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A search for a number opens only the parts that have it, and one of a hundred others.
func TestSearchOpensOnlyPartsThatMayHaveTheNumber(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	records := p.numbered(t, day, 40, 20)
	a := p.archivist().InParts(8)
	made, err := a.Archive(t.Context(), day)
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.Manifest(t.Context(), made)
	if err != nil || len(m.Parts) < 20 {
		t.Fatalf("%d parts, %v", len(m.Parts), err)
	}
	for _, number := range []int64{records[0].Number, records[399].Number, records[799].Number} {
		if got, want := p.searched(t, number), records[number-firstNumber].RequestID; len(got) != 1 || got[want] != 1 {
			t.Errorf("found %v, want only %s", got, want)
		}
	}
	// All parts but the first are made unreadable: only a search that opens them fails.
	p.damage(t, m.Parts[1:])
	failed := 0
	for i := range int64(200) {
		number := firstNumber - 1 - i // is in no part
		if i < 10 {
			number = firstNumber + i // is in the first part
		}
		s := journal.Search{Pool: p.serve, Files: p.files, To: time.Now(), Numbers: []int64{number}, Match: func(n, _ int64) bool { return n == number }}
		if err := s.Run(t.Context(), func(*record.Entry) error { return nil }); err != nil {
			failed++
		}
	}
	if expected := len(m.Parts) * 200 / 100; failed > 2*expected {
		t.Errorf("%d of 200 searches opened a part without the number; with %d parts about %d should", failed, len(m.Parts), expected)
	}
}

// An erased record and one of a test key are in no filter; erased ones are counted, in
// archives and in the database.
func TestErasedRecordsAreCounted(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	archived, stored := p.day(t, 40), p.day(t, 39)
	for _, day := range []time.Time{archived, stored} {
		records := p.numbered(t, day, 3, 10)
		for _, e := range records[:4] {
			inner := e.InnerHash()
			p.exec(t, `UPDATE journal_entry SET number = 0, phone_number = '', correlator = '', external_id = '', on_behalf_of = '', options = '', extra = '', nonce = $1
				WHERE at = $2 AND request_id = $3`, inner[:], e.At, e.RequestID)
			hash := e.Hash()
			p.exec(t, `INSERT INTO journal_erased (request_id, at, hash, erasure) VALUES ($1, $2, $3, gen_random_uuid())`, e.RequestID, e.At, hash[:])
		}
	}
	made := p.archive(t, archived)
	m, err := p.archivist().Manifest(t.Context(), made)
	if err != nil || len(m.Parts) != 1 || m.Parts[0].Erased != 4 || m.Parts[0].FilterBytes != 40 { // 26 numbers of 10 bits, in whole words
		t.Fatalf("%+v, %v", m, err)
	}
	erased := int64(0)
	s := journal.Search{
		Pool: p.serve, Files: p.files, To: time.Now(), Numbers: []int64{2348030000005}, Match: func(n, _ int64) bool { return n == 2348030000005 },
		OnErased: func(n int64) { erased += n },
	}
	if err := s.Run(t.Context(), func(*record.Entry) error { return nil }); err != nil || erased != 8 {
		t.Errorf("%d erased records, %v; want 8", erased, err)
	}
}

// The check finds a filter that lacks a number, although all hashes agree, and does not
// name the number.
func TestIncompleteFilterIsFound(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.numbered(t, day, 3, 10)
	made := p.archive(t, day)
	if r := p.checkArchives(t); !r.OK() {
		t.Fatalf("%+v", r)
	}
	if err := p.archivist().SpoilFilters(t.Context(), made, func(bits []byte) { bits[3] = 0 }); err != nil {
		t.Fatal(err)
	}
	r := p.checkArchives(t)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, "filter") || strings.Contains(r.Findings[0].What, "23480") {
		t.Errorf("%+v", r)
	}
}

// A day that was archived twice is searched once, in the newer archive.
func TestDayThatWasArchivedTwiceIsSearchedOnce(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	first := p.numbered(t, day, 1, 1)
	if err := p.archivist().Note(t.Context(), day); err != nil {
		t.Fatal(err)
	}
	late := p.numbered(t, day.Add(time.Hour), 1, 1)
	p.archive(t, day)
	if n := p.count(t, `SELECT count(*) FROM journal_archive`); n != 2 {
		t.Fatalf("%d archives", n)
	}
	got := p.searched(t, firstNumber)
	if len(got) != 2 || got[first[0].RequestID] != 1 || got[late[0].RequestID] != 1 {
		t.Errorf("found %v", got)
	}
}
