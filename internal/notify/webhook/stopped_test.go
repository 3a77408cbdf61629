package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// While the guard has stopped an organisation, none of its live events leaves, neither by
// itself nor on request; after the release all arrive in their order.
func TestStoppedOrganisationGetsNoWebhooks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.LoopbackLive = true
	o, r := e.bank(), newReceiver(t)
	o.Mode = "live"
	c := e.endpoint(o, r)
	e.sender(0)
	e.tell(o, 1, 2)
	eventually(t, "the first events", func() bool { return e.now(o, c.ID).Seq == 2 })
	alert := uuid.Must(uuid.NewV7())
	if _, err := e.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, 'density', 'stopped', now(), 'test', 1, 0, 1, 100, 0)`, alert, o.Entity); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sender to let go", func() bool {
		var free bool
		err := e.pool.QueryRow(t.Context(), `SELECT leased_until IS NULL FROM hook_cursor WHERE endpoint_id = $1`, c.ID).Scan(&free)
		return err == nil && free
	})
	before := r.count()
	e.tell(o, 3, 4)
	e.senderLooks()
	e.hurry(c.ID)
	if _, err := e.SendAgain(t.Context(), o, c.ID, 1, 4); fault.CodeOf(err) != fault.ScanSuspected {
		t.Errorf("sending again: %v", err)
	}
	if r.count() != before {
		t.Error("a stopped organisation got a request")
	}
	if _, err := e.pool.Exec(t.Context(), `UPDATE guard_alert SET released_at = now(), reason = 'asked' WHERE id = $1`, alert); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the events after the release", func() bool { return len(r.got()) >= 4 })
	if diff := cmp.Diff(ids(1, 4), r.got()); diff != "" {
		t.Error(diff)
	}
}
