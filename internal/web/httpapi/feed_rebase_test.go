package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A cursor of events that a restore has lost gets 409, which says what to do; what it says
// leads to the event that tells of the restore, and on from there.
func TestFeedAfterARestore(t *testing.T) {
	t.Parallel()

	s := newStack(t)
	key := s.bankKey(t, access.Live)
	for range 3 {
		s.tell(t, access.Live)
	}
	lost := field(t, s.do(t, get(feedPath, key)).Body.Bytes(), "data", "next")
	var name string
	if err := s.pool.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	owner := pgtest.Open(t, pgtest.Server(t).URL(name), pg.Owner)
	must(owner.Exec(t.Context(), `WITH gone AS (DELETE FROM feed_entry WHERE seq > 1) UPDATE feed_head h SET seq = 1, hash = e.hash FROM feed_entry e WHERE e.seq = 1`))(t)
	if _, _, err := feed.Rebase(t.Context(), owner, time.Now()); err != nil {
		t.Fatal(err)
	}
	refused := s.do(t, get(feedPath+"?after="+lost, key))
	if refused.Code != 409 || !strings.Contains(refused.Body.String(), "rebase=true") {
		t.Errorf("a cursor of lost events: %d %s", refused.Code, refused.Body)
	}
	answer := s.do(t, get(feedPath+"?rebase=true&after="+lost, key))
	if answer.Code != 200 || strings.Count(answer.Body.String(), `"specversion"`) != 1 || !strings.Contains(answer.Body.String(), "org.lineproof.feed.v1.rebased") {
		t.Errorf("with rebase=true: %d %s", answer.Code, answer.Body)
	}
	next := field(t, answer.Body.Bytes(), "data", "next")
	s.tell(t, access.Live)
	if after := s.do(t, get(feedPath+"?after="+next, key)); after.Code != 200 || strings.Count(after.Body.String(), `"specversion"`) != 1 {
		t.Errorf("after that: %d %s", after.Code, after.Body)
	}
	if wrong := s.do(t, get(feedPath+"?rebase=yes", key)); wrong.Code != 400 {
		t.Errorf("rebase=yes: %d", wrong.Code)
	}
}
