package feed_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
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
	backup := e.backUp()
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
		if seq, err := e.Rejoin(t.Context(), o, gone.Cursor()); round == 0 && (seq != 3 || err != nil) || round > 0 && !errors.Is(err, feed.ErrCutUnknown) {
			t.Errorf("round %d: rejoined at %d, %v", round, seq, err)
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

// backUp copies the feeds, and returns a function that puts them back as they were, as often
// as it is called.
func (e *env) backUp() (restore func()) {
	e.t.Helper()
	t, all := e.t, pgtest.Open(e.t, e.url, "")
	tables := []string{"feed_entry", "feed_head", "feed_epoch"}
	run := func(sql string) {
		t.Helper()
		if _, err := all.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	schema := "backup_" + strings.ToLower(rand.Text())
	run("CREATE SCHEMA " + schema)
	for _, table := range tables {
		run("CREATE TABLE " + schema + "." + table + " AS TABLE public." + table)
	}
	return func() {
		t.Helper()
		for _, table := range tables {
			run("DELETE FROM public." + table)
			run("INSERT INTO public." + table + " SELECT * FROM " + schema + "." + table)
		}
	}
}

// After a restore to a later moment of a history that an earlier restore had ended, events
// count again that were void. A reader of the time between has forgotten them, and must not
// go on where that history is cut: it would miss them. It is told to read everything again.
func TestRestoreToALaterMomentOfALostHistory(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	owner := pgtest.Open(t, e.url, pg.Owner)
	o := e.bank()
	e.add(o, event(1), event(2))
	first := e.backUp()
	e.add(o, event(3), event(4))
	second := e.backUp()
	e.add(o, event(5))
	old := e.after(o, 4, 1)[0]
	rebase := func(restore func(), epoch int) {
		t.Helper()
		restore()
		if _, _, err := feed.Rebase(t.Context(), owner, time.Now().Add(time.Duration(epoch)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	rebase(first, 1)
	e.add(o, event(6))
	between := e.after(o, 3, 1)[0]
	rebase(second, 2)
	if seq, err := e.Rejoin(t.Context(), o, between.Cursor()); !errors.Is(err, feed.ErrCutUnknown) {
		t.Errorf("a reader of the time between goes on after %d, and misses 3 and 4: %v", seq, err)
	}
	if seq, err := e.Rejoin(t.Context(), o, old.Cursor()); seq != 4 || err != nil {
		t.Errorf("a reader that has read nothing since the first loss goes on after %d, %v; want 4", seq, err)
	}
	if _, err := e.Resume(t.Context(), o, between.Cursor()); !errors.Is(err, feed.ErrRebased) {
		t.Errorf("without rebase: %v", err)
	}
}

// A reader of a lost history that comes back when the event about the restore is no longer
// kept gets 410: otherwise it would not learn what is void.
func TestRejoinAfterTheEventAboutTheRestoreIsDeleted(t *testing.T) {
	t.Parallel()

	e := newEnv(t)
	owner := pgtest.Open(t, e.url, pg.Owner)
	o := e.bank()
	e.add(o, event(1))
	restore := e.backUp()
	e.add(o, event(2), event(3), event(4))
	gone := e.after(o, 3, 1)[0]
	restore()
	if _, _, err := feed.Rebase(t.Context(), owner, time.Now()); err != nil {
		t.Fatal(err)
	}
	e.add(o, event(5), event(6), event(7))
	if _, err := owner.Exec(t.Context(), `DELETE FROM feed_entry WHERE seq < 4`); err != nil {
		t.Fatal(err)
	}
	if seq, err := e.Rejoin(t.Context(), o, gone.Cursor()); !errors.Is(err, feed.ErrCursorTooOld) {
		t.Errorf("it goes on after %d, %v", seq, err)
	}
}
