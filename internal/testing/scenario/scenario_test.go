package scenario_test

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
)

// groups are all scenarios, by the rule that they show.
var groups = []group{donors, halves, transfers, coverage, lateness, unknowns, restatements, knowledge, flags, bars, voids, pending, dates, doubt, others, backdating, states}

// shards is over how many databases the scenarios are distributed.
const shards = 4

// Every scenario of the table has the answers that it says.
func TestScenarios(t *testing.T) {
	t.Parallel()

	for shard := range shards {
		bare := shard == 0 // the scenarios in which nobody has supplied anything yet
		t.Run(fmt.Sprint("database ", shard), func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			if !bare {
				e.supplied()
			}
			if len(e.failures) > 0 {
				t.Fatal(e.failures)
			}
			if err := e.save(); err != nil {
				t.Fatal(err)
			}
			next := 0
			for _, g := range groups {
				for _, r := range g.rows {
					if r.bare != bare {
						continue
					}
					if next++; bare || next%(shards-1) == shard-1 {
						check(t, e, g.name, r)
					}
				}
			}
		})
	}
}

func check(t *testing.T, e *env, group string, r *row) {
	t.Helper()
	play(e, r)
	for _, f := range e.failures {
		t.Errorf("%s, %s: %s", group, r.title, f)
	}
}

// play runs the steps of a scenario. Its messages are in the order of their reports.
func play(e *env, r *row) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, errStop) {
				e.failf("the service panics: %v\n%s", p, debug.Stack())
			}
		}
	}()
	e.restore(r)
	last := e.clock
	for _, s := range r.steps {
		s.run(e)
		if e.clock.Before(last) {
			e.failf("the scenario goes back in time, to %s", when{at: e.clock})
		}
		last = e.clock
	}
}
