package journal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/journal"
)

// An unchanged journal gives no findings, and everything in it is counted.
func TestCheckHasNothingToSayAboutAWholeJournal(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	first, second := p.day(t, 41), p.day(t, 40)
	p.fill(t, first, 700, 3)
	p.fill(t, second, 5, 1)
	if err := p.journal.Append(t.Context(), entry(time.Now())); err != nil {
		t.Fatal(err)
	}
	watched := int64(0)
	c := &journal.Checker{Pool: p.serve, Limit: 10, OnProgress: func(so journal.Report) { watched = so.Entries }}
	r, err := c.Check(t.Context(), time.Time{}, time.Time{})
	if err != nil || !r.OK() || r.Batches != 706 || r.Entries != 2106 || r.Days < 4 || watched != 2106 {
		t.Errorf("%+v, %v; last progress %d", r, err, watched)
	}
	if r := p.check(t, first.Add(time.Hour), first); r.Days != 1 || r.Entries != 2100 {
		t.Errorf("of one day: %+v", r)
	}
	if r := p.check(t, second, second.AddDate(0, 0, 1)); r.Days != 1 || r.Entries != 5 {
		t.Errorf("of the other day: %+v", r)
	}
}

// Every kind of damage is found, wherever it is.
func TestCheckFindsEveryDamage(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	// In each day batch 2 of four is damaged, and its second record of three.
	for i, damage := range []struct{ name, sql, want string }{
		{"a changed record", `UPDATE journal_entry SET status = 'BARRED' WHERE @record`, "does not match its hash"},
		{"a changed hash", `UPDATE journal_entry SET hash = sha256('x') WHERE @record`, "do not match its Merkle root"},
		{"a changed time", `UPDATE journal_entry SET at = at + interval '1 ms' WHERE @record`, "the time in its id differs from its time"},
		{"a changed id", `UPDATE journal_entry SET request_id = gen_random_uuid() WHERE @record`, "the time in its id differs from its time"},
		{"a lost record", `DELETE FROM journal_entry WHERE @record`, "should have 3 records and has 2"},
		{"a gap", `UPDATE journal_entry SET idx = 7 WHERE @record`, "have a gap or a duplicate"},
		{"two positions exchanged", `UPDATE journal_entry SET idx = 2 - idx WHERE @batch`, "do not match its Merkle root"},
		{"a record in another batch", `UPDATE journal_entry SET n = n + 1 WHERE @record`, "should have 3 records and has 2"},
		{"a record too many", `UPDATE journal_entry SET n = n + 1, idx = 3 WHERE @record`, "should have 3 records and has 4"},
		{"a duplicate record", `INSERT INTO journal_entry SELECT * FROM journal_entry WHERE @record`, "occurs 2 times"},
		{"a lost batch", `DELETE FROM journal_batch WHERE @batch`, "has no batch"},
		{"a batch without its records", `DELETE FROM journal_entry WHERE @batch`, "should have 3 records and has 0"},
		{"a changed root", `UPDATE journal_batch SET root = sha256('x') WHERE @batch`, "do not match its Merkle root"},
		{"a batch with a higher count", `UPDATE journal_batch SET count = 4 WHERE @batch`, "should have 4 records and has 3"},
		{"a batch with a lower count", `UPDATE journal_batch SET count = 2 WHERE @batch`, "should have 2 records and has 3"},
		{"a batch of another time", `UPDATE journal_batch SET at = at - interval '1 ms' WHERE @batch`, "its time differs from that of 3 of its records"},
		{"a batch of another node", `INSERT INTO journal_batch SELECT 'b', epoch, n, at, count, root, xact FROM journal_batch WHERE @batch`, "should have 3 records and has 0"},
	} {
		day := p.day(t, 40+i)
		p.fill(t, day, 4, 3)
		if r := p.check(t, day, day); !r.OK() || r.Entries != 12 {
			t.Fatalf("before any damage: %+v", r)
		}
		n := p.count(t, `SELECT min(n) + 1 FROM journal_batch WHERE at >= $1 AND at < $1 + interval '1 day'`, day)
		where := strings.NewReplacer("@batch", "n = $1", "@record", "n = $1 AND idx = 1")
		p.exec(t, where.Replace(damage.sql), n)
		r := p.check(t, day, day)
		said := false
		for _, f := range r.Findings {
			said = said || strings.Contains(f.What, damage.want) && f.Day.Equal(day)
		}
		if !said || r.Found != int64(len(r.Findings)) {
			t.Errorf("%s: no finding has %q: %+v", damage.name, damage.want, r)
		}
	}
}

// All findings are counted, and no more than the limit are returned.
func TestCheckKeepsAsManyFindingsAsAsked(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	day := p.day(t, 40)
	p.fill(t, day, 10, 2)
	p.exec(t, `UPDATE journal_entry SET purpose = 'x'`)
	r, err := (&journal.Checker{Pool: p.serve, Limit: 3}).Check(t.Context(), time.Time{}, time.Time{})
	if err != nil || r.Found != 20 || len(r.Findings) != 3 || r.OK() {
		t.Errorf("%+v, %v", r, err)
	}
}

// Records that are written during a check are not reported as damage.
func TestCheckRunsBesideWriters(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	stop, ended := make(chan struct{}), make(chan error, 2)
	for range cap(ended) {
		j := open(t, p.serve)
		go func() {
			for {
				select {
				case <-stop:
					ended <- nil
					return
				default:
				}
				now := time.Now()
				if err := j.Append(t.Context(), entry(now), entry(now), entry(now), entry(now), entry(now)); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	var seen int64
	for range 5 {
		r := p.check(t, time.Time{}, time.Time{})
		if !r.OK() || r.Entries != 5*r.Batches {
			t.Fatalf("beside writers: %+v", r)
		}
		seen = r.Entries
	}
	close(stop)
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if seen == 0 {
		t.Error("nothing was written during the check, so this proves nothing")
	}
}
