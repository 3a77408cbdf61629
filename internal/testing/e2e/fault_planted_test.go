package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
)

// writeBatches journals requests of which so many share a batch, as the server
// does when many ask at once, and has the ledger say that they were answered.
// It returns their names.
func (c *caller) writeBatches(t *testing.T, sizes ...int) map[string]bool {
	t.Helper()
	ctx := t.Context()
	var epoch int64
	if err := c.world.pool.QueryRow(ctx, `SELECT nextval('journal_epoch')`).Scan(&epoch); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for n, size := range sizes {
		var entries []record.Entry
		for range size {
			number := int64(firstLine) + c.rng.Int64N(2*knownLines)
			m := mark{ID: correlator(serial.Add(1)).String(), Asked: &question{spell(c.rng, number)}, Phone: number}
			names[m.ID] = true
			e := c.world.record(m.ID, number, m.Asked.PhoneNumber)
			entries = append(entries, e)
			said := tell(e)
			c.page.write(m)
			c.page.write(mark{ID: m.ID, Outcome: okay, Status: 200, RequestID: said.RequestID, Told: &said})
		}
		if err := pgx.BeginFunc(ctx, c.world.pool, func(tx pgx.Tx) error { return writeBatch(ctx, tx, epoch, int64(n+1), entries...) }); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// sharedDamages is what can befall a batch of many records, or a record among
// many.
func sharedDamages() []damage {
	const (
		victim = `v AS (SELECT * FROM journal_entry WHERE correlator = @question)`
		inIt   = ` FROM v WHERE (e.epoch, e.n) = (v.epoch, v.n)`
		batch  = ` FROM v WHERE (b.epoch, b.n) = (v.epoch, v.n)`
	)
	one := func(name, sql string) damage {
		return damage{name: name, times: 4, sql: "WITH " + victim + sql, shared: true}
	}
	return []damage{
		one("two records of a batch have changed places", `, size AS (SELECT count FROM journal_batch b, v WHERE (b.epoch, b.n) = (v.epoch, v.n))
			UPDATE journal_entry e SET idx = CASE e.idx WHEN v.idx THEN (v.idx + 1) % size.count ELSE v.idx END FROM v, size
			WHERE (e.epoch, e.n) = (v.epoch, v.n) AND e.idx IN (v.idx, (v.idx + 1) % size.count)`),
		one("a batch is in reverse", ` UPDATE journal_entry e SET idx = b.count - 1 - e.idx FROM v, journal_batch b
			WHERE (e.epoch, e.n) = (v.epoch, v.n) AND (b.epoch, b.n) = (v.epoch, v.n)`),
		one("two records of a batch have one place", ` UPDATE journal_entry e SET idx = v.idx`+inIt+` AND e.idx IN (0, 1)`),
		one("a batch begins at 1", ` UPDATE journal_entry e SET idx = e.idx + 1`+inIt),
		one("there is a gap in a batch", ` UPDATE journal_entry e SET idx = e.idx + 1`+inIt+` AND e.idx >= v.idx`),
		one("a record is gone and the count fits", `, gone AS (DELETE FROM journal_entry e USING v WHERE e.request_id = v.request_id)
			UPDATE journal_batch b SET count = b.count - 1`+batch),
		one("a record is gone, the others have closed up and the count fits", `, gone AS (DELETE FROM journal_entry e USING v WHERE e.request_id = v.request_id),
			up AS (UPDATE journal_entry e SET idx = e.idx - 1`+inIt+` AND e.idx > v.idx) UPDATE journal_batch b SET count = b.count - 1`+batch),
		one("a record is at the end of another batch and the counts fit", `, other AS (SELECT b.epoch, b.n, b.count FROM journal_batch b, v
			WHERE b.epoch = v.epoch AND b.n <> v.n ORDER BY b.n LIMIT 1), less AS (UPDATE journal_batch b SET count = b.count - 1`+batch+`),
			more AS (UPDATE journal_batch b SET count = b.count + 1 FROM other WHERE (b.epoch, b.n) = (other.epoch, other.n))
			UPDATE journal_entry e SET n = other.n, idx = other.count FROM v, other WHERE e.request_id = v.request_id`),
		one("a record is there again at the end of its batch and the count fits", `, more AS (UPDATE journal_batch b SET count = b.count + 1`+batch+` RETURNING b.count)
			INSERT INTO journal_entry (`+journaltest.Fields+`) SELECT `+strings.Replace(journaltest.Fields, " idx,", " more.count - 1,", 1)+` FROM v, more`),
		one("a batch is gone with all its records", `, gone AS (DELETE FROM journal_entry e USING v WHERE (e.epoch, e.n) = (v.epoch, v.n))
			DELETE FROM journal_batch b USING v WHERE (b.epoch, b.n) = (v.epoch, v.n)`),
		one("half of a batch is gone", ` DELETE FROM journal_entry e USING v WHERE (e.epoch, e.n) = (v.epoch, v.n) AND e.idx % 2 = 0`),
		one("a batch is two", `, two AS (INSERT INTO journal_batch (node, epoch, n, at, count, root) SELECT b.node, b.epoch, b.n + 1000000, b.at, b.count / 2, b.root
			FROM journal_batch b, v WHERE (b.epoch, b.n) = (v.epoch, v.n) RETURNING count) UPDATE journal_entry e SET n = e.n + 1000000, idx = e.idx FROM v, two
			WHERE (e.epoch, e.n) = (v.epoch, v.n) AND e.idx < two.count`),
		one("two records of a batch have exchanged their answers", ` UPDATE journal_entry e SET status = o.status, mobile_network = o.mobile_network, number = o.number,
			phone_number = o.phone_number, line_version = o.line_version FROM v, journal_entry o WHERE e.request_id = v.request_id AND (o.epoch, o.n) = (v.epoch, v.n)
			AND o.number <> v.number AND o.idx = (SELECT min(idx) FROM journal_entry m WHERE (m.epoch, m.n) = (v.epoch, v.n) AND m.number <> v.number)`),
	}
}

// plantSharedForgeries does damage to batches of many by somebody who makes
// hashes and root anew. It returns how many faults it planted.
func plantSharedForgeries(t *testing.T, w *fixture, judge *checker, questions []*entry) int {
	t.Helper()
	ctx := t.Context()
	at := func(entries []record.Entry, name string) int {
		for i := range entries {
			if entries[i].Correlator == name {
				return i
			}
		}
		return -1
	}
	again := func(entries []record.Entry, i int, change func(*record.Entry)) []record.Entry {
		e := entries[i]
		e.RequestID, e.Nonce = record.NewRequestID(e.At), record.NewNonce()
		change(&e)
		return append(entries, e)
	}
	n := 0
	for _, f := range []struct {
		name   string
		change func(entries []record.Entry, i int) []record.Entry
		blind  bool // not detectable if the caller got no response
	}{
		{"without a record", func(es []record.Entry, i int) []record.Entry { return append(es[:i:i], es[i+1:]...) }, true},
		{"with a record twice", func(es []record.Entry, i int) []record.Entry { return append(es, es[i]) }, false},
		{"with a record again under another id", func(es []record.Entry, i int) []record.Entry { return again(es, i, func(*record.Entry) {}) }, false},
		{"with a record that nobody asked for", func(es []record.Entry, i int) []record.Entry {
			return again(es, i, func(e *record.Entry) { e.Correlator = "q0" })
		}, false},
		{"with another status", func(es []record.Entry, i int) []record.Entry {
			es[i].Status = "NORMALISH"
			return es
		}, false},
		{"with more than was asked", func(es []record.Entry, i int) []record.Entry {
			es[i].Extra = "{}"
			return es
		}, false},
		{"with another number", func(es []record.Entry, i int) []record.Entry {
			es[i].Number++
			return es
		}, false},
		{"with the id of another", func(es []record.Entry, i int) []record.Entry {
			other := &es[(i+1)%len(es)]
			es[i].RequestID, es[i].At = other.RequestID, other.At
			return es
		}, false},
		{"with another id", func(es []record.Entry, i int) []record.Entry {
			es[i].RequestID = record.NewRequestID(es[i].At)
			return es
		}, true},
	} {
		for i := range 8 {
			n++
			e, want := questions[(n*11)%len(questions)], true
			if i == 7 {
				forget(e)
				want = !f.blind
			}
			found, err := plant(ctx, w, judge, func(tx pgx.Tx) error {
				return rewriteBatch(ctx, tx, e.sent.ID, func(es []record.Entry) []record.Entry { return f.change(es, at(es, e.sent.ID)) })
			})
			if err != nil || found > 0 != want {
				t.Errorf("a batch was forged %s (its caller is heard: %v), and the checker found %d (%v)", f.name, i < 7, found, err)
			}
			remember(e)
		}
	}
	return n
}

// rewriteBatch replaces the batch of a request by a forged one that fits
// itself.
func rewriteBatch(ctx context.Context, tx pgx.Tx, question string, change func([]record.Entry) []record.Entry) error {
	rows, err := rowsOf[entryRow](ctx, tx, `SELECT `+journaltest.Fields+` FROM journal_entry WHERE (epoch, n) IN
		(SELECT epoch, n FROM journal_entry WHERE correlator = '`+question+`') ORDER BY idx`)
	if err != nil || len(rows) < 2 {
		return fmt.Errorf("find the batch: %d records, %w", len(rows), errors.Join(err))
	}
	entries := make([]record.Entry, len(rows))
	for i := range rows {
		entries[i] = rows[i].whole()
	}
	for _, table := range []string{"journal_entry", "journal_batch"} {
		if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE (epoch, n) = ($1, $2)`, rows[0].Epoch, rows[0].N); err != nil {
			return fmt.Errorf("take the batch away: %w", err)
		}
	}
	return writeBatch(ctx, tx, rows[0].Epoch, rows[0].N, change(entries)...)
}
