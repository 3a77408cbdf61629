package publiclog_test

import (
	"testing"

	"github.com/lineproof/lineproof/internal/evidence/publiclog"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// What is not published has an age, and what is published has none.
func TestLagIsThatOfTheOldestUnpublishedEntry(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	for _, batches := range []int{3, 2} {
		p.grow(batches)
		if lag, err := publiclog.Lag(t.Context(), p.pool); err != nil || lag <= 0 {
			t.Errorf("after %d batches the lag is %s, %v", batches, lag, err)
		}
		p.publish(p.publisher())
		if lag, err := publiclog.Lag(t.Context(), p.pool); err != nil || lag != 0 {
			t.Errorf("after the publication the lag is %s, %v", lag, err)
		}
	}
}

// Each witness has the time of the newest checkpoint that it signed; one that has signed none has
// no time, and one that is down keeps the time of its last.
func TestSeenWitnessesKeepTheirTimes(t *testing.T) {
	t.Parallel()
	p := newPress(t, pgtest.URL(t))
	policy, servers := p.serveWitnesses(2)
	publisher := p.publisher()
	publisher.Witnesses = &publiclog.Witnesses{Policy: policy}
	seen := &publiclog.Seen{Witnesses: publisher.Witnesses}
	before, err := seen.Read(t.Context(), p.pool)
	if err != nil || len(before) != 2 || !before["w0"].IsZero() || !before["w1"].IsZero() {
		t.Fatalf("before the first checkpoint: %v, %v", before, err)
	}
	p.grow(2)
	p.publish(publisher)
	both, err := seen.Read(t.Context(), p.pool)
	if err != nil || both["w0"].IsZero() || !both["w0"].Equal(both["w1"]) {
		t.Fatalf("both have signed: %v, %v", both, err)
	}
	servers[1].Config.Handler = nil // it answers 404 to everything
	p.grow(2)
	p.publish(publisher)
	one, err := seen.Read(t.Context(), p.pool)
	if err != nil || !one["w0"].After(both["w0"]) || !one["w1"].Equal(both["w1"]) {
		t.Errorf("one is down: %v after %v, %v", one, both, err)
	}
}
