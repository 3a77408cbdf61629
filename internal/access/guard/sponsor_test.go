package guard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// crew is a client with organisations that share a scan over several nodes.
type crew struct {
	client   uuid.UUID
	entities []uuid.UUID
	nodes    []*guard.Guard
	budget   guard.Budget
	asked    int64
}

func (b *bench) crew(t *testing.T, organisations, nodes int) *crew {
	t.Helper()
	c := &crew{nodes: []*guard.Guard{b.Guard}}
	for i := 1; i < nodes; i++ {
		c.nodes = append(c.nodes, b.node(t, string(rune('b'+i))))
	}
	c.client, c.entities = b.sponsor(t, organisations)
	c.budget = guard.Budget{Numbers: 100_000, Sponsor: c.client, SponsorNumbers: 100_000}
	return c
}

// run asks for so long at a rate, each question by the next organisation on the next node,
// and returns how many were answered. Nodes sync every two seconds, as they do in Run.
func (c *crew) run(t *testing.T, b *bench, rate int64, lasting time.Duration, next func(i int64) int64, miss func(n int64) bool) (answered int64) {
	t.Helper()
	total := rate * int64(lasting/time.Second)
	for i := range total {
		if i%(2*rate) == 0 {
			for _, g := range c.nodes {
				settle(t, g)
			}
		}
		b.clock.forward(time.Second / time.Duration(rate))
		g, by, n := c.nodes[c.asked%int64(len(c.nodes))], c.entities[c.asked%int64(len(c.entities))], next(c.asked)
		c.asked++
		if g.Admit(by, c.budget, number(n)) != nil {
			continue
		}
		answered++
		g.Record(by, number(n), miss(n))
	}
	for _, g := range c.nodes {
		settle(t, g)
	}
	return answered
}

// flaggedAfter returns how long after morning a sponsor was flagged first.
func (b *bench) flaggedAfter(t *testing.T, client uuid.UUID, kind guard.Kind) time.Duration {
	t.Helper()
	alerts, err := guard.List(t.Context(), b.pool, b.clock.now(), false, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Duration(-1)
	for i := range alerts {
		if alerts[i].Sponsor == client && alerts[i].Kind == kind {
			took = alerts[i].Since.Sub(morning) // the newest comes first
		}
	}
	return took
}

// Organisations of one sponsor that share a scan are flagged within a minute and get
// no further than one organisation would, however many they are: for numbers one after
// the other, which each of them hardly asks about, and for numbers that mostly do not
// exist, with which each is the other's crowd. Another organisation is answered
// throughout. LINEPROOF_E2E_SPONSOR is how many they are.
func TestOrganisationsOfOneSponsorAreJudgedTogether(t *testing.T) {
	t.Parallel()
	organisations := sized(t, "LINEPROOF_E2E_SPONSOR", 100)
	for name, tc := range map[string]struct {
		kind guard.Kind
		next func(i int64) int64
		miss func(n int64) bool
	}{
		"neighbours":                     {guard.Density, func(i int64) int64 { return first + i }, func(int64) bool { return false }},
		"numbers that are not allocated": {guard.Misses, func(i int64) int64 { return first + i*1_000_003%200_000_000 }, func(n int64) bool { return n%20 != 0 }},
	} {
		b := newBench(t)
		c := b.crew(t, organisations, 2)
		honest := b.entity(t)
		answered := c.run(t, b, 1_000, time.Minute, tc.next, tc.miss)
		took := b.flaggedAfter(t, c.client, tc.kind)
		t.Logf("%s by %d organisations on %d nodes: flagged after %.1f s, %d of %d answered", name, organisations, len(c.nodes), took.Seconds(), answered, c.asked)
		if took < 0 || took > time.Minute || answered > 25_000 {
			t.Errorf("%s: flagged after %s, %d answered", name, took, answered)
		}
		last := c.entities[len(c.entities)-1]
		for _, g := range c.nodes {
			if err := g.Admit(last, c.budget, number(first)); !errors.Is(err, guard.ErrSponsorStopped) {
				t.Errorf("%s: an organisation of the sponsor is answered: %v", name, err)
			}
			mustAsk(t, g, honest, usual, first+5)
		}
		fresh := b.node(t, "fresh")
		if err := fresh.Admit(last, c.budget, number(first)); !errors.Is(err, guard.ErrSponsorStopped) {
			t.Errorf("%s: a node that starts answers it: %v", name, err)
		}
	}
}

// A sponsor that is slowed slows all of its organisations; staff release it as one.
func TestSponsorIsSlowedAndReleasedAsOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.crew(t, 10, 1)
	c.run(t, b, 1_000, 3*time.Second, func(i int64) int64 { return first + i }, func(int64) bool { return false })
	for _, id := range c.entities {
		if f := b.Slowed(id); f != 0.1 {
			t.Fatalf("the factor of an organisation is %g, want 0.1", f)
		}
	}
	list, err := guard.List(t.Context(), b.pool, b.clock.now(), false, 10)
	if err != nil || len(list) != 1 || list[0].Sponsor != c.client || list[0].Entity != uuid.Nil || list[0].Name != "A Sponsor" {
		t.Fatalf("%+v, %v", list, err)
	}
	release := guard.ReleaseForm{Sponsor: c.client, Reason: "a test of theirs", Quiet: time.Hour, By: audit.Actor{Kind: audit.Operator}}
	if n, err := guard.Release(t.Context(), b.pool, b.clock.now(), release); n != 1 || err != nil {
		t.Fatalf("%d were ended, %v", n, err)
	}
	settle(t, b.Guard)
	if f := b.Slowed(c.entities[0]); f != 1 {
		t.Errorf("after the release the factor is %g", f)
	}
}

// All organisations of a sponsor share a budget of different numbers, over all nodes and
// after a restart. Numbers that were verified today are free, and another sponsor has its own.
func TestOrganisationsOfOneSponsorShareABudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.crew(t, 4, 2)
	c.budget.SponsorNumbers = 20
	far := func(i int64) int64 { return first + i*1_000_003 }
	answered := c.run(t, b, 1, 30*time.Second, far, func(int64) bool { return false })
	if answered < 20 || answered > 22 { // two seconds pass before a node knows of the other's
		t.Errorf("%d numbers were answered, and the budget is 20", answered)
	}
	fresh := b.node(t, "fresh")
	f := refusalOf(t, fresh.Admit(c.entities[0], c.budget, number(far(100))))
	if f.RetryAfter <= 0 {
		t.Error("does not say when the budget renews")
	}
	mustAsk(t, fresh, c.entities[0], c.budget, far(0))
	other, members := b.sponsor(t, 1)
	mustAsk(t, fresh, members[0], guard.Budget{Sponsor: other, SponsorNumbers: 20}, far(100))
	if n := count(t, b.pool, `SELECT count(*) FROM guard_alert WHERE kind = 'budget' AND sponsor_id = $1`, c.client); n != 1 {
		t.Errorf("staff were told %d times, want once", n)
	}
}

// A scan is slowed and stopped after as many numbers on eight nodes as on one, and the
// few of the seconds until the nodes know of each other's.
func TestThresholdsDoNotGrowWithTheNodes(t *testing.T) {
	t.Parallel()
	const rate = 50
	for _, nodes := range []int{1, 2, 8} {
		b := newBench(t)
		c := &crew{nodes: []*guard.Guard{b.Guard}, entities: []uuid.UUID{b.entity(t)}}
		for i := 1; i < nodes; i++ {
			c.nodes = append(c.nodes, b.node(t, string(rune('b'+i))))
		}
		answered := c.run(t, b, rate, 6*time.Minute, func(i int64) int64 { return first + i }, func(int64) bool { return false })
		alerts, err := guard.List(t.Context(), b.pool, b.clock.now(), false, 10)
		if err != nil || len(alerts) != 2 {
			t.Fatalf("%d nodes: %d alerts, %v", nodes, len(alerts), err)
		}
		t.Logf("%d nodes: slowed after %d numbers, stopped after %d", nodes, alerts[1].Numbers, answered)
		if alerts[1].Numbers > 2_300 || answered > 10_700 {
			t.Errorf("%d nodes: slowed after %d numbers and stopped after %d", nodes, alerts[1].Numbers, answered)
		}
	}
}

// A number that was verified on another node, or before a restart, is known: it is
// free on that day, and it stays in the window in which a scan is seen.
func TestNodesKnowEachOthersNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bank, ten := b.entity(t), guard.Budget{Numbers: 10}
	for i := range int64(10) {
		mustAsk(t, b.Guard, bank, ten, first+i*1_000_003)
	}
	settle(t, b.Guard)
	two, again := b.node(t, "two"), b.node(t, "one")
	for _, g := range []*guard.Guard{two, again} {
		mustAsk(t, g, bank, ten, first)
		refused(t, ask(g, bank, ten, first+77))
	}
	b.clock.forward(26 * time.Hour)
	settle(t, two)
	if n := count(t, b.pool, `SELECT count(*) FROM guard_seen`); n != 0 {
		t.Errorf("%d reports are left after a day", n)
	}
}

// Organisations of one sponsor are not each other's crowd: that the others miss as often
// does not excuse one of them.
func TestOrganisationsOfOneSponsorAreNotEachOthersCrowd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	honest := b.entity(t)
	for i := range int64(1_500) {
		n := number(first + 300_000_000 + i*1_000_003%200_000_000)
		if err := b.Admit(honest, usual, n); err != nil {
			t.Fatal(err)
		}
		b.Record(honest, n, i%50 == 0)
	}
	c := b.crew(t, 2, 1)
	c.run(t, b, 1_000, 3*time.Second, func(i int64) int64 { return first + i*1_000_003%200_000_000 }, func(n int64) bool { return n%20 != 0 })
	if n := count(t, b.pool, `SELECT count(DISTINCT entity_id) FROM guard_alert WHERE kind = 'misses' AND entity_id = ANY($1)`, c.entities); n != 2 {
		t.Errorf("%d of two organisations that miss alike were flagged, want both", n)
	}
	if b.Slowed(honest) != 1 {
		t.Error("the honest organisation was slowed")
	}
}
