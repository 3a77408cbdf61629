package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/phone"
)

// usage counts requests, answers, misses and different numbers.
type usage struct{ requests, answered, misses, numbers int64 }

func (u usage) plus(v usage) usage {
	return usage{u.requests + v.requests, u.answered + v.answered, u.misses + v.misses, u.numbers + v.numbers}
}

// organisation is the state of one organisation on this node.
type organisation struct {
	entity uuid.UUID
	level  atomic.Int32 // a Level: the one in effect

	mu       sync.Mutex
	day      int64           // days since 1970, in UTC
	month    int64           // answers in this month before this day
	stored   usage           // of this day on all nodes, as last read
	storing  usage           // of this day, being stored
	unstored usage           // of this day, counted here since
	pastDays map[int64]usage // of earlier days, not stored yet
	inFlight int64           // admitted requests without an answer yet
	window   window

	raised     [len(kinds)]Level
	pending    []Alert   // raised here and not stored yet
	quietUntil time.Time // no alert is raised before, by decision of staff
}

func newOrganisation(entity uuid.UUID, now time.Time, k storedUsage) *organisation {
	o := &organisation{entity: entity, day: dayOf(now), pastDays: make(map[int64]usage), window: newWindow()}
	o.window.lastExpiry = hourOf(now)
	if k.day == o.day {
		o.stored, o.month = k.today[entity], k.month[entity]
	}
	return o
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }
func dayOf(t time.Time) int64  { return t.Unix() / 86400 }

// startOf returns the start of a day.
func startOf(day int64) time.Time { return time.Unix(day*86400, 0).UTC() }

// today returns the usage of this day, as far as this node knows it.
func (o *organisation) today() usage { return o.stored.plus(o.storing).plus(o.unstored) }

// startDay resets the counts if a new day has begun.
func (o *organisation) startDay(now time.Time) {
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
	o.raised[kindIndex(BudgetUsed)] = None // that alert ends with the day
}

// checkQuotas refuses a request if the organisation is stopped or a quota is used
// up.
func (o *organisation) checkQuotas(b *Budget) refusal {
	if Level(o.level.Load()) == Stopped {
		return isStopped
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

// admit counts a request about a number, unless the budget of numbers is used up.
func (o *organisation) admit(g *Guard, b *Budget, n phone.Number, hour int64) refusal {
	if g.Mode != Off || b.Numbers > 0 {
		word, ago := o.window.lookup(n, hour)
		if word == nil || ago > hour%24 { // not verified on this day
			if b.Numbers > 0 && o.today().numbers >= b.Numbers {
				o.raiseBudgetUsed(g, b)
				return overNumbers
			}
			o.unstored.numbers++
		}
		if o.window.record(n, word, hour) {
			g.population.count.Add(1)
			if o.window.due() {
				o.judge(g, g.Now())
			}
		}
	}
	o.unstored.requests++
	o.inFlight++
	return allowed
}

// raiseBudgetUsed notifies staff, once a day, that the budget of numbers is used up.
func (o *organisation) raiseBudgetUsed(g *Guard, b *Budget) {
	f := Figures{Numbers: o.today().numbers, Misses: o.window.missed, Budget: b.Numbers}
	o.raise(g, BudgetUsed, finding{Notified, f}, g.Now(), startOf(o.day+1))
}

// maintain judges the numbers that came since the last time, and removes those
// older than a day. It releases the lock between the parts, so that no request
// waits long.
func (o *organisation) maintain(g *Guard) {
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
		g.population.count.Add(-count)
		g.population.missed.Add(-missed)
	}
	for i := 0; expire && i < parts; i++ {
		o.mu.Lock()
		o.window.dropEmptyBlocks(i)
		o.mu.Unlock()
	}
}
