package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/record"
)

// A search finds each record about a number once, in the database and in an archive,
// within its period, and not those of test keys. For a few numbers it uses the index.
func TestSearchFindsRecordsByNumber(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	archived, stored := p.day(t, 40), p.day(t, 39)
	const wanted = 2348031234999
	want := make(map[uuid.UUID]int)
	for _, day := range []time.Time{archived, stored} {
		for hour := range 12 {
			batch := make([]record.Entry, 200)
			for i := range batch {
				batch[i] = entry(day.Add(time.Duration(hour) * time.Hour))
				batch[i].Number = 2348030000000 + int64(hour*200+i)*7919%100_003 // in no order, as real numbers are
			}
			batch[3].Number, batch[5].Number, batch[5].Mode = wanted, wanted, "test"
			if hour > 0 || day.Equal(stored) {
				want[batch[3].RequestID] = 1 // the first is before the period
			}
			if err := p.journal.Append(t.Context(), batch...); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.archive(t, archived)
	p.exec(t, "ANALYZE journal_entry")
	p.exec(t, "SELECT brin_summarize_new_values(indexrelid) FROM pg_index WHERE indrelid = 'journal_entry_"+stored.Format("20060102")+"'::regclass")
	for name, numbers := range map[string][]int64{"by reading": nil, "by the index": {wanted}} {
		got := make(map[uuid.UUID]int)
		s := journal.Search{Pool: p.serve, Files: p.files, From: archived.Add(time.Minute), To: time.Now(), Numbers: numbers}
		s.Match = func(number, _ int64) bool { return number == wanted }
		if err := s.Run(t.Context(), func(e *record.Entry) error { got[e.RequestID]++; return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	p.serve.Reset() // a session adds its statistics to those of all when it ends
	used := 0
	for end := time.Now().Add(10 * time.Second); used == 0 && time.Now().Before(end); {
		used = p.count(t, `SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname LIKE 'journal_entry_2%_number%'`)
	}
	if used == 0 {
		t.Error("the index was not used")
	}
}
