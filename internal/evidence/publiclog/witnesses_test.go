package publiclog_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/evidence/witness"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/testing/logtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/receipt"
)

// serveWitnesses starts witnesses of the log, and returns the policy that needs all of
// them.
func (p *press) serveWitnesses(count int) (*receipt.Policy, []*httptest.Server) {
	p.t.Helper()
	return p.serveWitnessesAt(count, func(int) time.Time { return time.Now() })
}

// serveWitnessesAt does so with clocks of their own.
func (p *press) serveWitnessesAt(count int, clock func(i int) time.Time) (*receipt.Policy, []*httptest.Server) {
	p.t.Helper()
	var policy, members strings.Builder
	policy.WriteString("log " + p.key.Verifier() + "\n")
	var servers []*httptest.Server
	for i := range count {
		key := witness.NewKey(logtest.NewKey(p.t, fmt.Sprintf("w%d.example", i)))
		w, err := witness.Open(key, []string{p.key.Verifier()}, p.t.TempDir())
		if err != nil {
			p.t.Fatal(err)
		}
		w.Now = func() time.Time { return clock(i) }
		server := httptest.NewServer(w.Handler(slog.New(slog.DiscardHandler)))
		p.t.Cleanup(server.Close)
		servers = append(servers, server)
		fmt.Fprintf(&policy, "witness w%d %s %s\n", i, key.Verifier(), server.URL)
		fmt.Fprintf(&members, " w%d", i)
	}
	parsed, err := receipt.ParsePolicy(policy.String() + "group g all" + members.String() + "\nquorum g\n")
	if err != nil {
		p.t.Fatal(err)
	}
	return parsed, servers
}

// witnessed returns how many witnesses have signed the published checkpoint.
func (p *press) witnessed(policy *receipt.Policy) int {
	p.t.Helper()
	signed, err := publiclog.Checkpoint(p.t.Context(), p.pool)
	if err != nil {
		p.t.Fatal(err)
	}
	_, seen, err := policy.Open(signed)
	if err != nil {
		p.t.Fatal(err)
	}
	return len(seen)
}

// Witnesses sign what is published; one that is down is left out, and signs again when it is
// back; a node that starts anew goes on.
func TestWitnessesSignWhatIsPublished(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	policy, servers := p.serveWitnesses(2)
	publisher := p.publisher()
	publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
	for _, batches := range []int{3, 300} {
		p.grow(batches)
		p.publish(publisher)
		if n := p.witnessed(policy); n != 2 {
			t.Fatalf("%d witnesses have signed", n)
		}
	}
	stopped := servers[1].Config.Handler
	servers[1].Config.Handler = nil // it answers 404 to everything
	p.grow(2)
	p.publish(publisher)
	if n := p.witnessed(policy); n != 1 {
		t.Errorf("%d witnesses have signed while one is down", n)
	}
	servers[1].Config.Handler = stopped
	p.grow(2)
	again := p.publisher()
	again.Witnesses = &publiclog.Witnesses{Policy: policy}
	p.publish(again)
	if n := p.witnessed(policy); n != 2 {
		t.Errorf("%d witnesses have signed after one was down", n)
	}
}

// A log that has lost entries that a witness has signed is not signed any more, also if
// nothing in the store shows it.
func TestWitnessesStopALogThatWasSetBack(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	policy, _ := p.serveWitnesses(1)
	publisher := p.publisher()
	publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
	p.grow(5)
	p.publish(publisher)
	// Another database and store under the same key: what a restore of both leaves.
	other := newPress(t, pgtest.URL(t))
	other.key = p.key
	var err error
	if other.tiles, err = blob.OpenDir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	back := other.publisher()
	back.Witnesses = &publiclog.Witnesses{Policy: policy}
	other.grow(2)
	if _, err := back.Publish(t.Context()); !errors.Is(err, publiclog.ErrAhead) {
		t.Errorf("with fewer entries: %v", err)
	}
	other.grow(5)
	if size, err := back.Publish(t.Context()); err == nil || size != 0 {
		t.Errorf("with other entries: size %d, %v", size, err)
	}
}

// Witnesses sign a log again that has not grown, so that it can be told from one that is
// held back: monitors complain about a signature that is older than a minute. While too few
// of them answer, the checkpoint stays that enough have signed.
func TestWitnessesSignAQuietLogAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	p, owner := newPress(t, url), pgtest.Open(t, url, "")
	policy, servers := p.serveWitnesses(2)
	publisher := p.publisher()
	publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
	p.grow(3)
	p.publish(publisher)
	before := p.checkpoint()
	quiet := func() (published time.Time) {
		const set = `UPDATE log_published SET at = '2026-01-01T00:00:00Z'`
		if _, err := owner.Exec(t.Context(), set); err != nil {
			t.Fatal(err)
		}
		p.publish(publisher)
		if err := owner.QueryRow(t.Context(), `SELECT at FROM log_published`).Scan(&published); err != nil {
			t.Fatal(err)
		}
		return published
	}
	if at := quiet(); time.Since(at) > time.Minute || p.witnessed(policy) != 2 || p.checkpoint() != before {
		t.Errorf("a quiet log is published at %s with %d signatures", at, p.witnessed(policy))
	}
	servers[1].Config.Handler = nil // it answers 404 to everything
	if at := quiet(); time.Since(at) < time.Minute || p.witnessed(policy) != 2 {
		t.Errorf("while a witness is down, a quiet log is published at %s with %d signatures", at, p.witnessed(policy))
	}
}
