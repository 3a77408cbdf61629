package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A node that was not stopped while the database was restored sends the event about the
// restore and everything after it, although it had sent more events before.
func TestSenderOutlivesARestore(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	owner := pgtest.Open(t, e.pool.Config().ConnString(), pg.Owner)
	o, r := e.bank(), newReceiver(t)
	c := e.endpoint(o, r)
	e.sender(0)
	e.tell(o, 1, 9)
	eventually(t, "the events before the loss", func() bool { return e.now(o, c.ID).Seq == 9 })
	// The restored database has the lease that it had at the time of the backup.
	for _, sql := range []string{
		`DELETE FROM feed_entry WHERE seq > 5`, `UPDATE feed_head h SET seq = e.seq, hash = e.hash FROM feed_entry e WHERE e.seq = 5`, `UPDATE hook_cursor SET seq = 4`,
	} {
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := feed.Rebase(t.Context(), owner, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := webhook.EndLeases(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	e.tell(o, 7, 8)
	eventually(t, "the events after the restore", func() bool { return len(r.got()) >= 9+4 })
	again := r.got()[9:]
	if again[0] != "1-5" || strings.HasPrefix(again[1], "1-") || !strings.HasSuffix(again[1], "-6") || !strings.HasSuffix(again[3], "-8") {
		t.Errorf("after the restore: %v", again)
	}
}
