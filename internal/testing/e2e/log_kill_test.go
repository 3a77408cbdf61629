package e2e_test

import (
	"context"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

const (
	logOrigin = "lineproof.example/log/0/2027"
	logPath   = "/log/0/2027/"
)

// promotionEvery is the number of kills of a node per loss of the primary.
const promotionEvery = 20

// Three nodes keep the public log and are killed in turn, and now and then the database is
// lost and its standby promoted: every answer that a caller got has a receipt that a
// stranger can verify, every batch is in the log once, no two checkpoints that anybody saw
// contradict each other, the check finds nothing, and the tiles can be made anew, the same
// to the byte.
func TestPublicLogKill(t *testing.T) {
	p, w := newPair(t)
	k := &logKill{t: t, pair: p, w: w, book: newLedger(t), seen: map[int64]tlog.Tree{}}
	opened, file := logtest.NewKeyFile(t, logOrigin)
	k.key, k.settings = opened.Verifier(), []string{"LINEPROOF_LOG_ORIGIN=" + logOrigin, "LINEPROOF_LOG_KEY=" + file}
	for i := range k.nodes {
		k.start(i)
	}
	kills, promotions := size(t, "LINEPROOF_E2E_KILLS", 4), 0
	for i := range kills {
		k.kill(i % len(k.nodes))
		if i%promotionEvery == promotionEvery/2 || i == kills-1 && promotions == 0 {
			k.promote(i == kills-1)
			promotions++
		}
		if i%50 == 49 {
			t.Logf("%d kills, %d promotions, %d checkpoints seen", i+1, promotions, len(k.seen))
		}
	}
	<-time.After(3 * time.Second) // the last answers are published
	newest := see(t, k.seen, k.nodes[0].public, k.key)
	if newest.N == 0 {
		t.Fatal("nothing was published")
	}
	hashes := tlog.TileHashReader(newest, &httpTiles{t, k.nodes[1].public})
	for _, tree := range k.seen {
		if tree.N == 0 {
			continue
		}
		proof := must(tlog.ProveTree(newest.N, tree.N, hashes))(t)
		if err := tlog.CheckTree(proof, newest.N, newest.Hash, tree.N, tree.Hash); err != nil {
			t.Errorf("the checkpoint of size %d contradicts that of size %d: %v", tree.N, newest.N, err)
		}
	}
	proven := k.verifyReceipts()
	pool := pgtest.Open(t, p.url, "")
	r := must(publiclog.Check(t.Context(), pool, nil))(t)
	var batches int64
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM journal_batch`).Scan(&batches); err != nil {
		t.Fatal(err)
	}
	k.rebuild()
	t.Logf("%d kills over %d nodes, %d promotions, %d batches, %d receipts, %d checkpoints seen of %d, %d entries", kills, len(k.nodes), promotions, batches, proven, len(k.seen), r.Checkpoints, r.Size)
	if len(r.Found) > 0 || proven == 0 || len(k.seen) < 2 {
		t.Errorf("findings: %v", r.Found)
	}
}

// logKill is a run of that test.
type logKill struct {
	t        *testing.T
	pair     *pair
	w        *fixture
	book     *ledger
	nodes    [3]*instance
	key      string
	settings []string
	seen     map[int64]tlog.Tree
}

func (k *logKill) start(i int) {
	k.t.Helper()
	k.nodes[i] = start(k.t, k.w, append(k.settings, "LINEPROOF_NODE="+[]string{"one", "two", "three"}[i])...)
}

// kill kills a node under load, at a random moment, and starts it again.
func (k *logKill) kill(i int) {
	k.t.Helper()
	victim, other := k.nodes[i], k.nodes[(i+1)%len(k.nodes)]
	stop := make(chan struct{})
	wait := rush(k.t, k.w, victim.public, k.book, killWorkers/2, stop)
	for end := time.Now().Add(100*time.Millisecond + rand.N(900*time.Millisecond)); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		see(k.t, k.seen, other.public, k.key)
	}
	victim.Kill()
	close(stop)
	wait()
	k.start(i)
}

// promote kills the primary under load and promotes its standby, and adds a new standby
// unless it was the last time.
func (k *logKill) promote(last bool) {
	k.t.Helper()
	port := k.pair.primary.Port()
	stop := make(chan struct{})
	wait := rush(k.t, k.w, k.nodes[0].public, k.book, killWorkers/2, stop)
	<-time.After(rand.N(500 * time.Millisecond))
	k.pair.lose()
	<-time.After(time.Second)
	close(stop)
	wait()
	if !last {
		k.pair.copy(port)
	}
}

// verifyReceipts verifies receipts of what callers were told, and returns how many.
func (k *logKill) verifyReceipts() (proven int) {
	k.t.Helper()
	policy, most := must(receipt.NewPolicy(k.key))(k.t), size(k.t, "LINEPROOF_E2E_RECEIPTS", 500)
	for _, e := range k.book.read(k.t) {
		if e.sent.Asked == nil || e.outcome() != okay || proven == most {
			continue
		}
		told := e.answered().Told
		text := download(k.t, k.nodes[proven%len(k.nodes)].public, receiptOf(told.RequestID), k.w.key.Text.Reveal())
		r := must(receipt.Parse(text))(k.t)
		v, err := r.Verify(policy)
		if err != nil || v.RequestID != told.RequestID || v.Status != told.Status || v.MobileNetwork != told.MobileNetwork {
			k.t.Fatalf("the receipt of %s proves %+v, %v", told.RequestID, v, err)
		}
		proven++
	}
	return proven
}

// rebuild makes all tiles anew and compares them with those that were published.
func (k *logKill) rebuild() {
	k.t.Helper()
	log := must(os.Create(filepath.Join(k.t.TempDir(), "rebuild.log")))(k.t)
	p := launch(k.t, log, append(k.w.settings(), k.settings...), "log", "rebuild", filepath.Join(k.t.TempDir(), "log"))
	if !p.ends(k.t, 10*time.Minute) || p.ExitCode() != 0 {
		k.t.Errorf("log rebuild ended with %d:\n%s", p.ExitCode(), p.output(k.t))
	}
}

// see reads and verifies the newest checkpoint of a node, and remembers it. No two of one
// size may differ.
func see(t *testing.T, seen map[int64]tlog.Tree, address, key string) tlog.Tree {
	t.Helper()
	res, err := (&http.Client{Timeout: patience}).Get("http://" + address + logPath + "checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusServiceUnavailable {
		return tlog.Tree{} // nothing is published yet, or the database is away
	}
	signed := must(io.ReadAll(res.Body))(t)
	tree := openCheckpoint(t, signed, key)
	if old, ok := seen[tree.N]; ok && old != tree {
		t.Fatalf("two checkpoints of size %d have different roots", tree.N)
	}
	seen[tree.N] = tree
	return tree
}

func openCheckpoint(t *testing.T, signed []byte, key string) tlog.Tree {
	t.Helper()
	opened, err := note.Open(signed, note.VerifierList(must(note.NewVerifier(key))(t)))
	if err != nil {
		t.Fatalf("%q: %v", signed, err)
	}
	lines := strings.Split(opened.Text, "\n")
	return tlog.Tree{N: must(strconv.ParseInt(lines[1], 10, 64))(t), Hash: tlog.Hash(must(base64.StdEncoding.DecodeString(lines[2]))(t))}
}

// httpTiles reads the tiles of a node for package tlog, which checks them.
type httpTiles struct {
	t       *testing.T
	address string
}

// Height implements tlog.TileReader.
func (*httpTiles) Height() int { return 8 }

// ReadTiles implements tlog.TileReader.
func (h *httpTiles) ReadTiles(list []tlog.Tile) (all [][]byte, err error) {
	for _, one := range list {
		all = append(all, download(h.t, h.address, logPath+merkle.Tile{Level: one.L, Index: one.N, Width: one.W}.Path(), ""))
	}
	return all, nil
}

// SaveTiles implements tlog.TileReader.
func (*httpTiles) SaveTiles([]tlog.Tile, [][]byte) {}

// download returns what a GET answers with 200. It asks again for a while, as clients do, when
// the service is unavailable: a receipt exists only once the public log covers its answer.
func download(t *testing.T, address, path, key string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for deadline := time.Now().Add(patience); ; <-time.After(200 * time.Millisecond) {
		r := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody))(t)
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		switch status, body := answered(t, r); {
		case status == http.StatusOK:
			return []byte(body)
		case status != http.StatusServiceUnavailable || time.Now().After(deadline):
			t.Fatalf("GET %s: %d: %s", path, status, body)
		}
	}
}
