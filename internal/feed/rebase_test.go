package feed_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/feed"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// After a restore no id and no cursor is given twice, also not when the same backup is
// restored twice. A cursor of lost entries is refused, and its reader can go on where the
// histories part; a cursor from before that goes on as if nothing had happened. The chain
// goes through, and the first entry of the new epoch tells of it.
func TestRestoreRaisesTheEpoch(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	owner := pgtest.Open(t, e.url, pg.Owner)
	o, lost := e.bank(), e.bank()
	e.add(o, event(1), event(2), event(3))
	backup := func() {
		t.Helper()
		for _, sql := range []string{
			`DELETE FROM feed_entry WHERE seq > 3 OR entity_id <> $1`, `DELETE FROM feed_head WHERE entity_id <> $1`,
			`UPDATE feed_head SET epoch = 1, seq = 3, hash = (SELECT hash FROM feed_entry WHERE seq = 3 AND entity_id = $1) WHERE entity_id = $1`,
			`UPDATE feed_epoch SET epoch = 1 WHERE $1::uuid IS NOT NULL`,
		} {
			if _, err := owner.Exec(t.Context(), sql, o.Entity); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := map[string]string{}
	note := func(o feed.Owner) (entries []feed.Entry) {
		t.Helper()
		entries = e.after(o, 0, 100)
		follow(t, [32]byte{}, 0, entries)
		for i := range entries {
			id := o.Entity.String() + entries[i].ID()
			if before, ok := seen[id]; ok && before != string(entries[i].JSON()) {
				t.Errorf("%s means two events", entries[i].ID())
			}
			seen[id] = string(entries[i].JSON())
		}
		return entries
	}
	kept := note(o)
	for round := range 3 {
		e.add(o, event(10+round), event(11+round))
		e.add(lost, event(20+round))
		history, other := note(o), note(lost)
		gone := history[len(history)-1]
		backup()
		if _, _, err := feed.Rebase(t.Context(), owner, time.Now().Add(time.Duration(round)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if seq, err := e.Resume(t.Context(), o, kept[1].Cursor()); seq != 2 || err != nil {
			t.Errorf("a cursor from before the cut: %d, %v", seq, err)
		}
		if _, err := e.Resume(t.Context(), o, gone.Cursor()); !errors.Is(err, feed.ErrRebased) {
			t.Errorf("a cursor of a lost entry: %v", err)
		}
		if seq, err := e.Rejoin(t.Context(), o, gone.Cursor()); seq != 3 || err != nil {
			t.Errorf("rejoined at %d, %v", seq, err)
		}
		if next := e.after(o, 3, 1); len(next) != 1 || next[0].Type != "feed.v1.rebased" || next[0].Epoch <= gone.Epoch {
			t.Errorf("the epoch begins with %+v", next)
		}
		if seq, err := e.Rejoin(t.Context(), lost, other[0].Cursor()); seq != 0 || err != nil {
			t.Errorf("a feed of which nothing is left: %d, %v", seq, err)
		}
		note(o)
	}
	e.add(lost, event(9))
	if entries := note(lost); len(entries) != 2 || entries[0].Type != "feed.v1.rebased" {
		t.Errorf("the feed of which nothing was left: %+v", entries)
	}
	if _, err := e.Rejoin(t.Context(), o, "1-2-0123456789abcdef"); err != nil {
		t.Errorf("a wrong hash of an earlier epoch: %v", err)
	}
}
