package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/phone"
)

// usage counts requests, answers, misses and different numbers.
type usage struct{ requests, answered, misses, numbers int64 }

func (u usage) plus(v usage) usage {
	return usage{u.requests + v.requests, u.answered + v.answered, u.misses + v.misses, u.numbers + v.numbers}
}

// subject is the state of an organisation on this node, or of a sponsor: a client
// that onboarded organisations. A sponsor's window holds the numbers of all its
// organisations, and what is found in it has its effect on each of them.
type subject struct {
	id        uuid.UUID
	isSponsor bool
	level     atomic.Int32            // a Level: the one in effect
	sponsor   atomic.Pointer[subject] // of an organisation; nil if it has none, or sent no request yet
	members   population              // of a sponsor: what its organisations verified
	held      atomic.Int64            // how much of its budgets it does not have yet; see [warmUp]

	mu       sync.Mutex      // that of an organisation is locked before that of its sponsor
	day      int64           // days since 1970, in UTC
	month    int64           // answers in this month before this day
	stored   usage           // of this day on all nodes, as last read
	storing  usage           // of this day, being stored
	unstored usage           // of this day, counted here since
	pastDays map[int64]usage // of earlier days, not stored yet
	inFlight int64           // admitted requests without an answer yet
	window   window
	unshared []uint64 // numbers in the window that other nodes have not been told of
	year     yearly

	raised     [len(kinds)]Level
	pending    []Alert   // raised here and not stored yet
	quietUntil time.Time // no alert is raised before, by decision of staff
}

func newSubject(id uuid.UUID, isSponsor bool, now time.Time, k storedUsage) *subject {
	o := &subject{id: id, isSponsor: isSponsor, day: dayOf(now), pastDays: make(map[int64]usage), window: newWindow()}
	o.window.lastExpiry = hourOf(now)
	o.year.start(yearOf(o.day))
	if k.day == o.day {
		o.stored, o.month = k.today[id], k.month[id]
	}
	return o
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }
func dayOf(t time.Time) int64  { return t.Unix() / 86400 }

// startOf returns the start of a day.
func startOf(day int64) time.Time { return time.Unix(day*86400, 0).UTC() }

// today returns the usage of this day, as far as this node knows it.
func (o *subject) today() usage { return o.stored.plus(o.storing).plus(o.unstored) }

// startDay resets the counts if a new day has begun.
func (o *subject) startDay(now time.Time) {
	day := dayOf(now)
	if day <= o.day {
		return // also if the clock was set back a little
	}
	if startOf(day).Month() == startOf(o.day).Month() && day-o.day < 31 {
		o.month += o.today().answered
	} else {
		o.month = 0
	}
	o.pastDays[o.day] = o.pastDays[o.day].plus(o.unstored)
	o.day, o.stored, o.storing, o.unstored, o.inFlight = day, usage{}, usage{}, usage{}, 0
	for _, k := range endWithDay {
		o.raised[kindIndex(k)] = None
	}
	o.year.start(yearOf(day))
}

// checkQuotas refuses a request if the organisation or its sponsor is stopped, or a
// quota is used up.
func (o *subject) checkQuotas(b *Budget) refusal {
	if reason := o.checkStopped(); reason != allowed {
		return reason
	}
	if b.Day <= 0 && b.Month <= 0 {
		return allowed
	}
	used := o.today().answered + o.inFlight
	switch {
	case b.Day > 0 && used >= b.Day:
		return overDay
	case b.Month > 0 && o.month+used >= b.Month:
		return overMonth
	}
	return allowed
}

// checkStopped refuses a request if the organisation or its sponsor is stopped.
func (o *subject) checkStopped() refusal {
	if Level(o.level.Load()) == Stopped {
		return isStopped
	}
	if s := o.sponsor.Load(); s != nil && Level(s.level.Load()) == Stopped {
		return sponsorStopped
	}
	return allowed
}

// admit counts a request about a number, unless a budget of numbers is used up.
func (o *subject) admit(g *Guard, b *Budget, n phone.Number, now time.Time) refusal {
	if g.Mode != Off || b.Numbers > 0 || b.SponsorNumbers > 0 || b.Year > 0 || b.SponsorYear > 0 {
		hour := hourOf(now)
		word, ago := o.window.lookup(n, hour)
		if word == nil || ago > hour%24 { // not verified on this day
			if b.Numbers > 0 && o.today().numbers >= b.Numbers {
				o.raiseBudgetUsed(g, b.Numbers)
				return overNumbers
			}
			if o.yearUsed(g, b.Year) {
				return overYear
			}
			if s := o.sponsor.Load(); s != nil {
				if reason := s.spendNumber(g, b, now); reason != allowed {
					return reason
				}
			}
			o.unstored.numbers++
			o.share(n)
			o.cover(g, n, now)
		}
		o.see(g, n, word, hour)
	}
	o.unstored.requests++
	o.inFlight++
	return allowed
}

// spendNumber counts a number that an organisation of a sponsor has not verified
// today, unless a budget of the sponsor is used up.
func (o *subject) spendNumber(g *Guard, b *Budget, now time.Time) refusal {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startDay(now)
	if b.SponsorNumbers > 0 && o.today().numbers >= b.SponsorNumbers {
		o.raiseBudgetUsed(g, b.SponsorNumbers)
		return overSponsorNumbers
	}
	if o.yearUsed(g, b.SponsorYear) {
		return overSponsorYear
	}
	o.unstored.numbers++
	return allowed
}

// see puts a number into the windows of an organisation and of its sponsor, and
// judges them if much has come. Word is that of the number in the window of the
// organisation, nil if it is not there. The caller holds the lock.
func (o *subject) see(g *Guard, n phone.Number, word *uint64, hour int64) {
	s := o.sponsor.Load()
	if o.window.record(n, word, hour) {
		g.population.count.Add(1)
		if s != nil {
			s.members.count.Add(1)
		}
		if o.window.due() {
			o.judge(g, g.Now())
		}
	}
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	word, _ = s.window.lookup(n, hour)
	if s.window.record(n, word, hour) && s.window.due() {
		s.judge(g, g.Now())
	}
}

// setMiss stores in the windows whether a number is a miss, and reports whether that
// changed. The caller holds the lock.
func (o *subject) setMiss(g *Guard, n phone.Number, miss bool) bool {
	change := o.window.setMiss(n, miss)
	g.population.missed.Add(change)
	if s := o.sponsor.Load(); s != nil {
		s.members.missed.Add(change)
		s.mu.Lock()
		s.window.setMiss(n, miss)
		s.mu.Unlock()
	}
	return change != 0
}

// crowd returns how many numbers everybody else verified, and how many of them are
// misses. Organisations of one sponsor are not each other's crowd: otherwise their
// own misses would hide them.
func (o *subject) crowd(g *Guard) (count, missed int64) {
	count, missed = g.population.count.Load(), g.population.missed.Load()
	s := o.sponsor.Load()
	if o.isSponsor {
		s = o
	}
	if s != nil {
		return count - s.members.count.Load(), missed - s.members.missed.Load()
	}
	return count - o.window.count, missed - o.window.missed
}

// raiseBudgetUsed notifies staff, once a day, that a budget of numbers is used up.
func (o *subject) raiseBudgetUsed(g *Guard, budget int64) {
	f := Figures{Numbers: o.today().numbers, Misses: o.window.missed, Budget: budget}
	o.raise(g, BudgetUsed, finding{Notified, f}, g.Now(), startOf(o.day+1))
}

// maintain judges the numbers that came since the last time, and removes those
// older than a day. It releases the lock between the parts, so that no request
// waits long.
func (o *subject) maintain(g *Guard) {
	now := g.Now()
	hour := hourOf(now)
	o.mu.Lock()
	o.startDay(now)
	if o.window.unjudged > 0 {
		o.judge(g, now)
	}
	expire := o.window.lastExpiry < hour && o.window.count > 0
	o.window.lastExpiry = hour
	o.mu.Unlock()
	for i := 0; expire && i < parts; i++ {
		o.mu.Lock()
		count, missed := o.window.expire(i, hour)
		o.mu.Unlock()
		if o.isSponsor {
			continue // its members are counted when they expire in the windows of its organisations
		}
		g.population.add(-count, -missed)
		if s := o.sponsor.Load(); s != nil {
			s.members.add(-count, -missed)
		}
	}
	for i := 0; expire && i < parts; i++ {
		o.mu.Lock()
		o.window.dropEmptyBlocks(i)
		o.mu.Unlock()
	}
}
