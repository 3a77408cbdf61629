package publiclog_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/logentry"
)

// After a restore to an earlier moment nothing is signed, whatever was added since; after
// the recovery the log goes on, no witness finds a contradiction, and what is lost is named.
func TestRecoveredLogGoesOn(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, owner := newPress(t, url), pgtest.Open(t, url, "")
	policy, _ := p.serveWitnesses(2)
	witnessed := func() *publiclog.Publisher {
		publisher := p.publisher()
		publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
		return publisher
	}
	p.grow(3)
	p.publish(witnessed())
	head, published := savedHead(t, owner)
	p.grow(2)
	p.publish(witnessed())
	signed, err := publiclog.Checkpoint(t.Context(), p.pool)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := policy.Open(signed)
	if err != nil {
		t.Fatal(err)
	}
	setBack(t, owner, head, published, 3)
	p.next = 100
	for range 3 { // fewer than were published, as many, and more
		p.grow(1)
		if size, err := witnessed().Publish(t.Context()); !errors.Is(err, publiclog.ErrAhead) || size != 4 {
			t.Errorf("a restored database has signed: size %d, %v", size, err)
		}
	}
	recovery := publiclog.Recovery{Pool: pgtest.Open(t, url, pg.Owner), Tiles: p.tiles, Reason: logentry.Restored, Signed: []string{text}}
	done, err := recovery.Run(t.Context())
	if want := (publiclog.Recovered{From: 4, To: 6, Lost: 2, Answers: 6, Moved: 3}); err != nil || done != want {
		t.Fatalf("%+v, %v; want %+v", done, err, want)
	}
	publisher := witnessed()
	if size, err := publisher.Publish(t.Context()); err != nil || size != 10 {
		t.Fatalf("after the recovery: size %d, %v", size, err)
	}
	if n := p.witnessed(policy); n != 2 {
		t.Errorf("%d witnesses have signed after the recovery", n)
	}
	wantNothingFound(t, p.pool)
	if done, err := recovery.Run(t.Context()); err != nil || done.To != done.From {
		t.Errorf("a second recovery: %+v, %v", done, err)
	}
	// A mark alone hides nothing.
	if _, err := owner.Exec(t.Context(), `UPDATE log_entry SET lost = true WHERE idx = 2; DELETE FROM journal_batch WHERE n = 1`); err != nil {
		t.Fatal(err)
	}
	if r, err := publiclog.Check(t.Context(), p.pool, nil); err != nil || len(r.Found) == 0 {
		t.Errorf("a deletion that is marked as lost is not found: %v", err)
	}
}

// savedHead reads what setBack puts back.
func savedHead(t *testing.T, owner *pgxpool.Pool) (head, published string) {
	t.Helper()
	const save = `SELECT (SELECT row_to_json(h)::text FROM log_head h), (SELECT row_to_json(p)::text FROM log_published p)`
	if err := owner.QueryRow(t.Context(), save).Scan(&head, &published); err != nil {
		t.Fatal(err)
	}
	return head, published
}

// setBack makes the database as it was when the log had four entries and head and published were
// read; batches before a number were committed by then.
func setBack(t *testing.T, owner *pgxpool.Pool, head, published string, batches int) {
	t.Helper()
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{`DELETE FROM log_entry WHERE idx >= 4`, nil},
		{`DELETE FROM journal_batch WHERE n >= $1`, []any{batches}},
		{`DELETE FROM log_checkpoint WHERE size > 4; DELETE FROM log_head; DELETE FROM log_published`, nil},
		{`INSERT INTO log_head SELECT * FROM json_populate_record(NULL::log_head, $1::json)`, []any{head}},
		{`INSERT INTO log_published SELECT * FROM json_populate_record(NULL::log_published, $1::json)`, []any{published}},
		{`DELETE FROM log_pending`, nil}, // a new head adds what is there
	} {
		if _, err := owner.Exec(t.Context(), step.sql, step.args...); err != nil {
			t.Fatal(err)
		}
	}
}

// A batch that was committed before the moment of the restore and shown after it is neither lost
// nor added twice, and the log goes on.
func TestRecoveryAddsNoBatchTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, owner := newPress(t, url), pgtest.Open(t, url, "")
	p.grow(3)
	p.publish(p.publisher())
	head, published := savedHead(t, owner)
	p.grow(2)
	p.publish(p.publisher())
	setBack(t, owner, head, published, 4)
	recovery := publiclog.Recovery{Pool: pgtest.Open(t, url, pg.Owner), Tiles: p.tiles, Reason: logentry.Restored}
	done, err := recovery.Run(t.Context())
	if want := (publiclog.Recovered{From: 4, To: 6, Lost: 1, Answers: 3}); err != nil || done != want {
		t.Fatalf("%+v, %v; want %+v", done, err, want)
	}
	p.next = 100
	for i := range int64(2) {
		p.grow(1)
		if size, err := p.publisher().Publish(t.Context()); err != nil || size != 8+i {
			t.Fatalf("after the recovery: size %d, %v", size, err)
		}
	}
	wantNothingFound(t, p.pool)
}

// A backup between the commit of something and its entry has the entry still pending, and the
// tiles have it: it is added once, also if the recovery runs before the service.
func TestRecoveryAddsNothingThatIsPendingTwice(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, owner := newPress(t, url), pgtest.Open(t, url, "")
	p.grow(3)
	p.publish(p.publisher())
	head, published := savedHead(t, owner)
	const hour = `INSERT INTO audit_hour (hour, entries, hash) VALUES ('2026-11-17T09:00:00Z', 3, sha256('hour'))`
	if _, err := owner.Exec(t.Context(), hour); err != nil {
		t.Fatal(err)
	}
	var kind int16
	var body []byte
	if err := owner.QueryRow(t.Context(), `SELECT kind, body FROM log_pending`).Scan(&kind, &body); err != nil {
		t.Fatal(err)
	}
	tick(t, p.log, 1)
	if size, err := p.publisher().Publish(t.Context()); err != nil || size != 5 {
		t.Fatalf("size %d, %v", size, err)
	}
	setBack(t, owner, head, published, 3)
	if _, err := owner.Exec(t.Context(), `INSERT INTO log_pending (kind, body) VALUES ($1, $2)`, kind, body); err != nil {
		t.Fatal(err)
	}
	recovery := publiclog.Recovery{Pool: pgtest.Open(t, url, pg.Owner), Tiles: p.tiles, Reason: logentry.Restored}
	if done, err := recovery.Run(t.Context()); err != nil || done != (publiclog.Recovered{From: 4, To: 5}) {
		t.Fatalf("%+v, %v", done, err)
	}
	tick(t, p.log, 0)
	wantNothingFound(t, p.pool)
}
