package logreceipt_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

const promiseOrigin = "lineproof.example/log/0/2027"

// newBatch returns a batch as the journal seals it.
func newBatch(tb testing.TB, count int, at time.Time) *journal.Prepared {
	tb.Helper()
	at = at.UTC().Truncate(time.Millisecond)
	b := &journal.Prepared{Epoch: 57, N: 4711, At: at}
	var hashes [][32]byte
	for i := range count {
		e := record.Entry{
			RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Purpose: "payment", PurposeText: "fraud",
			Status: "NORMAL", MobileNetwork: "MTN", LineVersion: 3, PolicyVersion: 1, PlanVersion: 2, Rules: 1, Coverage: record.Coverage{3, 1}, Nonce: record.NewNonce(),
			Personal: record.Personal{Number: 2348031234567 + int64(i), PhoneNumber: "+2348031234567", ExternalID: strconv.Itoa(i), Options: "include=receipt"},
		}
		b.Entries = append(b.Entries, e)
		hashes = append(hashes, e.Hash())
	}
	b.Tree = merkle.NewLevels(count, func(i int) []byte { return hashes[i][:] })
	return b
}

func newSigner(tb testing.TB, key *logkey.Key, now time.Time) *logreceipt.Signer {
	tb.Helper()
	s, err := logreceipt.NewSigner(tb.Context(), key, now, unannounced)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func policyOf(t *testing.T, key *logkey.Key) *receipt.Policy {
	t.Helper()
	p, err := receipt.NewPolicy(key.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func verifyPromise(text []byte, p *receipt.Policy) (*receipt.Promised, error) {
	r, err := receipt.Parse(text)
	if err != nil {
		return nil, err
	}
	return r.VerifyPromise(p)
}

// Every answer of every batch has a receipt that promises all of its fields, and that
// nobody takes for a proof.
func TestPromiseIsVerifiedAndIsNoProof(t *testing.T) {
	t.Parallel()
	key := logtest.NewKey(t, promiseOrigin)
	policy, signer := policyOf(t, key), newSigner(t, key, time.Now())
	for _, count := range []int{1, 2, 3, 7, 150} {
		b := newBatch(t, count, time.Now())
		signed := signer.Sign(b)
		for i := range b.Entries {
			text := logreceipt.Promise{Batch: signed, Index: i}.Append("", nil)
			r, err := receipt.Parse(text)
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if same, err := json.Marshal(r); err != nil || string(same) != string(text) {
				t.Fatalf("it is written as %s, and package json writes %s, %v", text, same, err)
			}
			v, err := r.VerifyPromise(policy)
			if want := &b.Entries[i]; err != nil || v.RequestID != want.RequestID.String() || v.Number != want.Number || v.Status != want.Status || v.Origin != promiseOrigin || !v.Until.Equal(b.At.Add(time.Minute)) {
				t.Fatalf("it promises %+v, %v, want %+v", v, err, want)
			}
			if _, err := r.Verify(policy); !errors.Is(err, receipt.ErrNotYet) {
				t.Errorf("it is taken for a proof: %v", err)
			}
			if len(text) > 2500 {
				t.Errorf("the receipt has %d bytes", len(text))
			}
		}
	}
}

// A promise in which any character is another one is refused, or promises the same.
func TestAlteredPromiseIsRefused(t *testing.T) {
	t.Parallel()
	key := logtest.NewKey(t, promiseOrigin)
	policy := policyOf(t, key)
	b := newBatch(t, 5, time.Now())
	text := logreceipt.Promise{Batch: newSigner(t, key, time.Now()).Sign(b), Index: 3}.Append("", nil)
	good, err := verifyPromise(text, policy)
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
			v, err := verifyPromise(altered, policy)
			switch {
			case err != nil:
				refused++
			case v.RequestID != good.RequestID || v.Number != good.Number || v.Status != good.Status:
				t.Fatalf("with %q at %d it promises something else: %s", c, i, altered)
			}
		}
	}
	if refused < 3*len(text) {
		t.Errorf("%d of about %d alterations were refused", refused, 4*len(text))
	}
}

// Only a key that the log has certified for that time can promise, and only its own batch.
func TestPromiseNeedsACertifiedKey(t *testing.T) {
	t.Parallel()
	key, other := logtest.NewKey(t, promiseOrigin), logtest.NewKey(t, promiseOrigin)
	policy, now := policyOf(t, key), time.Now()
	promised := func(by *logreceipt.Signer, at time.Time) *receipt.Receipt {
		r, err := receipt.Parse(logreceipt.Promise{Batch: by.Sign(newBatch(t, 3, at)), Index: 1}.Append("", nil))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good, signer := promised(newSigner(t, key, now), now), newSigner(t, key, now)
	for what, r := range map[string]*receipt.Receipt{
		"by another log":               promised(newSigner(t, other, now), now),
		"before the key was certified": promised(signer, now.Add(-10*time.Minute)),
		"with the key of another node": func() *receipt.Receipt { r := promised(signer, now); r.Key = good.Key; return r }(),
		"about another batch": func() *receipt.Receipt {
			r := promised(signer, now)
			r.Promise, r.Key = good.Promise, good.Key
			return r
		}(),
		"with a promise as the key":  func() *receipt.Receipt { r := promised(signer, now); r.Key = r.Promise; return r }(),
		"about another number of it": func() *receipt.Receipt { r := promised(signer, now); r.Batch.N++; return r }(),
	} {
		if _, err := r.VerifyPromise(policy); !errors.Is(err, receipt.ErrPromise) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if text := (logreceipt.Promise{Batch: signer.Sign(newBatch(t, 1, now.Add(50*time.Hour)))}).Append("", nil); len(text) > 0 {
		t.Errorf("after its key has expired it promises %s", text)
	}
	if (logreceipt.Promise{}).Append(`,"receipt":`, []byte("x"))[0] != 'x' || strings.Contains(good.Promise, "2348") {
		t.Error("a promise has a number, or there is one where none was wanted")
	}
}

// BenchmarkReceiptsForAll measures what promises cost an answer, in batches of 150 of which
// all want one: one signature, the paths and the JSON of the receipts. The tree is made for
// the journal in any case, and measured by BenchmarkTree.
func BenchmarkReceiptsForAll(b *testing.B) {
	const count = 150
	signer := newSigner(b, logtest.NewKey(b, promiseOrigin), time.Now())
	batch := newBatch(b, count, time.Now())
	var to []byte
	before := cpu(b)
	for b.Loop() {
		signed := signer.Sign(batch)
		for i := range count {
			to = logreceipt.Promise{Batch: signed, Index: i}.Append(`,"receipt":`, to[:0])
		}
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/count, "cpu-ns/answer")
	b.ReportMetric(float64(len(to)), "bytes/receipt")
}

// cpu returns the processor time that this process has used, which says more than the clock
// on a machine that does other things.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// unannounced is for tests without a public log.
func unannounced(context.Context, string) error { return nil }
