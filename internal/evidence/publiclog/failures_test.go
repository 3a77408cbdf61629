package publiclog_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/agent"

	"github.com/lineproof/lineproof/internal/evidence/logkey"
	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// requireHeldBack requires that the log grows while nothing of it can be published, and that
// everything is published as soon as that is possible again.
func (p *press) requireHeldBack(by *publiclog.Publisher, fails, works func()) {
	p.t.Helper()
	p.grow(3)
	p.publish(by)
	before := p.checkpoint()
	fails()
	for range 2 {
		p.grow(300) // more than a tile
		if size, err := by.Publish(p.t.Context()); err == nil || size != before.N {
			p.t.Errorf("published up to %d, %v", size, err)
		}
		if now := p.checkpoint(); now != before {
			p.t.Errorf("there is a checkpoint of size %d", now.N)
		}
	}
	works()
	p.publish(by)
	if after := p.checkpoint(); after.N != begun+p.next {
		p.t.Errorf("the checkpoint has the size %d, want %d", after.N, begun+p.next)
	}
}

func TestLogGrowsWhileTheStoreOfItsFilesIsAway(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	dir := t.TempDir()
	var err error
	if p.tiles, err = blob.OpenDir(dir); err != nil {
		t.Fatal(err)
	}
	// The directory in which files are written before they get their names.
	temporary, away := filepath.Join(dir, "tmp"), filepath.Join(dir, "away")
	rename := func(from, to string) func() {
		return func() {
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.requireHeldBack(p.publisher(), rename(temporary, away), rename(away, temporary))
}

func TestLogGrowsWhileItsKeyCannotSign(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	ring := agent.NewKeyring()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Add(agent.AddedKey{PrivateKey: &private}); err != nil {
		t.Fatal(err)
	}
	if p.key, err = logkey.Open(t.Context(), "ssh-agent:"+logtest.ServeAgent(t, ring), origin); err != nil {
		t.Fatal(err)
	}
	require := func(change func([]byte) error) func() {
		return func() {
			if err := change([]byte("passphrase")); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.requireHeldBack(p.publisher(), require(ring.Lock), require(ring.Unlock))
}

// What a witness has seen counts also if its clock is wrong: its signature says when it
// signed, and a receipt shows that as it is.
func TestWitnessWithAWrongClockCounts(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	wrong := time.Now().AddDate(1, 0, 0).UTC().Truncate(time.Second)
	policy, _ := p.serveWitnessesAt(2, func(i int) time.Time {
		if i == 0 {
			return wrong
		}
		return time.Now()
	})
	publisher := p.publisher()
	publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
	p.grow(3)
	p.publish(publisher)
	signed, err := publiclog.Checkpoint(t.Context(), p.pool)
	if err != nil {
		t.Fatal(err)
	}
	_, seen, err := policy.Open(signed)
	if err != nil || len(seen) != 2 {
		t.Fatalf("%d witnesses have signed, %v", len(seen), err)
	}
	if at := seen["w0"]; !at.Equal(wrong) {
		t.Errorf("the receipt shows %s, want %s", at, wrong)
	}
	if off := time.Since(seen["w1"]); off.Abs() > time.Minute {
		t.Errorf("the witness with the right clock is %s off", off)
	}
}
