package publiclog_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/merkle"
)

// press is a log with everything that publishes it.
type press struct {
	t     *testing.T
	pool  *pgxpool.Pool
	log   *publiclog.Log
	tiles *blob.Dir
	key   *logkey.Key
	next  int64
}

func newPress(t *testing.T, url string) *press {
	t.Helper()
	p := &press{t: t, pool: pgtest.Open(t, url, pg.Serve), key: logtest.NewKey(t, origin)}
	p.log = openLog(t, p.pool)
	var err error
	if p.tiles, err = blob.OpenDir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return p
}

// grow adds batches to the journal and the log.
func (p *press) grow(batches int) {
	p.t.Helper()
	for range batches {
		if err := addBatch(p.t.Context(), p.pool, 1, p.next); err != nil {
			p.t.Fatal(err)
		}
		p.next++
	}
	tick(p.t, p.log, batches)
}

func (p *press) publisher() *publiclog.Publisher {
	return publiclog.NewPublisher(p.log, p.tiles, p.key)
}

func (p *press) publish(by *publiclog.Publisher) {
	p.t.Helper()
	if size, err := by.Publish(p.t.Context()); err != nil || size != begun+p.next {
		p.t.Fatalf("published up to %d, %v; want %d", size, err, begun+p.next)
	}
}

// checkpoint returns the published size and root, after its signature was verified.
func (p *press) checkpoint() tlog.Tree {
	p.t.Helper()
	signed, err := publiclog.Checkpoint(p.t.Context(), p.pool)
	if err != nil {
		p.t.Fatal(err)
	}
	v, err := note.NewVerifier(p.key.Verifier())
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(v))
	if err != nil {
		p.t.Fatalf("%q: %v", signed, err)
	}
	lines := strings.Split(n.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	root, err2 := base64.StdEncoding.DecodeString(lines[2])
	if lines[0] != origin || err != nil || err2 != nil || len(lines) != 4 {
		p.t.Fatalf("the checkpoint is %q", n.Text)
	}
	return tlog.Tree{N: size, Hash: tlog.Hash(root)}
}

// From the published files alone, another implementation proves that every entry is in
// the log, and that each checkpoint continues those before it; also when nodes take turns.
func TestPublishedTilesProveEveryEntry(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	first, second := p.publisher(), p.publisher()
	var trees []tlog.Tree
	for _, batches := range []int{1, 2, 252, 1, 1, 300, 5} {
		p.grow(batches)
		p.publish(first)
		first, second = second, first
		trees = append(trees, p.checkpoint())
	}
	newest := trees[len(trees)-1]
	hashes := publiclog.TileHashes(t.Context(), p.tiles, origin, newest)
	for _, tree := range trees {
		proof, err := tlog.ProveTree(newest.N, tree.N, hashes)
		if err == nil {
			err = tlog.CheckTree(proof, newest.N, newest.Hash, tree.N, tree.Hash)
		}
		if err != nil {
			t.Errorf("the checkpoint of size %d: %v", tree.N, err)
		}
	}
	rows, err := p.pool.Query(t.Context(), `SELECT idx, entry FROM log_entry ORDER BY idx`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var idx int64
		var entry []byte
		if err := rows.Scan(&idx, &entry); err != nil {
			t.Fatal(err)
		}
		proof, err := tlog.ProveRecord(newest.N, idx, hashes)
		if err == nil {
			err = tlog.CheckRecord(proof, newest.N, newest.Hash, idx, tlog.RecordHash(entry))
		}
		if err != nil {
			t.Fatalf("entry %d: %v", idx, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// After a restore to an earlier moment nothing is signed: neither where the log would
// contradict what was published, nor where it has not reached that yet.
func TestRestoredDatabaseSignsNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, owner := newPress(t, url), pgtest.Open(t, url, "")
	p.grow(3)
	p.publish(p.publisher())
	head, published := savedHead(t, owner)
	p.grow(2)
	p.publish(p.publisher())
	before := p.checkpoint()
	setBack(t, owner, head, published, 3)
	p.next = 100
	p.grow(1)
	if size, err := p.publisher().Publish(t.Context()); !errors.Is(err, publiclog.ErrAhead) || size != 4 {
		t.Errorf("with fewer entries than published: size %d, %v", size, err)
	}
	p.grow(1) // as many as were published, and others
	if size, err := p.publisher().Publish(t.Context()); err == nil || size != 4 {
		t.Errorf("with other entries than published: size %d, %v", size, err)
	}
	if after := p.checkpoint(); after.N != 4 || before.N != 6 {
		t.Errorf("a checkpoint of size %d was signed", after.N)
	}
}

// A tile that was exchanged in the store stops the log.
func TestExchangedTileStopsTheLog(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	p.grow(2)
	p.publish(p.publisher())
	partial := merkle.Tile{Level: 0, Index: 0, Width: begun + 2}
	if err := p.tiles.Delete(t.Context(), partial.Key(origin)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.tiles.Put(t.Context(), partial.Key(origin), bytes.NewReader(make([]byte, 32*partial.Width))); err != nil {
		t.Fatal(err)
	}
	p.grow(1)
	if _, err := p.publisher().Publish(t.Context()); err == nil {
		t.Error("a log with an exchanged tile was signed")
	}
	if tree := p.checkpoint(); tree.N != begun+2 {
		t.Errorf("a checkpoint of size %d was signed", tree.N)
	}
}
