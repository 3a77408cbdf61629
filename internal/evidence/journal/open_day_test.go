package journal_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// sizeOf returns a size from the environment, or a small one.
func sizeOf(t *testing.T, name string, small int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return small
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// A search for one number in the open day reads a small part of it, as long as
// journal_summarize is called and autovacuum is on: the filters of the index rule the
// rest out. What was written since the last call is read as a whole. Without statistics
// PostgreSQL prefers the index on the time and reads the whole day.
func TestSearchOfTheOpenDayIsBounded(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	rows := sizeOf(t, "LINEPROOF_E2E_OPEN_DAY", 30_000)
	today := time.Now().UTC()
	table := "journal_entry_" + today.Format("20060102")
	const wanted = 2348999999999
	fill := func(first, n int) {
		p.exec(t, `INSERT INTO journal_entry (epoch, n, idx, request_id, at, type, entity_id, key_id, mode, purpose, purpose_text, status, reason, mobile_network,
				line_version, policy_version, plan_version, rules, coverage, number, phone_number, correlator, external_id, on_behalf_of, options, extra, nonce, hash)
			SELECT 1, i / 100, i % 100, gen_random_uuid(), $1::timestamptz + i * interval '1 microsecond', 'number', $4, $4, 'live', 'account-opening', '',
				'NORMAL', '', 'MTN', 1, 1, 1, 1, decode(repeat('00', 39), 'hex'), 2348030000000 + i::bigint * 7919 % 9999991, '08030000000', 'bank-7:4711', 'customer 4711', '', '', '',
				uuid_send(gen_random_uuid()), decode(repeat('00', 32), 'hex')
			FROM generate_series($2::int, $3::int) i`, today.Truncate(24*time.Hour).Add(time.Second), first, first+n-1, uuid.New())
	}
	fill(0, rows)
	e := entry(today)
	e.Number = wanted
	if err := p.journal.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	p.exec(t, `SELECT journal_summarize()`)
	p.exec(t, `ANALYZE `+table) // autovacuum does that in every minute in which a table has grown by a tenth
	pages := p.count(t, `SELECT pg_relation_size($1::regclass) / 8192`, table)
	s := journal.Search{Pool: p.serve, Files: p.files, To: time.Now(), Numbers: []int64{wanted}}
	read := func() int {
		if got := p.searched(t, wanted); len(got) != 1 {
			t.Fatalf("found %v", got)
		}
		n, err := s.PagesRead(t.Context(), today)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	summarized := read()
	t.Logf("%d records in %d pages: a search reads %d", rows, pages, summarized)
	if limit := pages/20 + 64; summarized == 0 || summarized > limit {
		t.Errorf("a search of the open day reads %d of %d pages, more than %d", summarized, pages, limit)
	}
	fill(rows, rows/10)
	fresh := p.count(t, `SELECT pg_relation_size($1::regclass) / 8192`, table) - pages
	if n := read(); n > summarized+fresh+64 {
		t.Errorf("with %d pages of new records a search reads %d, and %d without", fresh, n, summarized)
	}
}
