package webhook_test

import (
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/notify/feed"
)

// An endpoint that was changed gets its next events soon, and not when its lease expires:
// the lease that was given back is not renewed, whenever that happens.
func TestChangedEndpointGetsEventsAtOnce(t *testing.T) {
	t.Parallel()
	const banks, changes, lease, limit = 30, 120, 15 * time.Second, 7 * time.Second
	e := newEnv(t)
	var owners []feed.Owner
	var receivers []*receiver
	var hurry []func()
	for range banks {
		o, r := e.bank(), newReceiver(t)
		id := e.endpoint(o, r).ID
		owners, receivers, hurry = append(owners, o), append(receivers, r), append(hurry, func() { e.hurry(id) })
	}
	e.sender(lease)
	for _, o := range owners {
		e.tell(o, 1, 1)
	}
	for _, r := range receivers {
		eventually(t, "the first event", func() bool { return len(r.got()) == 1 })
	}
	for i := range changes { // over more than a third of the lease, after which it is renewed
		hurry[i%banks]()
		<-time.After(lease / 3 / changes * 5 / 4)
	}
	for _, o := range owners {
		e.tell(o, 2, 2)
	}
	told := time.Now()
	for _, r := range receivers {
		eventually(t, "the second event", func() bool { return len(r.got()) == 2 })
	}
	if waited := time.Since(told); waited > limit {
		t.Errorf("an endpoint waited %s for an event", waited)
	}
}
