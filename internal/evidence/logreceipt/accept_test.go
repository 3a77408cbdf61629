package logreceipt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/receipt"
)

const (
	acceptOrigin = "lineproof.example/log/0/2027"
	reason       = "lost by the restore, sent by the bank"
)

// lost is a service whose database has lost a batch that the public log has.
type lost struct {
	owner   *pgxpool.Pool
	super   *pgxpool.Pool
	journal *journal.Journal
	key     *logkey.Key
	maker   *logreceipt.Maker
	service *logreceipt.Acceptance
	entries []record.Entry
	texts   [][]byte // their receipts from before
}

func newLost(t *testing.T) *lost {
	t.Helper()
	url := pgtest.URL(t)
	pool := pgtest.Open(t, url, pg.Serve)
	l := &lost{owner: pgtest.Open(t, url, pg.Owner), super: pgtest.Open(t, url, "")}
	l.journal, l.key = must(journal.Open(t.Context(), pool, "a", 2))(t), logtest.NewKey(t, acceptOrigin)
	log := &publiclog.Log{Pool: pool, Origin: acceptOrigin}
	check(t, log.Open(t.Context()))
	archive, tiles := must(blob.OpenDir(t.TempDir()))(t), must(blob.OpenDir(t.TempDir()))(t)
	at := now() // one batch has one time
	for i := range 3 {
		l.entries = append(l.entries, newEntry(at, i))
	}
	check(t, l.journal.Record(t.Context(), func(pg.DB) ([]record.Entry, error) { return l.entries, nil }))
	_ = must(log.Tick(t.Context()))(t)
	_ = must(publiclog.NewPublisher(log, tiles, l.key).Publish(t.Context()))(t)
	l.maker = &logreceipt.Maker{Pool: pool, Archive: archive, Tiles: tiles, Origin: acceptOrigin}
	for i := range l.entries {
		r := must(l.maker.Make(t.Context(), must(l.maker.Find(t.Context(), l.entries[i].RequestID))(t), false))(t)
		l.texts = append(l.texts, must(json.Marshal(r))(t))
	}
	_, err := l.owner.Exec(t.Context(), `DELETE FROM journal_entry; DELETE FROM journal_batch; UPDATE log_entry SET lost = true WHERE kind = 1`)
	check(t, err)
	l.service = &logreceipt.Acceptance{Pool: l.owner, Files: archive, Now: time.Now}
	return l
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func newEntry(at time.Time, i int) record.Entry {
	return record.Entry{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Status: "NORMAL", MobileNetwork: "MTN",
		LineVersion: 3, PolicyVersion: 1, PlanVersion: 2, Rules: 1, Nonce: record.NewNonce(), Personal: record.Personal{Number: 2348031234567 + int64(i), PhoneNumber: "0803 123 4567"},
	}
}

func (l *lost) accept(t *testing.T, i int) error {
	t.Helper()
	_, err := l.service.Accept(t.Context(), must(receipt.Parse(l.texts[i]))(t), reason)
	return err
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A lost record comes back by its receipt, once: it is read and found as it was, its receipt
// is the same as before, and it can be erased.
func TestLostRecordComesBack(t *testing.T) {
	t.Parallel()
	l := newLost(t)
	want := l.entries[1]
	check(t, l.accept(t, 1))
	if got := must(journal.Get(t.Context(), l.owner, want.RequestID))(t); got != want {
		t.Errorf("it came back as %+v, want %+v", got, want)
	}
	if _, err := journal.Get(t.Context(), l.owner, l.entries[0].RequestID); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("another record of the batch: %v", err)
	}
	again := must(l.maker.Make(t.Context(), must(l.maker.Find(t.Context(), want.RequestID))(t), false))(t)
	if text := must(json.Marshal(again))(t); string(text) != string(l.texts[1]) {
		t.Errorf("its receipt is %s, want %s", text, l.texts[1])
	}
	if n := len(l.search(t, want.Number)); n != 1 {
		t.Errorf("a search finds %d records", n)
	}
	if err := l.accept(t, 1); !errors.Is(err, logreceipt.ErrThere) {
		t.Errorf("a second time: %v", err)
	}
	var audited int
	check(t, l.owner.QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action = 'journal.record_returned' AND subject_id = $1`, want.RequestID).Scan(&audited))
	if audited != 1 {
		t.Errorf("it was audited %d times", audited)
	}
	l.mark(t, &want)
	archiver := &journal.Archiver{Pool: l.owner, Files: l.service.Files, Now: time.Now}
	if n, err := archiver.Erase(t.Context(), want.At); err != nil || n != 1 {
		t.Fatalf("%d records were erased, %v", n, err)
	}
	if got := must(journal.Get(t.Context(), l.owner, want.RequestID))(t); !got.Erased() || got.Number != 0 || got.Status != want.Status {
		t.Errorf("after the erasure it is %+v", got)
	}
	if n := len(l.search(t, want.Number)); n != 0 {
		t.Errorf("after the erasure a search finds %d records", n)
	}
}

// The bytes of an erased record leave the file of the table, too: an erasure that an older
// transaction kept from that says so, and the next one does it.
func TestErasureOfARecordThatCameBackLeavesNoBytes(t *testing.T) {
	t.Parallel()
	l := newLost(t)
	want := l.entries[1]
	check(t, l.accept(t, 1))
	l.mark(t, &want)
	old := must(l.owner.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead}))(t)
	_ = must(old.Exec(t.Context(), `SELECT FROM entity`))(t)
	archiver := &journal.Archiver{Pool: l.owner, Files: l.service.Files, Now: time.Now, OldTransactions: 300 * time.Millisecond}
	if n, err := archiver.Erase(t.Context(), want.At); err == nil || !strings.Contains(err.Error(), "a transaction that began before the erasure") {
		t.Errorf("beside an older transaction: %d records, %v", n, err)
	}
	check(t, old.Rollback(t.Context()))
	if n, err := archiver.Erase(t.Context(), want.At); err != nil || n != 0 {
		t.Errorf("again: %d records, %v", n, err)
	}
	var file []byte
	check(t, l.super.QueryRow(t.Context(), `SELECT pg_read_binary_file(pg_relation_filepath('journal_returned'))`).Scan(&file))
	if len(file) == 0 || bytes.Contains(file, []byte(want.PhoneNumber)) {
		t.Errorf("the file of the table, of %d bytes, has the number", len(file))
	}
}

// What the log never had because its database was lost before comes back by the promise that
// came with the answer, if the key of the log has signed it.
func TestPromisedRecordComesBackThatTheLogNeverHad(t *testing.T) {
	t.Parallel()
	l := newLost(t)
	want := newEntry(now(), 7)
	signer := must(logreceipt.NewSigner(t.Context(), l.key, time.Now(), func(context.Context, string) error { return nil }))(t)
	var promised *logreceipt.PromisedBatch
	check(t, l.journal.RecordPrepared(t.Context(), func(pg.DB) ([]record.Entry, error) { return []record.Entry{want}, nil },
		func(b *journal.Prepared) { promised = signer.Sign(b) }))
	text := logreceipt.Promise{Batch: promised}.Append("", nil)
	_, err := l.owner.Exec(t.Context(), `DELETE FROM journal_entry; DELETE FROM journal_batch`)
	check(t, err)

	accepted := func(text []byte, key *logkey.Key) error {
		l.service.Policy = nil
		if key != nil {
			l.service.Policy = must(receipt.NewPolicy(key.Verifier()))(t)
		}
		_, err := l.service.Accept(t.Context(), must(receipt.Parse(text))(t), reason)
		return err
	}
	if err := accepted(text, nil); !errors.Is(err, logreceipt.ErrNotLost) {
		t.Errorf("without the key of the log: %v", err)
	}
	if err := accepted(text, logtest.NewKey(t, acceptOrigin)); !errors.Is(err, logreceipt.ErrNotLost) {
		t.Errorf("signed with another key: %v", err)
	}
	if err := accepted(bytes.Replace(text, []byte(`"n":`), []byte(`"n":1`), 1), l.key); !errors.Is(err, logreceipt.ErrNotLost) {
		t.Errorf("of another batch: %v", err)
	}
	check(t, accepted(text, l.key))
	if got := must(journal.Get(t.Context(), l.owner, want.RequestID))(t); got != want {
		t.Errorf("it came back as %+v, want %+v", got, want)
	}
	if err := accepted(text, l.key); !errors.Is(err, logreceipt.ErrThere) {
		t.Errorf("a second time: %v", err)
	}
}

func (l *lost) search(t *testing.T, number int64) (found []record.Entry) {
	t.Helper()
	s := journal.Search{
		Pool: l.owner, Files: l.service.Files, From: time.Now().AddDate(0, 0, -1), To: time.Now().AddDate(0, 0, 1), Numbers: []int64{number},
		Match: func(n, _ int64) bool { return n == number },
	}
	check(t, s.Run(t.Context(), func(e *record.Entry) error { found = append(found, *e); return nil }))
	return found
}

// mark makes an erasure cover a record.
func (l *lost) mark(t *testing.T, e *record.Entry) {
	t.Helper()
	check(t, pg.InTx(t.Context(), l.owner, func(tx pg.Tx) error {
		return journal.MarkErased(t.Context(), tx, uuid.New(), []journal.Erased{{RequestID: e.RequestID, Hash: e.Hash()}}, nil)
	}))
}

// A record that an erasure covers stays erased, one that is not lost is refused, and so is
// what is no receipt of this service, and what has no reason.
func TestOnlyLostRecordsComeBack(t *testing.T) {
	t.Parallel()
	l := newLost(t)
	l.mark(t, &l.entries[0])
	if err := l.accept(t, 0); !errors.Is(err, logreceipt.ErrErased) {
		t.Errorf("an erased record: %v", err)
	}
	other := newLost(t)
	if _, err := l.service.Accept(t.Context(), must(receipt.Parse(other.texts[0]))(t), reason); !errors.Is(err, logreceipt.ErrNotLost) {
		t.Errorf("the receipt of another service: %v", err)
	}
	r := must(receipt.Parse(l.texts[1]))(t)
	r.Public[40] ^= 1
	if _, err := l.service.Accept(t.Context(), r, reason); !errors.Is(err, logreceipt.ErrNoRecord) {
		t.Errorf("an altered receipt: %v", err)
	}
	if _, err := l.service.Accept(t.Context(), must(receipt.Parse(l.texts[1]))(t), ""); err == nil {
		t.Error("without a reason it was accepted")
	}
	_, err := l.owner.Exec(t.Context(), `UPDATE log_entry SET lost = false`)
	check(t, err)
	if err := l.accept(t, 1); !errors.Is(err, logreceipt.ErrNotLost) {
		t.Errorf("a record of a batch that is not lost: %v", err)
	}
	var n int
	check(t, l.owner.QueryRow(t.Context(), `SELECT count(*) FROM journal_returned`).Scan(&n))
	if n != 0 {
		t.Errorf("%d records came back", n)
	}
}
