package witness_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/witness"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/receipt"
)

const origin = "lineproof.example/log/0/2027"

// history is a log, whose entries differ from those of a history with another name.
type history struct {
	name   string
	hashes logtest.Hashes
	key    *logkey.Key
}

func newHistory(t *testing.T, name string, key *logkey.Key, same int64, entries int64) *history {
	t.Helper()
	h := &history{name: name, key: key}
	for n := range entries {
		entry := fmt.Append(nil, n)
		if n >= same {
			entry = fmt.Append(entry, name)
		}
		h.hashes = h.hashes.With(t, n, entry)
	}
	return h
}

func (h *history) checkpoint(t *testing.T, size int64) string {
	t.Helper()
	root, err := tlog.TreeHash(size, h.hashes)
	if err != nil {
		t.Fatal(err)
	}
	note, err := h.key.SignCheckpoint(size, root[:])
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// request returns what a log sends when it has grown from one size to another.
func (h *history) request(t *testing.T, old, size int64) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "old %d\n", old)
	if old > 0 && old < size {
		proof, err := tlog.ProveTree(size, old, h.hashes)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range proof {
			text.WriteString(hash.String() + "\n")
		}
	}
	return text.String() + "\n" + h.checkpoint(t, size)
}

// send posts a request and returns status and body.
func send(t *testing.T, w *witness.Witness, request string) (int, string) {
	t.Helper()
	res := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/add-checkpoint", strings.NewReader(request))
	w.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(res, r)
	return res.Code, res.Body.String()
}

// A witness signs a log that grows, also after it was started again, and nothing that
// contradicts what it has signed.
func TestWitnessSignsOnlyWhatContinues(t *testing.T) {
	t.Parallel()
	logKey, dir := logtest.NewKey(t, origin), t.TempDir()
	key := witness.NewKey(logtest.NewKey(t, "witness.example"))
	honest, fork := newHistory(t, "honest", logKey, 0, 40), newHistory(t, "fork", logKey, 5, 40)
	stranger := newHistory(t, "honest", logtest.NewKey(t, origin), 0, 40)
	elsewhere := newHistory(t, "honest", logtest.NewKey(t, "other.example/log"), 0, 40)
	policy, err := receipt.ParsePolicy("log " + logKey.Verifier() + "\nwitness w " + key.Verifier() + "\nquorum w\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what, request string
		status        int
		body          string
	}{
		{"the first checkpoint", honest.request(t, 0, 7), 200, ""},
		{"the same again, from nothing", honest.request(t, 0, 7), 409, "7\n"},
		{"the same again", honest.request(t, 7, 7), 200, ""},
		{"growth", honest.request(t, 7, 20), 200, ""},
		{"a smaller one", honest.request(t, 7, 9), 409, "20\n"},
		{"a fork of the same size", fork.request(t, 20, 20), 422, ""},
		{"a fork that has grown", fork.request(t, 20, 30), 422, ""},
		{"growth without a proof", "old 20\n\n" + honest.checkpoint(t, 30), 422, ""},
		{"a proof for another size", strings.Replace(honest.request(t, 19, 30), "old 19", "old 20", 1), 422, ""},
		{"old above the size", "old 20\n\n" + honest.checkpoint(t, 10), 400, ""},
		{"another key", stranger.request(t, 20, 30), 403, ""},
		{"another log", elsewhere.request(t, 20, 30), 404, ""},
		{"an altered checkpoint", strings.Replace(honest.request(t, 20, 30), "\n30\n", "\n31\n", 1), 403, ""},
		{"a size in another spelling", strings.Replace(honest.request(t, 20, 30), "old 20", "old 020", 1), 400, ""},
		{"nothing", "", 400, ""},
		{"growth after all that", honest.request(t, 20, 40), 200, ""},
	} {
		w, err := witness.Open(key, []string{logKey.Verifier(), logtest.NewKey(t, origin).Verifier()}, dir) // started again each time; the log has a next key, which signs nothing
		if err != nil {
			t.Fatal(err)
		}
		status, body := send(t, w, step.request)
		if status != step.status || step.body != "" && body != step.body {
			t.Errorf("%s: %d %q, want %d %q", step.what, status, body, step.status, step.body)
		}
		if status == http.StatusOK {
			_, note, _ := strings.Cut(step.request, "\n\n")
			if _, seen, err := policy.Open(note + body); err != nil || len(seen) != 1 {
				t.Errorf("%s: the signature is %q: %v, %v", step.what, body, seen, err)
			}
		}
	}
}

// Monitors read the last signed checkpoint.
func TestMonitorsReadTheLastCheckpoint(t *testing.T) {
	t.Parallel()
	logKey := logtest.NewKey(t, origin)
	key := witness.NewKey(logtest.NewKey(t, "witness.example"))
	w, err := witness.Open(key, []string{logKey.Verifier()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const hash = "/" + "%s" + "/checkpoint"
	get := func(path string) (int, string) {
		res := httptest.NewRecorder()
		w.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(res, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		return res.Code, res.Body.String()
	}
	path := fmt.Sprintf(hash, witness.HashOf(origin))
	if status, _ := get(path); status != http.StatusNotFound {
		t.Errorf("before the first: %d", status)
	}
	h := newHistory(t, "honest", logKey, 0, 9)
	_, signature := send(t, w, h.request(t, 0, 9))
	if status, note := get(path); status != http.StatusOK || note != h.checkpoint(t, 9)+signature {
		t.Errorf("%d: %q", status, note)
	}
	if status, _ := get(fmt.Sprintf(hash, witness.HashOf("x"))); status != http.StatusNotFound {
		t.Errorf("of another log: %d", status)
	}
}

// While the key of a log is replaced, a witness takes checkpoints that either key has
// signed, and goes on from what it has seen.
func TestWitnessTakesBothKeysOfALog(t *testing.T) {
	t.Parallel()
	before, after := logtest.NewKey(t, origin), logtest.NewKey(t, origin)
	w, err := witness.Open(witness.NewKey(logtest.NewKey(t, "witness.example")), []string{before.Verifier(), after.Verifier()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		key       *logkey.Key
		old, size int64
		history   string
		status    int
	}{
		{before, 0, 7, "honest", http.StatusOK},
		{after, 7, 9, "honest", http.StatusOK},
		{before, 9, 12, "honest", http.StatusOK},
		{after, 12, 14, "fork", http.StatusUnprocessableEntity},
		{logtest.NewKey(t, origin), 12, 14, "honest", http.StatusForbidden},
	} {
		if status, body := send(t, w, newHistory(t, step.history, step.key, 0, 20).request(t, step.old, step.size)); status != step.status {
			t.Errorf("from %d to %d: %d %s, want %d", step.old, step.size, status, body, step.status)
		}
	}
}
