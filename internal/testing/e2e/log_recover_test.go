package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// restoredLog is a log with two witnesses whose database is restored to an earlier moment.
type restoredLog struct {
	t         *testing.T
	w         *fixture
	book      *ledger
	key       string
	policy    *receipt.Policy
	file      string // of the policy
	settings  []string
	witnesses []*instance
}

func newRestoredLog(t *testing.T, w *fixture) *restoredLog {
	t.Helper()
	l := &restoredLog{t: t, w: w, book: newLedger(t)}
	opened, file := logtest.NewKeyFile(t, logOrigin)
	l.key = opened.Verifier()
	policy := "log " + l.key + "\n" + l.startWitness("north") + l.startWitness("south") + "group both all north south\nquorum both\n"
	l.policy = must(receipt.ParsePolicy(policy))(t)
	l.file = filepath.Join(t.TempDir(), "policy")
	writeText(t, l.file, policy)
	l.settings = []string{"LINEPROOF_LOG_ORIGIN=" + logOrigin, "LINEPROOF_LOG_KEY=" + file, "LINEPROOF_LOG_POLICY=" + l.file}
	return l
}

// startWitness starts a witness and returns its line of the policy.
func (l *restoredLog) startWitness(name string) string {
	l.t.Helper()
	dir := l.t.TempDir()
	p := launch(l.t, must(os.Create(filepath.Join(dir, "witness.log")))(l.t), nil, "witness", "--name", name+".example",
		"--key-file", filepath.Join(dir, "key"), "--state", filepath.Join(dir, "state"), "--log", l.key, "--listen", "127.0.0.1:0")
	l.witnesses = append(l.witnesses, p)
	said := regexp.MustCompile(`key\s+(\S+)\s+listening\s+(\S+)`)
	var found []string
	process.Until(l.t, "the witness listens", func() bool { found = said.FindStringSubmatch(p.output(l.t)); return found != nil })
	return fmt.Sprintf("witness %s %s http://%s\n", name, found[1], found[2])
}

// load lets callers ask until the function that it returns is called.
func (l *restoredLog) load(node *instance) (end func()) {
	l.t.Helper()
	stop := make(chan struct{})
	wait := rush(l.t, l.w, node.public, l.book, 2, stop)
	return func() { close(stop); wait() }
}

func (l *restoredLog) answer(node *instance) {
	l.t.Helper()
	end := l.load(node)
	<-time.After(time.Second)
	end()
	<-time.After(2 * time.Second) // the answers are published
}

// answered returns the request ids of the answers so far.
func (l *restoredLog) answered() (ids []string) {
	l.t.Helper()
	for _, e := range l.book.read(l.t) {
		if e.sent.Asked != nil && e.outcome() == okay {
			ids = append(ids, e.answered().Told.RequestID)
		}
	}
	return ids
}

func (l *restoredLog) published(node *instance) tlog.Tree {
	l.t.Helper()
	return openCheckpoint(l.t, download(l.t, node.public, logPath+"checkpoint", ""), l.key)
}

func receiptOf(id string) string {
	return strings.TrimSuffix(verifyPath, "verify") + "verifications/" + id + "/receipt"
}

func (l *restoredLog) receipt(node *instance, id string) []byte {
	l.t.Helper()
	return download(l.t, node.public, receiptOf(id), l.w.key.Text.Reveal())
}

// wantProven fails the test unless a receipt proves an answer, as two witnesses have seen.
func (l *restoredLog) wantProven(text []byte, id string) {
	l.t.Helper()
	v, err := must(receipt.Parse(text))(l.t).Verify(l.policy)
	if err != nil || v.RequestID != id || len(v.Witnessed) != 2 {
		l.t.Fatalf("the receipt of %s proves %+v, %v", id, v, err)
	}
}

// status returns what the service says about an answer.
func (l *restoredLog) status(node *instance, path string) int {
	l.t.Helper()
	r := must(http.NewRequestWithContext(l.t.Context(), http.MethodGet, "http://"+node.public+path, http.NoBody))(l.t)
	r.Header.Set("Authorization", "Bearer "+l.w.key.Text.Reveal())
	res, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func (l *restoredLog) command(code int, args ...string) string {
	l.t.Helper()
	p := launch(l.t, must(os.Create(filepath.Join(l.t.TempDir(), "command.log")))(l.t), append(l.w.settings(), l.settings...), args...)
	if !p.ends(l.t, time.Minute) || p.ExitCode() != code {
		l.t.Fatalf("%v ended with %d:\n%s", args, p.ExitCode(), p.output(l.t))
	}
	return p.output(l.t)
}

// A database is restored to an earlier moment than that of the last published checkpoint,
// while callers ask and witnesses watch: answers go on and nothing is signed. After the
// recovery the log goes on from what was published and no witness refuses it, receipts from
// before verify, what is lost is named in public, and one record comes back by its receipt.
func TestRestoredLogIsRecovered(t *testing.T) {
	_, cluster := durable(t)
	name := must(cluster.Clone(context.Background()))(t)
	l := newRestoredLog(t, newFixture(t, cluster.URL(name)))
	node := start(t, l.w, l.settings...)
	l.answer(node)
	kept := l.answered()
	node.Kill()
	l.w.pool.Close() // a database can be copied while nobody is connected
	process.Until(t, "the database is copied", func() bool { return cluster.Admin(t.Context(), "CREATE DATABASE restored TEMPLATE "+name) == nil })

	node = start(t, l.w, l.settings...)
	l.answer(node)
	before := l.published(node)
	lost := slices.DeleteFunc(l.answered(), func(id string) bool { return slices.Contains(kept, id) })
	if len(kept) == 0 || len(lost) < 2 {
		t.Fatalf("%d answers are kept and %d lost", len(kept), len(lost))
	}
	oldReceipt, lostReceipt := l.receipt(node, kept[0]), l.receipt(node, lost[0])
	node.Kill()

	l.w.url = cluster.URL("restored")
	l.command(0, "journal", "new-epoch", "--reason", "restored by a test") // the service starts before the log is recovered
	node = start(t, l.w, l.settings...)
	end := l.load(node)
	<-time.After(3 * time.Second)
	if after := l.published(node); after.N >= before.N {
		t.Fatalf("a restored database has signed a log of %d entries, and %d were published", after.N, before.N)
	}
	l.command(0, "log", "recover", "--reason", "exercise", "--policy", l.file)
	var newest tlog.Tree
	process.Until(t, "the log goes on", func() bool { newest = l.published(node); return newest.N > before.N })
	end()
	l.answer(node)
	newest = l.published(node)
	hashes := tlog.TileHashReader(newest, &httpTiles{t, node.public})
	proof := must(tlog.ProveTree(newest.N, before.N, hashes))(t)
	if err := tlog.CheckTree(proof, newest.N, newest.Hash, before.N, before.Hash); err != nil {
		t.Errorf("the recovered log contradicts what was published: %v", err)
	}
	for _, w := range l.witnesses {
		if said := w.output(t); strings.Contains(said, "does not continue") {
			t.Errorf("a witness has refused a checkpoint: %s", said)
		}
	}
	l.wantProven(oldReceipt, kept[0])
	l.wantProven(lostReceipt, lost[0])
	l.wantProven(l.receipt(node, kept[0]), kept[0])
	l.wantNamed(node, newest.N, lostReceipt)
	l.comesBack(node, lost[0], lostReceipt)
	if code := l.status(node, receiptOf(lost[1])); code != http.StatusNotFound {
		t.Errorf("the receipt of another lost answer: %d", code)
	}
	if r := must(publiclog.Check(t.Context(), pgtest.Open(t, l.w.url, ""), nil))(t); len(r.Found) > 0 {
		t.Errorf("findings: %v", r.Found)
	}
}

// wantNamed fails the test unless the public log has an entry that names the batch of a
// receipt as lost.
func (l *restoredLog) wantNamed(node *instance, size int64, text []byte) {
	l.t.Helper()
	v := must(must(receipt.Parse(text))(l.t).Verify(l.policy))(l.t)
	for first := int64(0); first < size; first += 256 {
		tile := merkle.Tile{Level: merkle.Bundle, Index: first / 256, Width: int(min(256, size-first))}
		for _, entry := range must(merkle.Entries(download(l.t, node.public, logPath+tile.Path(), "")))(l.t) {
			e := must(logentry.Decode(entry))(l.t)
			if e.Kind != logentry.Restores {
				continue
			}
			body := must(e.DecodeBody())(l.t)
			if r, ok := body.(*logentry.Restore); ok && r.First <= v.Index && v.Index < r.After && r.Answers > 0 {
				return
			}
		}
	}
	l.t.Error("the public log does not name what is lost")
}

// comesBack takes a lost record back.
func (l *restoredLog) comesBack(node *instance, id string, text []byte) {
	l.t.Helper()
	path := strings.TrimSuffix(receiptOf(id), "/receipt")
	if code := l.status(node, path); code != http.StatusNotFound {
		l.t.Fatalf("a lost answer: %d", code)
	}
	file := filepath.Join(l.t.TempDir(), "receipt.json")
	writeText(l.t, file, string(text))
	l.command(0, "journal", "accept", file, "--reason", "lost by the exercise, sent by the bank")
	if code := l.status(node, path); code != http.StatusOK {
		l.t.Errorf("an answer that came back: %d", code)
	}
	l.wantProven(l.receipt(node, id), id)
	if said := l.command(5, "journal", "accept", file, "--reason", "sent by the bank once more"); !strings.Contains(said, "has this record") {
		l.t.Errorf("a second time it says %s", said)
	}
}
