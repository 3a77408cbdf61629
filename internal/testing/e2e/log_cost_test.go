package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// settled is how long the CPU of a service is counted after the last request: the log is a
// second behind the answers.
const settled = 3 * time.Second

// costed is a service with a database server of its own, so that the CPU of both is its own.
type costed struct {
	name    string
	node    *instance
	cluster *pgtest.Cluster
	load    *openLoop
	phase   *phase
	// by round
	service, database []time.Duration // CPU of an answer
	p99               []time.Duration
}

// What the public log costs: the same requests at the same rate are sent in turn to a service
// without the log, to one that keeps it with two witnesses, and to that one with a receipt for
// every answer. The goals: with receipts at most 1 µs of CPU more an answer, and a p99 of at
// most 1.1 times.
func TestPublicLogCost(t *testing.T) {
	rate, rounds := size(t, "LINEPROOF_E2E_RATE", 100), size(t, "LINEPROOF_E2E_ROUNDS", 1)
	length := time.Duration(size(t, "LINEPROOF_E2E_SECONDS", 2)) * time.Second
	begin := func(name string) *costed {
		c := must(pgtest.Start(context.Background(), pgtest.Durable, "shared_buffers = 1GB", "max_wal_size = 4GB", "checkpoint_timeout = 15min"))(t)
		t.Cleanup(c.Stop)
		if err := c.MakeTemplate(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := newFixture(t, c.URL(must(c.Clone(t.Context()))(t)))
		return &costed{name: name, cluster: c, load: &openLoop{world: w, rate: rate}}
	}
	off, on := begin("without the log"), begin("with the log")
	off.node = start(t, off.load.world)
	log := newRestoredLog(t, on.load.world)
	on.node = start(t, on.load.world, log.settings...)
	all := *on
	all.name, all.load = "with a receipt for all", &openLoop{world: on.load.world, rate: rate, include: `,"include":["receipt"]`}
	services := []*costed{off, on, &all}
	for _, c := range services {
		c.load.address, c.phase = c.node.public, &phase{name: c.name}
		c.load.run(t, &phase{name: "while it warms up"}, func(ctx context.Context) error { return pass(ctx, length/2) })
	}
	for round := range rounds {
		for i := range services {
			services[(i+round)%len(services)].measure(t, length)
		}
	}
	for _, c := range services {
		c.phase.report(t)
		t.Logf("%-24s CPU of an answer, median of %d rounds: service %s, PostgreSQL %s; p99 of the rounds %s", c.name, rounds, median(c.service), median(c.database), c.p99)
		if c == off {
			continue
		}
		var cpu, service, p99 []float64
		for i := range rounds {
			cpu = append(cpu, float64(c.service[i]+c.database[i])/float64(off.service[i]+off.database[i]))
			service = append(service, float64(c.service[i])/float64(off.service[i]))
			p99 = append(p99, float64(c.p99[i])/float64(off.p99[i]))
		}
		t.Logf("%-24s %.3f times the CPU of service and PostgreSQL, %.3f that of the service, %s more an answer; p99 %.2f times (medians of rounds)", c.name,
			median(cpu), median(service), median(c.service)+median(c.database)-median(off.service)-median(off.database), median(p99))
	}
}

func (c *costed) measure(t *testing.T, length time.Duration) {
	t.Helper()
	p := &phase{name: c.name}
	service, database := must(process.CPU(c.node.PID()))(t), must(process.CPU(c.cluster.PID()))(t)
	c.load.run(t, p, func(ctx context.Context) error { return pass(ctx, length) })
	if err := pass(t.Context(), settled); err != nil {
		t.Fatal(err)
	}
	service, database = must(process.CPU(c.node.PID()))(t)-service, must(process.CPU(c.cluster.PID()))(t)-database
	n := time.Duration(len(p.askings))
	if n < time.Duration(c.load.rate)*length/time.Second*9/10 {
		t.Fatalf("%s: only %d questions", c.name, n)
	}
	c.service, c.database = append(c.service, service/n), append(c.database, database/n)
	c.p99 = append(c.p99, p.quantile(0.99))
	c.phase.askings = append(c.phase.askings, p.askings...)
}

func median[T float64 | time.Duration](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
