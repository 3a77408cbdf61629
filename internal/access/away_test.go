package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/secret"
)

// While the database does not answer, each of two nodes finds that out once and
// then lets those in at once whom it knows, by grace, and nobody else. When it
// answers again, a revocation reaches both, as before.
func TestTwoNodesOutliveTheirDatabase(t *testing.T) {
	t.Parallel()
	server, err := pgtest.StartNode(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	w := newWorldIn(t, pgtest.Open(t, server.Database(), pg.Serve))
	w.Grace = time.Minute
	bank, known := w.key(t)
	fresh, err := w.CreateKey(t.Context(), access.KeyForm{Entity: bank.ID, Name: "new", Mode: access.Live}, access.Operator, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes := make([]*access.Keeper, 2)
	for i := range nodes {
		b := &pg.Breaker{}
		pool, err := pg.Open(t.Context(), server.Database(), pg.Options{Role: pg.Serve, Breaker: b})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		t.Cleanup(b.Close)
		nodes[i] = w.nodeOn(t, pool, b)
		if !opens(t, nodes[i], known.Text) {
			t.Fatal("the key opens nothing")
		}
	}
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	for i, node := range nodes {
		within(t, 10*time.Second, "a node is deaf", func() bool { return !node.Hearing() })
		for _, limit := range []time.Duration{3 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond} {
			began := time.Now()
			who, err := node.Admit(t.Context(), known.Text.Reveal(), here)
			if took := time.Since(began); err != nil || !who.Grace || took > limit {
				t.Errorf("node %d lets one in who is known: %v, by grace %v, after %s", i, err, who.Grace, took)
			}
		}
		if _, err := node.Admit(t.Context(), fresh.Text.Reveal(), here); !pg.Away(err) || errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("node %d says of one who is new: %v", i, err)
		}
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		within(t, 20*time.Second, "a node hears again", node.Hearing)
		for _, key := range []secret.Text{known.Text, fresh.Text} {
			if who, err := node.Admit(t.Context(), key.Reveal(), here); err != nil || who.Grace {
				t.Errorf("after the outage: %v, by grace %v", err, who.Grace)
			}
		}
	}
	if err := w.RevokeKey(t.Context(), uuid.Nil, known.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		within(t, 5*time.Second, "a revocation reaches a node", func() bool { return !opens(t, node, known.Text) })
	}
}
