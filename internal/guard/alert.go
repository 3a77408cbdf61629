package guard

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/pg"
)

// Kind says what was found. The words are stored; they are never changed.
type Kind string

// The kinds of alert.
const (
	BudgetUsed Kind = "budget"  // all different numbers of the day are used up
	Density    Kind = "density" // numbers lie too close together
	Misses     Kind = "misses"  // too many numbers are not allocated
)

// kinds lists the kinds, by the place that an asker has for each.
var kinds = [...]Kind{BudgetUsed, Density, Misses}

// Kinds lists every kind.
var Kinds = kinds[:]

// Level says what follows from an alert.
type Level int32

// The levels, from the mildest to the strictest.
const (
	Calm    Level = iota // nothing was found
	Told                 // staff are told, and that is all
	Slowed               // a tenth of the rate
	Stopped              // no answers
)

// Levels lists every level that an alert can have.
var Levels = []Level{Told, Slowed, Stopped}

var levelWords = [...]string{"", "told", "slowed", "stopped"}

// String returns the word that is stored.
func (l Level) String() string { return levelWords[l] }

func levelOf(word string) Level {
	for l, w := range levelWords {
		if w == word {
			return Level(l)
		}
	}
	return Stopped // a word of a later version: what it asks for is not known, so the strictest
}

// Figures are how many there were. Never which.
type Figures struct {
	Numbers int64 // different numbers within a day
	Misses  int64 // of those, not allocated
	Dense   int64 // of those, in dense blocks
	Block   int64 // the size of those blocks
	Budget  int64 // of different numbers, where it is used up
}

// Alert says that an organisation was found to do something, and what followed.
type Alert struct {
	ID     uuid.UUID
	Entity uuid.UUID
	Kind   Kind
	Level  Level
	Since  time.Time
	Ends   time.Time // when it ends by itself; zero when staff must end it
	Node   string    // that found it
	Figures
}

// Tell lets people know of an alert, in the transaction that stores it.
type Tell func(ctx context.Context, tx pg.Tx, a Alert) error

// look judges what an organisation has asked, and raises what it finds. The
// caller holds its lock.
func (a *asker) look(g *Guard, now time.Time) {
	if g.Mode == Off || now.Before(a.quiet) {
		a.window.unseen = 0
		return
	}
	a.found(g, Density, a.window.density(), now)
	a.found(g, Misses, a.window.misses(&g.crowd), now)
}

// found raises a finding. However much was found, an organisation is slowed
// first, and stopped only if it goes on: a single file of numbers that looks odd
// stops nobody.
func (a *asker) found(g *Guard, kind Kind, f finding, now time.Time) {
	switch {
	case g.Mode == Watch:
		f.level = min(f.level, Told)
	case a.raised[placeOf(kind)] < Slowed:
		f.level = min(f.level, Slowed)
	}
	a.raise(g, kind, f, now, time.Time{})
}

// raise makes an alert, unless there is one as strict already. It holds on this
// node at once, and is stored as soon as the database takes it.
func (a *asker) raise(g *Guard, kind Kind, f finding, now, ends time.Time) {
	i := placeOf(kind)
	if f.level <= a.raised[i] {
		return
	}
	a.raised[i] = f.level
	a.level.Store(int32(a.strictest()))
	a.pending = append(a.pending, Alert{
		ID: uuid.Must(uuid.NewV7()), Entity: a.entity, Kind: kind, Level: f.level, Since: now.UTC().Truncate(time.Microsecond), Ends: ends, Node: g.Node, Figures: f.figures,
	})
	g.rouse()
}

// strictest is what holds of all that was raised.
func (a *asker) strictest() (worst Level) {
	for _, l := range a.raised {
		worst = max(worst, l)
	}
	return worst
}

func placeOf(k Kind) int {
	for i := range kinds {
		if kinds[i] == k {
			return i
		}
	}
	return 0
}
