package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/journaltest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// plantForgeries plants consistent damage: the forger knows the encoding and
// recomputes hash and root, so that only the answers in the ledger reveal it. It
// also changes the ledger itself. It returns how many faults it planted.
func plantForgeries(t *testing.T, w *fixture, judge *checker, questions, applications []*entry) int {
	t.Helper()
	ctx := t.Context()
	forgeries := []struct {
		name   string
		change func(*record.Entry)
		blind  bool // not detectable if the caller got no response
	}{
		{"another status", func(e *record.Entry) { e.Status = "NORMALISH" }, false},
		{"another network", func(e *record.Entry) { e.MobileNetwork = "Ochre" }, false},
		{"another number", func(e *record.Entry) { e.Number++ }, false},
		{"another spelling", func(e *record.Entry) { e.PhoneNumber += " " }, false},
		{"another entity", func(e *record.Entry) { e.Entity[3]++ }, false},
		{"a question that nobody asked", func(e *record.Entry) { e.Correlator = "nobody" }, false},
		{"a time that does not fit its id", func(e *record.Entry) { e.At = e.At.Add(time.Millisecond) }, false},
		{"another time", func(e *record.Entry) {
			e.At = e.At.Add(time.Millisecond)
			e.RequestID = record.NewRequestID(e.At)
		}, true},
	}
	n := 0
	for _, f := range forgeries {
		for i := range 4 {
			n++
			e, want := questions[(n*11)%len(questions)], true
			if i == 3 {
				forget(e)
				want = !f.blind
			}
			found, err := plant(ctx, w, judge, func(tx pgx.Tx) error { return rewrite(ctx, tx, e.sent.ID, f.change) })
			if err != nil || found > 0 != want {
				t.Errorf("a record was forged to have %s (its caller is heard: %v), and the checker found %d (%v)", f.name, i < 3, found, err)
			}
			remember(e)
		}
	}
	return n + plantLies(t, w, judge, []*entry{questions[0], questions[1], applications[0], applications[1]})
}

// rewrite replaces the record of a request, with its batch, by a forged one.
func rewrite(ctx context.Context, tx pgx.Tx, question string, change func(*record.Entry)) error {
	rows, err := rowsOf[entryRow](ctx, tx, `SELECT `+journaltest.Fields+` FROM journal_entry WHERE correlator = '`+question+`'`)
	if err != nil || len(rows) != 1 {
		return fmt.Errorf("find the record: %d, %w", len(rows), errors.Join(err))
	}
	e := rows[0].whole()
	change(&e)
	hash := e.Hash()
	root, err := merkle.Root([][]byte{hash[:]})
	if err != nil {
		return fmt.Errorf("forge a root: %w", err)
	}
	if _, err = tx.Exec(ctx, `UPDATE journal_entry SET request_id = $2, at = $3, entity_id = $4, correlator = $5, number = $6, phone_number = $7,
		status = $8, mobile_network = $9, hash = $10 WHERE correlator = $1`, question, e.RequestID, e.At, e.Entity, e.Correlator, e.Number,
		e.PhoneNumber, e.Status, e.MobileNetwork, hash[:]); err != nil {
		return fmt.Errorf("forge the record: %w", err)
	}
	if _, err = tx.Exec(ctx, `UPDATE journal_batch SET root = $3, at = $4 WHERE epoch = $1 AND n = $2`, rows[0].Epoch, rows[0].N, root, e.At); err != nil {
		return fmt.Errorf("forge the batch: %w", err)
	}
	return nil
}

// plantLies leaves the database alone and changes what the ledger says, which
// is the same disagreement from the other side: a refused request has a record,
// a request that ended without an answer has one after an orderly stop. A
// request of unknown outcome may have one after a kill, and that is no finding.
func plantLies(t *testing.T, w *fixture, judge *checker, victims []*entry) int {
	t.Helper()
	n := 0
	for _, lie := range []struct {
		outcome outcome
		orderly bool
		fault   bool
	}{{refused, false, true}, {unsent, false, true}, {unknown, true, true}, {unknown, false, false}} {
		for _, e := range victims {
			n++
			forget(e)
			e.ends[0].Outcome, judge.noAnswerNoTrace = lie.outcome, lie.orderly
			findings, err := judge.check(t.Context(), w.pool)
			remember(e)
			judge.noAnswerNoTrace = false
			if err != nil || len(findings) > 0 != lie.fault {
				t.Errorf("request %s, said to have ended as %s: %v (%v)", e.sent.ID, lie.outcome, findings, err)
			}
		}
	}
	twice := victims[len(victims)-1]
	other := twice.answered()
	other.Made = &made{EntityUID: other.Made.EntityUID, AdminUID: other.Made.EntityUID, AdminEmail: other.Made.AdminEmail}
	twice.ends = append(twice.ends, other)
	findings, err := judge.check(t.Context(), w.pool)
	twice.ends = twice.ends[:len(twice.ends)-1]
	if err != nil || len(findings) == 0 {
		t.Errorf("an application was answered in two ways, and the checker found nothing (%v)", err)
	}
	return n + 1
}
