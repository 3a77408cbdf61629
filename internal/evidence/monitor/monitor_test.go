package monitor_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/monitor"
	"github.com/lineproof/lineproof/internal/evidence/witness"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

const origin = "lineproof.example/log/0/2027"

// world is a log whose owner can do anything: entries, tiles and the key are the test's. Two
// witnesses are not.
type world struct {
	t         *testing.T
	key       *logkey.Key
	entries   [][]byte
	files     map[string][]byte
	witnesses []*witness.Witness
	states    []string       // the directories of the witnesses
	signed    []int64        // up to which size each witness has signed
	hashes    logtest.Hashes // of the tree as it was published last
	monitor   *monitor.Monitor
	now       time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, key: logtest.NewKey(t, origin), files: map[string][]byte{}, now: time.Now().Truncate(time.Second)}
	var policy strings.Builder
	policy.WriteString("log " + w.key.Verifier() + "\n")
	for i := range 2 {
		key := witness.NewKey(logtest.NewKey(t, fmt.Sprintf("w%d.example", i)))
		w.states = append(w.states, t.TempDir())
		one, err := witness.Open(key, []string{w.key.Verifier()}, w.states[i])
		if err != nil {
			t.Fatal(err)
		}
		w.witnesses = append(w.witnesses, one)
		fmt.Fprintf(&policy, "witness w%d %s\n", i, key.Verifier())
	}
	w.signed = make([]int64, 2)
	p, err := receipt.ParsePolicy(policy.String() + "group both all w0 w1\nquorum both\n")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		content, ok := w.files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(out, r)
			return
		}
		_, _ = out.Write(content)
	}))
	t.Cleanup(server.Close)
	w.monitor = &monitor.Monitor{Source: monitor.Source(server.URL), Policy: p, Dir: t.TempDir(), Now: func() time.Time { return w.now }}
	return w
}

// unwitnessed returns the policy that believes the log alone.
func (w *world) unwitnessed() *receipt.Policy {
	w.t.Helper()
	p, err := receipt.NewPolicy(w.key.Verifier())
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// entry returns an entry about a batch that was committed now.
func (w *world) entry(n int64) []byte {
	return (&logentry.Batch{At: w.now.UTC(), Epoch: 1, N: n, Count: 10, Root: sha256.Sum256(fmt.Append(nil, n))}).Encode()
}

func (w *world) grow(entries int) {
	for range entries {
		w.entries = append(w.entries, w.entry(int64(len(w.entries))))
	}
}

// other adds an entry of another kind.
func (w *world) other(b logentry.Body) {
	kind, body := logentry.EncodeBody(b)
	w.entries = append(w.entries, (&logentry.Entry{Kind: kind, At: w.now.UTC(), Body: body}).Encode())
}

// publish writes the files of the log as it is now, and has the checkpoint signed by the
// witnesses.
func (w *world) publish() {
	w.t.Helper()
	writer := &merkle.TileWriter{}
	put := func(t merkle.Tile, content []byte) error {
		w.files[t.Path()] = append([]byte{}, content...)
		return nil
	}
	w.hashes = nil
	for i, entry := range w.entries {
		if err := writer.Add(entry, put); err != nil {
			w.t.Fatal(err)
		}
		w.hashes = w.hashes.With(w.t, int64(i), entry)
	}
	if err := writer.Flush(put); err != nil {
		w.t.Fatal(err)
	}
	root, err := writer.Root()
	if err != nil {
		w.t.Fatal(err)
	}
	size := int64(len(w.entries))
	note, err := w.key.SignCheckpoint(size, root[:])
	if err != nil {
		w.t.Fatal(err)
	}
	var cosigned strings.Builder
	cosigned.WriteString(note)
	for i, one := range w.witnesses {
		var request strings.Builder
		fmt.Fprintf(&request, "old %d\n", w.signed[i])
		if w.signed[i] > 0 && w.signed[i] < size {
			proof, err := tlog.ProveTree(size, w.signed[i], w.hashes)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, hash := range proof {
				request.WriteString(hash.String() + "\n")
			}
		}
		if signature, err := one.Add(request.String() + "\n" + note); err == nil {
			cosigned.WriteString(signature)
			w.signed[i] = size
		}
	}
	w.files["checkpoint"] = []byte(cosigned.String())
}

// A log that only grows is never reported, and every entry is read once.
func TestHonestLogIsNotReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	total := int64(0)
	for _, entries := range []int{3, 0, 252, 1, 1, 600} {
		w.grow(entries)
		w.publish()
		r, err := w.monitor.Check(t.Context())
		if err != nil || r.Added != int64(entries) || r.Answers != int64(10*entries) || len(r.Witnesses) != 2 {
			t.Fatalf("%+v, %v", r, err)
		}
		total += r.Added
		w.now = time.Now()
	}
	if total != int64(len(w.entries)) {
		t.Errorf("%d of %d entries were read", total, len(w.entries))
	}
}

// A log that replaced its key, and said so before, is not accused: the monitor says that its
// policy is out of date, and goes on with the new one. A key that was never announced is a
// violation.
func TestReplacedKeyIsNoViolation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check := func() error { _, err := w.monitor.Check(t.Context()); return err }
	believe := func(key *logkey.Key) {
		p, err := receipt.NewPolicy(key.Verifier())
		if err != nil {
			t.Fatal(err)
		}
		w.monitor.Policy = p
	}
	believe(w.key)
	w.grow(3)
	w.publish()
	if err := check(); err != nil {
		t.Fatal(err)
	}
	next, stranger := logtest.NewKey(t, origin), logtest.NewKey(t, origin)
	w.other(&logentry.KeyUse{Role: logentry.RoleNext, Value: next.Verifier()})
	w.key.SignWith(next, nil)
	w.publish()
	if err := check(); err != nil {
		t.Fatal(err)
	}
	w.key = next
	w.grow(1)
	w.publish()
	_, accused := errors.AsType[*monitor.Violation](check())
	if err := check(); accused || err == nil || !strings.Contains(err.Error(), next.Verifier()) {
		t.Errorf("with the old policy: %v", err)
	}
	believe(next)
	if err := check(); err != nil {
		t.Errorf("with the new policy: %v", err)
	}
	w.key = stranger
	w.grow(1)
	w.publish()
	if _, accused := errors.AsType[*monitor.Violation](check()); !accused {
		t.Error("a key that was never announced is accepted")
	}
}

// The service publishes with the signatures that there are, so a witness that is away is no misdeed of the log: the monitor
// warns, goes on and still finds every contradiction. Only after the grace it is a finding.
func TestAWitnessThatIsAwayIsAWarningAtFirst(t *testing.T) {
	t.Parallel()
	for what, grown := range map[string]int{"a log that grows": 2, "a quiet log": 0} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			start, all := w.now, w.witnesses
			warned := func(why string, after time.Duration) {
				t.Helper()
				w.now = start.Add(after)
				r, err := w.monitor.Check(t.Context())
				if err != nil || (r.Warning != "") != (why != "") || !strings.Contains(r.Warning, why) || r.Size != int64(len(w.entries)) {
					t.Fatalf("after %s: %+v, %v, want the warning %q", after, r, err, why)
				}
			}
			w.grow(3)
			w.publish()
			warned("", 0)
			why := "the newest signature of a witness is from"
			if grown > 0 { // a quiet log keeps the checkpoint that enough have signed
				w.witnesses = all[:1]
				w.grow(grown)
				w.publish()
				why = "too few witnesses have signed the checkpoint of size 5"
				warned(why, 10*time.Second)
			}
			warned(why, 2*time.Minute)
			warned(why, monitor.Grace-10*time.Second)
			w.now = start.Add(monitor.Grace + 10*time.Second)
			_, err := w.monitor.Check(t.Context())
			if v, found := errors.AsType[*monitor.Violation](err); !found || !strings.Contains(v.What, why) {
				t.Errorf("after the grace: %v", err)
			}
			pages, err := filepath.Glob(filepath.Join(w.monitor.Dir, "violation-*", "README.txt"))
			if err != nil || len(pages) != 1 {
				t.Fatalf("it kept %v, %v", pages, err)
			}
			if page, err := os.ReadFile(pages[0]); err != nil || strings.Contains(string(page), "must not do") || !strings.Contains(string(page), "Nothing that the log has shown contradicts") {
				t.Errorf("it accuses the log: %s, %v", page, err)
			}
			w.witnesses, w.now = all, start
			w.grow(1)
			w.publish()
			warned("", 0)
		})
	}
}

// A monitor that has never seen the signatures of enough witnesses has nothing to rely on, and no reason to wait.
func TestAFirstLookNeedsTheWitnesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.witnesses = w.witnesses[:1]
	w.grow(3)
	w.publish()
	_, err := w.monitor.Check(t.Context())
	if v, found := errors.AsType[*monitor.Violation](err); !found || !strings.Contains(v.What, "too few witnesses") {
		t.Errorf("it says %v", err)
	}
}

// Whatever the owner of the log does with entries, tiles and key, the monitor finds it, and
// keeps what shows it.
func TestEveryMisdeedIsFound(t *testing.T) {
	t.Parallel()
	for what, misdeed := range map[string]struct {
		do    func(w *world)
		found string
	}{
		"an old entry altered, witnesses not asked": {func(w *world) { w.entries[2] = w.entry(99); w.witnesses = nil; w.grow(3); w.publish() }, "do not have the root"},
		"an old entry altered, witnesses asked":     {func(w *world) { w.entries[2] = w.entry(99); w.grow(3); w.publish() }, "do not have the root"},
		"an entry removed":                          {func(w *world) { w.entries = append(w.entries[:2:2], w.entries[3:]...); w.grow(5); w.publish() }, "do not have the root"},
		"the tail cut off":                          {func(w *world) { w.entries = w.entries[:6]; w.signed = []int64{0, 0}; w.publish() }, "had the size 9, and now has 6"},
		"an old checkpoint shown":                   {func(w *world) { w.files["checkpoint"] = w.files["checkpoint at 5"] }, "had the size 9, and now has 5"},
		"the log frozen":                            {func(w *world) { w.now = w.now.Add(monitor.Grace + time.Minute) }, "has stopped"},
		"a bit flipped in a bundle":                 {func(w *world) { w.grow(3); w.publish(); w.files["tile/entries/000.p/12"][900] ^= 1 }, "do not have the root"},
		"a bit flipped in a tile of hashes":         {func(w *world) { w.grow(3); w.publish(); w.files["tile/0/000.p/12"][300] ^= 1 }, "other hashes"},
		"a bundle cut":                              {func(w *world) { w.grow(3); w.publish(); p := "tile/entries/000.p/12"; w.files[p] = w.files[p][:700] }, "bundle"},
		"a batch logged twice":                      {func(w *world) { w.entries = append(w.entries, w.entries[3]); w.publish() }, "twice"},
		"an entry dated back, logged properly":      {func(w *world) { e := w.now; w.now = e.Add(-10 * time.Minute); w.grow(1); w.now = e; w.publish() }, "dated back"},
		"an entry dated ahead, logged properly":     {func(w *world) { e := w.now; w.now = e.Add(10 * time.Minute); w.grow(1); w.now = e; w.publish() }, "after a witness has seen it"},
		"a version of the policy left out":          {func(w *world) { w.other(&logentry.Version{Of: "policy", Number: 2}); w.publish() }, "the last one was 0"},
		"a version of the plan twice": {func(w *world) {
			w.other(&logentry.Version{Of: "plan", Number: 1})
			w.other(&logentry.Version{Of: "plan", Number: 1})
			w.publish()
		}, "the last one was 1"},
		"an hour of the audit trail left out": {func(w *world) {
			h := w.now.UTC().Truncate(time.Hour)
			w.other(&logentry.Hour{Hour: h.Add(-5 * time.Hour)})
			w.other(&logentry.Hour{Hour: h.Add(-3 * time.Hour)})
			w.publish()
		}, "the last hour was"},
		"an hour that is not over": {func(w *world) { w.other(&logentry.Hour{Hour: w.now.UTC().Truncate(time.Hour)}); w.publish() }, "not over"},
		"a day that is not over":   {func(w *world) { w.other(&logentry.Day{Day: w.now.UTC().Truncate(24 * time.Hour)}); w.publish() }, "not over"},
		"a month left out": {func(w *world) {
			w.other(&logentry.Month{Month: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
			w.other(&logentry.Month{Month: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
			w.publish()
		}, "the last month was"},
		"a restore that lost what follows": {func(w *world) {
			w.other(&logentry.Restore{First: 8, After: 12, Reason: logentry.Restored})
			w.publish()
		}, "that follow it"},
		"a key of no known role":    {func(w *world) { w.other(&logentry.KeyUse{Role: "x", Value: "y"}); w.publish() }, "not in a form"},
		"an entry in no known form": {func(w *world) { w.entries = append(w.entries, []byte("hello")); w.publish() }, "not in a form"},
		"the signature altered":     {func(w *world) { f := w.files["checkpoint"]; f[len(f)-20] ^= 1 }, "signature"},
		"the size altered": {func(w *world) {
			w.files["checkpoint"] = []byte(strings.Replace(string(w.files["checkpoint"]), "\n9\n", "\n8\n", 1))
		}, "signature"},
		"one witness of two bribed": {func(w *world) { w.entries[2] = w.entry(99); w.signed[0] = 0; w.bribe(0); w.grow(1); w.publish() }, "do not have the root"},
		"both bribed, other entries of the same size": {func(w *world) {
			w.entries[2] = w.entry(99)
			w.signed = []int64{0, 0}
			w.bribe(0)
			w.bribe(1)
			w.publish()
		}, "different roots"},
		"both bribed, other entries and more": {func(w *world) {
			w.entries[2] = w.entry(99)
			w.signed = []int64{0, 0}
			w.bribe(0)
			w.bribe(1)
			w.grow(2)
			w.publish()
		}, "do not have the root"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.grow(5)
			w.publish()
			w.files["checkpoint at 5"] = w.files["checkpoint"]
			if _, err := w.monitor.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.grow(4)
			w.publish()
			if _, err := w.monitor.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			misdeed.do(w)
			_, err := w.monitor.Check(t.Context())
			if v, ok := errors.AsType[*monitor.Violation](err); !ok || !strings.Contains(v.What, misdeed.found) {
				t.Fatalf("it says %v, want %q", err, misdeed.found)
			}
			kept, err := filepath.Glob(filepath.Join(w.monitor.Dir, "violation-*", "*.txt"))
			if err != nil || len(kept) < 3 {
				t.Errorf("it kept %v, %v", kept, err)
			}
			for _, file := range kept {
				if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
					t.Errorf("%s: %v", file, err)
				}
			}
		})
	}
}

// bribe lets a witness forget what it has signed.
func (w *world) bribe(i int) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.states[i], "*.json"))
	if err != nil || len(files) != 1 {
		w.t.Fatalf("the state of the witness is %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		w.t.Fatal(err)
	}
}
