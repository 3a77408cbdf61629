package logreceipt_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/receipt"
)

const origin = "lineproof.example/log/0/2027"

// env is a journal with its published log.
type env struct {
	t         *testing.T
	pool      *pgxpool.Pool
	owner     *pgxpool.Pool
	journal   *journal.Journal
	log       *publiclog.Log
	publisher *publiclog.Publisher
	maker     *logreceipt.Maker
	key       string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url := pgtest.URL(t)
	e := &env{t: t, pool: pgtest.Open(t, url, pg.Serve), owner: pgtest.Open(t, url, pg.Owner)}
	var err error
	if e.journal, err = journal.Open(t.Context(), e.pool, "a", 2); err != nil {
		t.Fatal(err)
	}
	e.log = &publiclog.Log{Pool: e.pool, Origin: origin}
	if err := e.log.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	tiles, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive, err := blob.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key := logtest.NewKey(t, origin)
	e.key = key.Verifier()
	e.publisher = publiclog.NewPublisher(e.log, tiles, key)
	e.maker = &logreceipt.Maker{Pool: e.pool, Archive: archive, Tiles: tiles, Origin: origin}
	return e
}

// answer records a batch of answers.
func (e *env) answer(count int) (all []record.Entry) {
	e.t.Helper()
	at := time.Now().UTC().Truncate(time.Millisecond)
	for i := range count {
		all = append(all, record.Entry{
			RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment", PurposeText: "fraud",
			Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 3, PolicyVersion: 1, PlanVersion: 2, Rules: 1, Coverage: record.Coverage{3, 1}, Nonce: record.NewNonce(),
			Personal: record.Personal{Number: 2348031234567 + int64(i), PhoneNumber: "0803 123 4567", ExternalID: strconv.Itoa(i), Extra: `{"changedSince":"no"}`},
		})
	}
	if err := e.journal.Record(e.t.Context(), func(pg.DB) ([]record.Entry, error) { return all, nil }); err != nil {
		e.t.Fatal(err)
	}
	return all
}

func (e *env) publish() {
	e.t.Helper()
	if _, err := e.log.Tick(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.publisher.Publish(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// receipt returns the receipt of a record as it is sent.
func (e *env) receipt(id uuid.UUID) ([]byte, error) {
	e.t.Helper()
	b, err := e.maker.Find(e.t.Context(), id)
	if err != nil {
		e.t.Fatal(err)
	}
	r, err := e.maker.Make(e.t.Context(), b, false)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		e.t.Fatal(err)
	}
	return text, nil
}

func verify(text []byte, key string) (*receipt.Verified, error) {
	r, err := receipt.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := receipt.NewPolicy(key)
	if err != nil {
		return nil, err
	}
	return r.Verify(p)
}

// Every answer of every batch has a receipt that proves all of its fields.
func TestReceiptProvesEveryField(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var all []record.Entry
	for _, count := range []int{1, 2, 3, 7, 150} {
		all = append(all, e.answer(count)...)
		e.publish()
	}
	for i := range all {
		text, err := e.receipt(all[i].RequestID)
		if err != nil {
			t.Fatal(err)
		}
		v, err := verify(text, e.key)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		want := &all[i]
		if v.RequestID != want.RequestID.String() || !v.At.Equal(want.At) || v.Entity != want.Entity.String() || v.Key != want.Key.String() || v.Status != want.Status ||
			v.MobileNetwork != want.MobileNetwork || v.Number != want.Number || v.ExternalID != want.ExternalID || v.Extra != want.Extra || v.Erased || v.Origin != origin || v.Rules != 1 {
			t.Fatalf("it proves %+v, want %+v", v, want)
		}
		if len(text) > 3000 {
			t.Errorf("the receipt has %d bytes", len(text))
		}
	}
}

// A receipt in which any character is another one is refused, or says the same.
func TestAlteredReceiptProvesNothingElse(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.answer(5)[3].RequestID
	e.answer(1)
	e.publish()
	text, err := e.receipt(id)
	if err != nil {
		t.Fatal(err)
	}
	good, err := verify(text, e.key)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range text {
		for _, c := range []byte{text[i] ^ 1, text[i] ^ 0x20, 'A', '='} {
			if c == text[i] {
				continue
			}
			altered := append([]byte{}, text...)
			altered[i] = c
			v, err := verify(altered, e.key)
			switch {
			case err != nil:
				refused++
			case v.RequestID != good.RequestID || v.Status != good.Status || v.Number != good.Number || v.Index != good.Index:
				t.Fatalf("with %q at %d it proves something else: %s", c, i, altered)
			}
		}
	}
	if refused < 3*len(text) { // the statement in words may be altered: it proves nothing
		t.Errorf("%d of about %d alterations were refused", refused, 4*len(text))
	}
	other := newEnv(t)
	if _, err := verify(text, other.key); err == nil {
		t.Error("another key accepts the receipt")
	}
}

// Before a checkpoint covers the answer there is no receipt, and the error says when to
// ask again; from before the log there is never one.
func TestReceiptOfWhatTheLogDoesNotCover(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.answer(1)[0].RequestID
	if _, err := e.receipt(id); !isPending(err) {
		t.Errorf("before a tick: %v", err)
	}
	if _, err := e.log.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.receipt(id); !isPending(err) {
		t.Errorf("before a checkpoint: %v", err)
	}
}

// A receipt in the form of c2sp.org/tlog-proof proves the same, and no other spelling of it
// is accepted.
func TestTlogProofProvesTheSame(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, count := range []int{1, 2, 5, 6, 7, 150} {
		answers := e.answer(count)
		e.publish()
		for i := range answers {
			text, err := e.receipt(answers[i].RequestID)
			if err != nil {
				t.Fatal(err)
			}
			r, err := receipt.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			form := r.TlogProof()
			v, err := verify([]byte(form), e.key)
			if err != nil || v.RequestID != answers[i].RequestID.String() || v.Number != answers[i].Number || v.Index < 0 {
				t.Fatalf("record %d of %d: %+v, %v: %s", i, count, v, err, form)
			}
			if i > 0 {
				continue
			}
			for place := range form {
				altered := form[:place] + string(rune(form[place]^1)) + form[place+1:]
				if got, err := verify([]byte(altered), e.key); err == nil && got.RequestID != v.RequestID {
					t.Fatalf("altered at %d it proves something else: %s", place, altered)
				}
			}
		}
	}
}

// An erased record keeps its receipt in this form, too.
func TestTlogProofOfAnErasedRecord(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.answer(3)[1].RequestID
	e.publish()
	b, err := e.maker.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	b.Inner, b.Nonce, b.Personal = b.InnerHash(), [16]byte{}, record.Personal{}
	r, err := e.maker.Make(t.Context(), b, false)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := verify([]byte(r.TlogProof()), e.key); err != nil || !v.Erased || v.Status != "NORMAL" {
		t.Errorf("%+v, %v", v, err)
	}
}

// isPending reports whether an error says that a receipt is not there yet, as expected.
func isPending(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Message == logreceipt.ErrPending.Message && f.IsExpected()
}
