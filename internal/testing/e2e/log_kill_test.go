package e2e_test

import (
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/logtile"
	"github.com/lineproof/lineproof/internal/publiclog"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/receipt"
)

const (
	logOrigin = "lineproof.example/log/0/2027"
	logPath   = "/log/0/2027/"
)

// Two nodes keep the public log and are killed in turn: every answer that a caller got has a
// receipt that a stranger can verify, no two checkpoints that anybody saw contradict each
// other, and the check finds nothing.
func TestPublicLogKill(t *testing.T) {
	url, _ := durable(t)
	w, book := newFixture(t, url), newLedger(t)
	kills := size(t, "LINEPROOF_E2E_KILLS", 4)
	opened, file := logtest.NewKeyFile(t, logOrigin)
	key := opened.Verifier()
	startNode := func(name string) *instance {
		return start(t, w, "LINEPROOF_NODE="+name, "LINEPROOF_LOG_ORIGIN="+logOrigin, "LINEPROOF_LOG_KEY="+file)
	}
	nodes := []*instance{startNode("one"), startNode("two")}
	seen := map[int64]tlog.Tree{}
	for i := range kills {
		stop := make(chan struct{})
		victim := nodes[i%2]
		wait := rush(t, w, victim.public, book, killWorkers, stop)
		for end := time.Now().Add(500*time.Millisecond + rand.N(2*time.Second)); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
			see(t, seen, nodes[(i+1)%2].public, key)
		}
		victim.Kill()
		close(stop)
		wait()
		nodes[i%2] = startNode([]string{"one", "two"}[i%2])
	}
	<-time.After(3 * time.Second) // the last answers are published
	newest := see(t, seen, nodes[0].public, key)
	if newest.N == 0 {
		t.Fatal("nothing was published")
	}
	hashes := tlog.TileHashReader(newest, &httpTiles{t, nodes[1].public})
	for _, tree := range seen {
		proof := must(tlog.ProveTree(newest.N, tree.N, hashes))(t)
		if err := tlog.CheckTree(proof, newest.N, newest.Hash, tree.N, tree.Hash); err != nil {
			t.Errorf("the checkpoint of size %d contradicts that of size %d: %v", tree.N, newest.N, err)
		}
	}
	policy, proven, most := must(receipt.NewPolicy(key))(t), 0, size(t, "LINEPROOF_E2E_RECEIPTS", 500)
	for _, e := range book.read(t) {
		if e.sent.Asked == nil || e.outcome() != okay || proven == most {
			continue
		}
		told := e.answered().Told
		text := download(t, nodes[0].public, strings.TrimSuffix(verifyPath, "verify")+"verifications/"+told.RequestID+"/receipt", w.key.Text.Reveal())
		r := must(receipt.Parse(text))(t)
		v, err := r.Verify(policy)
		if err != nil || v.RequestID != told.RequestID || v.Status != told.Status || v.MobileNetwork != told.MobileNetwork {
			t.Fatalf("the receipt of %s proves %+v, %v", told.RequestID, v, err)
		}
		proven++
	}
	r := must(publiclog.Check(t.Context(), w.pool))(t)
	t.Logf("%d kills, %d receipts, %d checkpoints seen of %d, %d entries", kills, proven, len(seen), r.Checkpoints, r.Size)
	if len(r.Found) > 0 || proven == 0 || len(seen) < 2 {
		t.Errorf("findings: %v", r.Found)
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
	if res.StatusCode == http.StatusNotFound {
		return tlog.Tree{} // nothing is published yet
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
		all = append(all, download(h.t, h.address, logPath+logtile.Tile{Level: one.L, Index: one.N, Width: one.W}.Path(), ""))
	}
	return all, nil
}

// SaveTiles implements tlog.TileReader.
func (*httpTiles) SaveTiles([]tlog.Tile, [][]byte) {}

// download returns what a GET answers with 200.
func download(t *testing.T, address, path, key string) []byte {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, http.NoBody))(t)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := must(io.ReadAll(res.Body))(t)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d: %s", path, res.StatusCode, body)
	}
	return body
}
