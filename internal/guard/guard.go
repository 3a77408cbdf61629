// Package guard keeps one organisation from reading the register out.
//
// What it promises:
//
//   - An organisation asks no more questions on a day or in a month than its
//     quotas allow, and about no more different numbers on a day than its budget
//     allows. A number that it asked about before on that day is free. The count
//     is exact on a node; other nodes, and a node that starts again, know it a
//     few seconds later. Days are those of UTC.
//   - An organisation whose questions look like a scan is slowed to a tenth of
//     its rate and, if it goes on, stopped; staff are told each time, and only
//     they end it. judge.go says what looks like a scan and why.
//   - What a node finds holds on every node within five seconds, and after a
//     restart.
//   - No number leaves the memory of the node. What is stored and logged are
//     counts.
//
// Only live keys are counted. A question costs well below a microsecond; while
// the database is away the node goes on with what it knows.
package guard

import (
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/phone"
)

// Mode is what the guard does about an organisation that seems to scan.
type Mode string

// The modes. Quotas and budgets hold in all of them.
const (
	Stop  Mode = "stop"  // slows it, then stops it
	Watch Mode = "watch" // only tells
	Off   Mode = "off"   // does not look
)

// Budget is how much an organisation may ask. 0 means that there is no limit.
type Budget struct {
	Day, Month int64 // questions that are answered
	Numbers    int64 // different numbers on a day
}

// Guard watches what organisations ask. Make one with [New]; all exported
// fields but Count and Tell are required and are not changed after the first
// call.
type Guard struct {
	Pool *pgxpool.Pool
	Node string
	Mode Mode
	Now  func() time.Time
	Log  *slog.Logger
	// Count is told of every alert that this node makes, for metrics.
	Count func(Kind, Level)
	// Tell lets people know of an alert, in the transaction that stores it. Where
	// it fails the alert is kept all the same.
	Tell Tell

	askers atomic.Pointer[map[uuid.UUID]*asker] // copied for every new one, so that reading needs no lock
	crowd  crowd
	wake   chan struct{} // an alert waits to be stored

	mu    sync.Mutex // held while an asker is added
	known known      // of those who have not asked here yet

	syncing sync.Mutex // held while the database is asked
	months  time.Time  // when the month was last read
}

// New returns g, ready to be used. Call [Guard.Sync] once before the first
// question, so that it goes on from what is stored, and then [Guard.Run].
func New(g *Guard) *Guard {
	g.askers.Store(&map[uuid.UUID]*asker{})
	g.wake = make(chan struct{}, 1)
	return g
}

// Admit lets a question about a number pass and counts it, or returns why not.
// [Guard.Learn] or [Guard.Unanswered] must follow one that passed.
func (g *Guard) Admit(entity uuid.UUID, b Budget, n phone.Number) error {
	a, now := g.asker(entity), g.Now()
	a.mu.Lock()
	a.turn(now)
	no := a.allows(&b)
	if no == passes {
		no = a.admit(g, &b, n, hourOf(now))
	}
	a.mu.Unlock()
	return no.fault(&b, now)
}

// AdmitAll is [Guard.Admit] for several questions of one request. Each number
// has its own error, and the slice is nil when all of them pass. An error of the
// whole means that none does, because the organisation is stopped or has no
// questions left.
func (g *Guard) AdmitAll(entity uuid.UUID, b Budget, numbers []phone.Number) ([]error, error) {
	a, now := g.asker(entity), g.Now()
	var refused []error
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn(now)
	if no := a.allows(&b); no != passes {
		return nil, no.fault(&b, now)
	}
	for i, n := range numbers {
		no := a.allows(&b)
		if no == passes {
			no = a.admit(g, &b, n, hourOf(now))
		}
		if no == passes {
			continue
		}
		if refused == nil {
			refused = make([]error, len(numbers))
		}
		refused[i] = no.fault(&b, now)
	}
	return refused, nil
}

// Learn counts the answer to a question that was admitted. A miss is a number
// that is not allocated.
func (g *Guard) Learn(entity uuid.UUID, n phone.Number, miss bool) {
	a := g.asker(entity)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flight = max(a.flight-1, 0)
	a.fresh.answered++
	if miss {
		a.fresh.misses++
	}
	g.crowd.missed.Add(a.window.learn(n, miss))
}

// Unanswered gives questions back that were admitted and got no answer.
func (g *Guard) Unanswered(entity uuid.UUID, questions int) {
	a := g.asker(entity)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flight = max(a.flight-int64(questions), 0)
}

// slowFactor is by what the rate of a slowed organisation is multiplied: slow
// enough that a scan gets nowhere, and fast enough that tills go on to work
// while staff look into it.
const slowFactor = 0.1

// Slowed returns by what the rates of an organisation are multiplied: 1, or less
// while it is slowed.
func (g *Guard) Slowed(entity uuid.UUID) float64 {
	if a, ok := (*g.askers.Load())[entity]; ok && Level(a.level.Load()) == Slowed {
		return slowFactor
	}
	return 1
}

// asker returns what is known of an organisation.
func (g *Guard) asker(entity uuid.UUID) *asker {
	if a, ok := (*g.askers.Load())[entity]; ok {
		return a
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := *g.askers.Load()
	if a, ok := all[entity]; ok {
		return a
	}
	a := newAsker(entity, g.Now(), g.known)
	all = maps.Clone(all)
	all[entity] = a
	g.askers.Store(&all)
	return a
}

// rouse makes Run store what waits.
func (g *Guard) rouse() {
	select {
	case g.wake <- struct{}{}:
	default: // it is awake already
	}
}
