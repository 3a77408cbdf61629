package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/evidence/logreceipt"
	"github.com/lineproof/lineproof/internal/evidence/monitor"
	"github.com/lineproof/lineproof/internal/evidence/record"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// answer answers as the service does, and returns the entry of the batch and the promise.
func (w *world) answer(n int64) (entry []byte, promised *receipt.Receipt) {
	w.t.Helper()
	at := w.now.UTC().Truncate(time.Millisecond)
	b := &journal.Prepared{Epoch: 1, N: n, At: at}
	var hash [32]byte
	b.Entries = []record.Entry{{
		RequestID: record.NewRequestID(at), At: at, Entity: uuid.New(), Key: uuid.New(), Type: "number", Mode: "live", Status: "NORMAL", Nonce: record.NewNonce(),
		Personal: record.Personal{Number: 2348031234567},
	}}
	hash = b.Entries[0].Hash()
	b.Tree = merkle.NewLevels(1, func(int) []byte { return hash[:] })
	signer, err := logreceipt.NewSigner(w.t.Context(), w.key, w.now, func(context.Context, string) error { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	promised, err = receipt.Parse(logreceipt.Promise{Batch: signer.Sign(b)}.Append("", nil))
	if err != nil {
		w.t.Fatal(err)
	}
	return (&logentry.Batch{At: at, Epoch: 1, N: n, Count: 1, Root: *b.Tree.Root()}).Encode(), promised
}

// keep writes a receipt to the directory that the monitor watches.
func (w *world) keep(name string, r *receipt.Receipt) {
	w.t.Helper()
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.monitor.Receipts, name+".json"), text, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// proven returns the receipt with the proof from the newest checkpoint.
func (w *world) proven(r *receipt.Receipt, index int64) *receipt.Receipt {
	w.t.Helper()
	size := int64(len(w.entries))
	path, err := tlog.ProveRecord(size, index, w.hashes)
	if err != nil {
		w.t.Fatal(err)
	}
	var proof strings.Builder
	fmt.Fprintf(&proof, "c2sp.org/tlog-proof@v1\nindex %d\n", index)
	for _, hash := range path {
		proof.WriteString(hash.String() + "\n")
	}
	p := *r
	p.Promise, p.Key, p.Proof = "", "", proof.String()+"\n"+string(w.files["checkpoint"])
	return &p
}

// Receipts that the log keeps are counted, promises have their time, and what is not a
// receipt of the log does not blame it.
func TestReceiptsThatAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.monitor.Receipts = t.TempDir()
	w.grow(600)
	entry, promised := w.answer(600)
	w.entries = append(w.entries, entry)
	w.grow(300)
	w.publish()
	_, pending := w.answer(5000)
	w.keep("promised", promised)
	w.keep("proven", w.proven(promised, 600))
	w.keep("pending", pending)
	other := *promised
	other.Batch.N++
	w.keep("wrong", &other)
	for range 2 { // the second time from what it remembers
		r, err := w.monitor.Check(t.Context())
		if got := r.Receipts; err != nil || got.Kept != 2 || got.Pending != 1 || len(got.Wrong) != 1 || got.Wrong[0] != "wrong.json" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

// A broken promise and an answer that was taken out are found, and the evidence shows no
// number.
func TestReceiptsThatAreNotKept(t *testing.T) {
	t.Parallel()
	for what, misdeed := range map[string]struct {
		do    func(w *world)
		found string
	}{
		"a promise that is not kept": {func(w *world) {
			_, promised := w.answer(5000)
			w.keep("promised", promised)
			w.now = w.now.Add(2 * time.Minute)
			w.monitor.Policy = w.unwitnessed() // the witnesses have the clock of this machine
			w.grow(3)
			w.publish()
		}, "has promised to have batch 5000"},
		"a proven answer that is another one now": {func(w *world) {
			entry, promised := w.answer(5000)
			w.entries = append(w.entries, entry)
			w.publish()
			w.keep("proven", w.proven(promised, 5))
			w.entries[5] = w.entry(77)
			for i := range w.witnesses {
				w.signed[i] = 0
				w.bribe(i)
			}
			w.publish()
		}, "another entry there"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.monitor.Receipts = t.TempDir()
			w.grow(5)
			w.publish()
			if _, err := w.monitor.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			misdeed.do(w)
			_, err := w.monitor.Check(t.Context())
			if v, ok := errors.AsType[*monitor.Violation](err); !ok || !strings.Contains(v.What, misdeed.found) {
				t.Fatalf("it says %v, want %q", err, misdeed.found)
			}
			kept, err := filepath.Glob(filepath.Join(w.monitor.Dir, "violation-*", "*"))
			if err != nil || len(kept) < 4 {
				t.Errorf("it kept %v, %v", kept, err)
			}
			for _, file := range kept {
				if strings.HasSuffix(file, ".json") {
					t.Errorf("the receipt itself is in the evidence: %s", file)
				}
			}
		})
	}
}

// A history that is shown to others is compared with that of the log, also if it is longer.
func TestPeersSeeTheSameHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var shown []byte
	peer := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/checkpoint" || shown == nil {
			http.NotFound(out, r)
			return
		}
		_, _ = out.Write(shown)
	}))
	t.Cleanup(peer.Close)
	w.monitor.Peers = []string{peer.URL}
	w.grow(300)
	w.publish()
	if r, err := w.monitor.Check(t.Context()); err != nil || r.Compared != 0 || len(r.Unreachable) != 1 {
		t.Fatalf("a peer that shows nothing: %+v, %v", r, err)
	}
	older := w.files["checkpoint"]
	w.grow(5)
	w.publish()
	for _, shown = range [][]byte{older, w.files["checkpoint"]} {
		if r, err := w.monitor.Check(t.Context()); err != nil || r.Compared != 1 {
			t.Fatalf("a peer with the same history: %+v, %v", r, err)
		}
	}
	split := newWorld(t)
	split.key, split.entries = w.key, append([][]byte{}, w.entries...)
	split.entries[7] = split.entry(999)
	split.publish()
	shown = split.files["checkpoint"]
	_, err := w.monitor.Check(t.Context())
	if v, ok := errors.AsType[*monitor.Violation](err); !ok || !strings.Contains(v.What, "same history") || v.Evidence["checkpoint-of-another.txt"] != string(shown) {
		t.Errorf("another history is shown to a peer: %v", err)
	}
}
