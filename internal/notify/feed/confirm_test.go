package feed_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// An entry whose commit no standby has confirmed can be read in the database, and is lost
// if the standby takes over: then its id comes again with other bytes. So nobody gets it
// before a later commit is confirmed.
func TestEntriesAreServedWhenTheyAreConfirmed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	node, err := pgtest.StartNode(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Stop)
	pool := pgtest.Open(t, node.Database(), pg.Serve)
	e := &env{&feed.Service{Pool: pool, Now: time.Now}, t, node.Database(), pool}
	o := e.bank()
	e.add(o, event(1))
	if err := node.WaitFor(t.Context(), "nobody"); err != nil {
		t.Fatal(err)
	}
	err = pg.InTx(t.Context(), pool, func(tx pg.Tx) error { return feed.Append(t.Context(), tx, o, event(2)) })
	if !errors.Is(err, pg.ErrUnknown) {
		t.Fatalf("a commit without its standby: %v", err)
	}
	var seq int64
	for deadline := time.Now().Add(30 * time.Second); seq != 2; { // the server is told to wait no longer, and shows the entry soon
		if err := pool.QueryRow(t.Context(), `SELECT seq FROM feed_head WHERE entity_id = $1`, o.Entity).Scan(&seq); err != nil || time.Now().After(deadline) {
			t.Fatalf("the head is at %d: %v", seq, err)
		}
	}
	var readers sync.WaitGroup
	for range 5 { // they wait for one commit together
		readers.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if entries, err := e.After(ctx, o, 1, 10); err == nil || len(entries) > 0 {
				t.Errorf("%d entries that are not confirmed, %v", len(entries), err)
			}
		})
	}
	readers.Wait()
	if err := node.WaitFor(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if entries := e.after(o, 0, 10); len(entries) != 2 {
		t.Errorf("%d entries when they are confirmed, want 2", len(entries))
	}
}
