package guard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/phone"
)

// usage is how much was asked.
type usage struct{ asked, answered, misses, numbers int64 }

func (u usage) plus(v usage) usage {
	return usage{u.asked + v.asked, u.answered + v.answered, u.misses + v.misses, u.numbers + v.numbers}
}

// asker is one organisation, as this node knows it.
type asker struct {
	entity uuid.UUID
	level  atomic.Int32 // a Level: what holds now

	mu     sync.Mutex
	day    int64           // since 1970, in UTC
	month  int64           // answers in this month, before this day
	stored usage           // of this day, on all nodes, as last read
	going  usage           // on its way to the database
	fresh  usage           // counted here since
	late   map[int64]usage // of days that are over, not stored yet
	flight int64           // questions that were admitted and are not answered yet
	window window

	raised  [len(kinds)]Level
	pending []Alert   // raised here, and not stored yet
	quiet   time.Time // nothing is raised before, because staff said so
}

func newAsker(entity uuid.UUID, now time.Time, k known) *asker {
	a := &asker{entity: entity, day: dayOf(now), late: make(map[int64]usage), window: newWindow()}
	a.window.sifted = hourOf(now)
	if k.day == a.day {
		a.stored, a.month = k.today[entity], k.month[entity]
	}
	return a
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }
func dayOf(t time.Time) int64  { return t.Unix() / 86400 }

// startOf returns when a day begins.
func startOf(day int64) time.Time { return time.Unix(day*86400, 0).UTC() }

// today is what was asked on this day, as far as this node knows.
func (a *asker) today() usage { return a.stored.plus(a.going).plus(a.fresh) }

// turn begins a new day when it is time.
func (a *asker) turn(now time.Time) {
	day := dayOf(now)
	if day <= a.day {
		return // also where the clock was set back a little
	}
	if startOf(day).Month() == startOf(a.day).Month() && day-a.day < 31 {
		a.month += a.today().answered
	} else {
		a.month = 0
	}
	a.late[a.day] = a.late[a.day].plus(a.fresh)
	a.day, a.stored, a.going, a.fresh, a.flight = day, usage{}, usage{}, usage{}, 0
	a.raised[placeOf(BudgetUsed)] = Calm // it was about the day
}

// allows says whether a question may be asked at all: whether the organisation
// is not stopped, and the quotas have room.
func (a *asker) allows(b *Budget) refusal {
	if Level(a.level.Load()) == Stopped {
		return scans
	}
	if b.Day <= 0 && b.Month <= 0 {
		return passes
	}
	used := a.today().answered + a.flight
	switch {
	case b.Day > 0 && used >= b.Day:
		return overDay
	case b.Month > 0 && a.month+used >= b.Month:
		return overMonth
	}
	return passes
}

// admit counts a question about a number, if the budget of numbers has room.
func (a *asker) admit(g *Guard, b *Budget, n phone.Number, hour int64) refusal {
	if g.Mode != Off || b.Numbers > 0 {
		word, ago := a.window.since(n, hour)
		if word == nil || ago > hour%24 { // not on this day
			if b.Numbers > 0 && a.today().numbers >= b.Numbers {
				a.spent(g, b)
				return overNumbers
			}
			a.fresh.numbers++
		}
		if a.window.note(n, word, hour) {
			g.crowd.count.Add(1)
			if a.window.due() {
				a.look(g, g.Now())
			}
		}
	}
	a.fresh.asked++
	a.flight++
	return passes
}

// spent tells staff, once on a day, that the budget of numbers is used up.
func (a *asker) spent(g *Guard, b *Budget) {
	f := Figures{Numbers: a.today().numbers, Misses: a.window.missed, Budget: b.Numbers}
	a.raise(g, BudgetUsed, finding{Told, f}, g.Now(), startOf(a.day+1))
}

// sweep forgets what is older than a day and judges what has come, while nobody
// asks. It lets go of the lock between the parts, so that no question waits long.
func (a *asker) sweep(g *Guard) {
	now := g.Now()
	hour := hourOf(now)
	a.mu.Lock()
	a.turn(now)
	if a.window.unseen > 0 {
		a.look(g, now)
	}
	old := a.window.sifted < hour && a.window.count > 0
	a.window.sifted = hour
	a.mu.Unlock()
	for i := 0; old && i < parts; i++ {
		a.mu.Lock()
		count, missed := a.window.sift(i, hour)
		a.mu.Unlock()
		g.crowd.count.Add(-count)
		g.crowd.missed.Add(-missed)
	}
	for i := 0; old && i < parts; i++ {
		a.mu.Lock()
		a.window.tidy(i)
		a.mu.Unlock()
	}
}
