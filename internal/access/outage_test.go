package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// While the database is unavailable, each of two nodes notices it once and then
// accepts cached credentials at once, by grace, and no others. When it is back,
// a revocation reaches both as before.
func TestTwoNodesSurviveADatabaseOutage(t *testing.T) {
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
	nodes, breakers := make([]*access.Service, 2), make([]*pg.Breaker, 2)
	for i := range nodes {
		b := &pg.Breaker{}
		breakers[i] = b
		pool, err := pg.Open(t.Context(), server.Database(), pg.Options{Role: pg.Serve, Breaker: b})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		t.Cleanup(b.Close)
		if err := pgtest.UsePeppers(t.Context(), pool, pgtest.Pepper); err != nil {
			t.Fatal(err)
		}
		nodes[i] = w.nodeOn(t, pool, b)
		if !accepts(t, nodes[i], known.Text) {
			t.Fatal("the key is rejected")
		}
	}
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	for i, node := range nodes {
		within(t, 10*time.Second, "the node no longer listens", func() bool { return !node.Listening() })
		for _, limit := range []time.Duration{3 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond} {
			began := time.Now()
			who, err := node.Authenticate(t.Context(), known.Text.Reveal(), here)
			if took := time.Since(began); err != nil || !who.Grace || took > limit {
				t.Errorf("node %d accepts a cached key: %v, by grace %v, after %s", i, err, who.Grace, took)
			}
		}
		if _, err := node.Authenticate(t.Context(), fresh.Text.Reveal(), here); !pg.IsUnavailable(err) || errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("node %d says of a new key: %v", i, err)
		}
	}
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	for i, node := range nodes {
		within(t, 20*time.Second, "the node listens again", node.Listening)
		// A connection attempt of Listen may succeed before the probe of the breaker.
		within(t, 20*time.Second, "the breaker is closed", func() bool { return !breakers[i].Open() })
		for _, key := range []secret.Text{known.Text, fresh.Text} {
			if who, err := node.Authenticate(t.Context(), key.Reveal(), here); err != nil || who.Grace {
				t.Errorf("after the outage: %v, by grace %v", err, who.Grace)
			}
		}
	}
	if err := w.RevokeKey(t.Context(), uuid.Nil, known.ID, access.Operator, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		within(t, 5*time.Second, "a revocation reaches the node", func() bool { return !accepts(t, node, known.Text) })
	}
}
