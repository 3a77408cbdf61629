// Package guard prevents an organisation from copying the register by scanning it
// number by number.
//
// What it guarantees:
//
//   - An organisation gets no more answers on a day or in a month than its quotas
//     allow, and verifies no more different numbers on a day than its budget
//     allows. A number that it has already verified on that day is free. The count
//     is exact on one node; other nodes, and a node that restarts, know it a few
//     seconds later. Days are in UTC.
//   - It verifies no more different numbers in a year (UTC) than its budget of the year
//     allows, within 1 %: the numbers are not kept, but counted in a sketch. Numbers that
//     it puts into watch-lists count as verified. The budgets of
//     a new organisation grow with its age and its accepted documents.
//   - Organisations that the same client onboarded are also counted and judged
//     together, as its sponsor: many organisations get no further than one.
//   - An organisation whose requests look like a scan is slowed to a tenth of its
//     rate and, if it continues, stopped; staff are notified each time, and only
//     they can release it. judge.go says what looks like a scan and why. What is slow or
//     hidden among honest requests is found by what was covered in the year.
//   - What a node finds takes effect on every node within five seconds, and still
//     after a restart. Nodes tell each other which numbers were verified, so that a
//     scan over several nodes is found as early as one over a single node.
//   - These numbers are stored for a day, for the nodes alone. Otherwise only counts
//     are stored and logged.
//
// Only live keys are counted. A call costs well below a microsecond; while the
// database is unavailable the node continues with what it has in memory.
package guard

import (
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Mode is what the guard does about an organisation whose requests look like a scan.
type Mode string

// The modes. Quotas and budgets apply in all of them.
const (
	Stop  Mode = "stop"  // slow it, then stop it
	Watch Mode = "watch" // only notify staff
	Off   Mode = "off"   // do not look for scans
)

// Budget is how much an organisation may verify. 0 means no limit.
type Budget struct {
	Day, Month int64 // answered requests
	Numbers    int64 // different numbers on a day
	Year       int64 // different numbers in a year

	OwnNumbers, OwnYear bool // staff set Numbers or Year for this organisation: it does not grow with its age

	Sponsor        uuid.UUID // the client that onboarded the organisation; zero if the regulator created it
	SponsorNumbers int64     // different numbers on a day of all organisations of the sponsor; one that two of them verify counts twice
	SponsorYear    int64     // different numbers in a year of all organisations of the sponsor

	growing bool // a budget is not whole yet
}

// Guard counts and judges the requests of organisations. Create one with [New];
// all exported fields but OnAlert and Notify are required, and none may be changed
// after the first call.
type Guard struct {
	Pool *pgxpool.Pool
	Node string
	Mode Mode
	Now  func() time.Time
	Log  *slog.Logger
	// OnAlert is called for every alert that this node creates, for metrics.
	OnAlert func(Kind, Level)
	// Notify informs people of an alert, in the transaction that stores it. If it
	// fails, the alert is stored nevertheless.
	Notify Notifier

	subjects   atomic.Pointer[map[uuid.UUID]*subject] // by the id of an entity or of a client; copied for each new one, so that reading needs no lock
	population population                             // of all organisations
	wake       chan struct{}                          // has an element while an alert waits to be stored
	key        atomic.Pointer[sketch.Key]             // nil before the first Sync

	mu     sync.Mutex  // held while a subject is added
	stored storedUsage // of subjects that have sent no request to this node yet
	warmUp warmUp

	syncing     sync.Mutex       // held during Sync
	monthReadAt time.Time        // when the month was last read
	heard       map[string]int64 // the last report of each node that this one has read
	deletedAt   int64            // the hour in which old reports were last deleted
	entered     enteredReader    // of what was put into watch-lists
}

// New returns g, ready for use. Call [Guard.Sync] once before the first request,
// so that the guard continues with the stored counts, and then [Guard.Run].
func New(g *Guard) *Guard {
	g.subjects.Store(&map[uuid.UUID]*subject{})
	g.heard = make(map[string]int64)
	g.wake = make(chan struct{}, 1)
	return g
}

// Admit counts a request about a number, or returns why it is refused. A call of
// [Guard.Record] or [Guard.Refund] must follow each admitted request.
func (g *Guard) Admit(entity uuid.UUID, b Budget, n phone.Number) error {
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	o.mu.Lock()
	o.startDay(now)
	o.warm(&b)
	reason := o.checkQuotas(&b)
	if reason == allowed {
		reason = o.admit(g, &b, n, now)
	}
	o.mu.Unlock()
	return reason.fault(&b, now)
}

// AdmitAll is [Guard.Admit] for several numbers of one request. Each number has
// its own error, and the slice is nil if all are admitted. The second result is
// set if none is admitted, because the organisation is stopped or its quota is
// used up.
func (g *Guard) AdmitAll(entity uuid.UUID, b Budget, numbers []phone.Number) ([]error, error) {
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	var refused []error
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startDay(now)
	o.warm(&b)
	if reason := o.checkQuotas(&b); reason != allowed {
		return nil, reason.fault(&b, now)
	}
	for i, n := range numbers {
		reason := o.checkQuotas(&b)
		if reason == allowed {
			reason = o.admit(g, &b, n, now)
		}
		if reason == allowed {
			continue
		}
		if refused == nil {
			refused = make([]error, len(numbers))
		}
		refused[i] = reason.fault(&b, now)
	}
	return refused, nil
}

// Record counts the answer to an admitted request. A miss is a number that is not
// allocated.
func (g *Guard) Record(entity uuid.UUID, n phone.Number, miss bool) {
	o := g.organisation(entity)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight = max(o.inFlight-1, 0)
	o.unstored.answered++
	if miss {
		o.unstored.misses++
	}
	if !o.setMiss(g, n, miss) {
		return
	}
	o.share(n)
	if miss {
		o.coverMiss(g, n, g.Now())
	}
}

// Refund takes back admitted requests that got no answer.
func (g *Guard) Refund(entity uuid.UUID, requests int) {
	o := g.organisation(entity)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight = max(o.inFlight-int64(requests), 0)
}

// slowFactor multiplies the rate of a slowed organisation. It is slow enough to
// make a scan useless, and fast enough for points of sale to keep working while
// staff investigate.
const slowFactor = 0.1

// Slowed returns the factor for the rates of an organisation: 1, or less while it
// or its sponsor is slowed.
func (g *Guard) Slowed(entity uuid.UUID) float64 {
	o, ok := (*g.subjects.Load())[entity]
	if !ok {
		return 1
	}
	s := o.sponsor.Load()
	if Level(o.level.Load()) == Slowed || s != nil && Level(s.level.Load()) == Slowed {
		return slowFactor
	}
	return 1
}

// organisation returns the state of an organisation, which it creates if needed.
func (g *Guard) organisation(entity uuid.UUID) *subject { return g.subject(entity, false) }

// sponsored returns the state of an organisation, and lets it know its sponsor.
func (g *Guard) sponsored(entity, sponsor uuid.UUID) *subject {
	o := g.organisation(entity)
	if sponsor != uuid.Nil && o.sponsor.Load() == nil {
		o.sponsor.CompareAndSwap(nil, g.subject(sponsor, true))
	}
	return o
}

func (g *Guard) subject(id uuid.UUID, isSponsor bool) *subject {
	if o, ok := (*g.subjects.Load())[id]; ok {
		return o
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := *g.subjects.Load()
	if o, ok := all[id]; ok {
		return o
	}
	now := g.Now()
	o := newSubject(id, isSponsor, now, g.stored)
	o.held.Store(g.warmUp.held(id, now))
	all = maps.Clone(all)
	all[id] = o
	g.subjects.Store(&all)
	return o
}

// wakeSync makes Run call Sync now.
func (g *Guard) wakeSync() {
	select {
	case g.wake <- struct{}{}:
	default: // it is already woken
	}
}
