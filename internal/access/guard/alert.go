package guard

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Kind is the kind of a finding. The values are stored and must never be renamed.
type Kind string

// The kinds of alert.
const (
	BudgetUsed     Kind = "budget"         // the budget of different numbers of the day is used up
	Density        Kind = "density"        // numbers are too close together
	Misses         Kind = "misses"         // too many numbers are not allocated
	YearUsed       Kind = "year"           // the budget of different numbers of the year is used up
	YearNearlyUsed Kind = "year-nearly"    // less than a fifth of it is left
	Harvest        Kind = "harvest"        // numbers are too close together, over the year
	HarvestMisses  Kind = "harvest-misses" // too many numbers are not allocated, over the year
	FileHeld       Kind = "file"           // a file of numbers looks like a scan, and is held
	ListsHeld      Kind = "lists"          // too many watch-lists were held or deleted
)

// kinds lists the kinds by their index in subject.raised.
var kinds = [...]Kind{BudgetUsed, Density, Misses, YearUsed, YearNearlyUsed, Harvest, HarvestMisses, FileHeld, ListsHeld}

// endWithDay are the alerts that end with the day.
var endWithDay = [...]Kind{BudgetUsed, YearUsed, FileHeld, ListsHeld}

// Kinds lists every kind.
var Kinds = kinds[:]

// Level is the consequence of an alert.
type Level int32

// The levels, from the mildest to the strictest.
const (
	None     Level = iota // nothing was found
	Notified              // staff are notified, nothing else
	Slowed                // a tenth of the rate
	Stopped               // no answers
)

// Levels lists every level that an alert can have.
var Levels = []Level{Notified, Slowed, Stopped}

var levelWords = [...]string{"", "told", "slowed", "stopped"}

// String returns the stored value.
func (l Level) String() string { return levelWords[l] }

func levelOf(word string) Level {
	for l, w := range levelWords {
		if w == word {
			return Level(l)
		}
	}
	return Stopped // a value of a later version is unknown: use the strictest level
}

// Figures are counts of numbers, never the numbers themselves.
type Figures struct {
	Numbers int64 // different numbers within a day, or within the year if the kind says so
	Misses  int64 // of those, not allocated
	Dense   int64 // of those, in dense blocks
	Block   int64 // the size of those blocks
	Budget  int64 // of different numbers, if it is used up
}

// Alert is a finding about an organisation or a sponsor, and its consequence.
type Alert struct {
	ID      uuid.UUID
	Entity  uuid.UUID // zero for a sponsor
	Sponsor uuid.UUID // a client, if it is about all organisations that it onboarded
	Kind    Kind
	Level   Level
	Since   time.Time
	Until   time.Time // when it ends by itself; zero if staff must release it
	Node    string    // that found it
	Figures
}

// subject returns whom the alert is about: an organisation or a sponsor.
func (a *Alert) subject() uuid.UUID {
	if a.Sponsor != uuid.Nil {
		return a.Sponsor
	}
	return a.Entity
}

// Notifier informs people of an alert, in the transaction that stores it.
type Notifier func(ctx context.Context, tx pg.Tx, a Alert) error

// judge looks for a scan in the window of an organisation or a sponsor and raises
// what it finds. The caller holds the lock.
func (o *subject) judge(g *Guard, now time.Time) {
	if g.Mode == Off || now.Before(o.quietUntil) {
		o.window.unjudged = 0
		return
	}
	o.raiseFinding(g, Density, o.window.density(), now)
	o.raiseFinding(g, Misses, o.window.misses(o.crowd(g)), now)
}

// raiseFinding raises a finding. However much was found, an organisation is slowed
// first, and stopped only if it continues: a single unusual file of numbers stops
// nobody.
func (o *subject) raiseFinding(g *Guard, kind Kind, f finding, now time.Time) {
	switch {
	case g.Mode == Watch:
		f.level = min(f.level, Notified)
	case o.raised[kindIndex(kind)] < Slowed:
		f.level = min(f.level, Slowed)
	}
	o.raise(g, kind, f, now, time.Time{})
}

// raise creates an alert, unless there is already one as strict. It takes effect
// on this node at once, and is stored as soon as the database is available.
func (o *subject) raise(g *Guard, kind Kind, f finding, now, ends time.Time) {
	i := kindIndex(kind)
	if f.level <= o.raised[i] {
		return
	}
	o.raised[i] = f.level
	o.level.Store(int32(o.strictest()))
	a := Alert{
		ID: uuid.Must(uuid.NewV7()), Entity: o.id, Kind: kind, Level: f.level, Since: now.UTC().Truncate(time.Microsecond), Until: ends, Node: g.Node, Figures: f.figures,
	}
	if o.isSponsor {
		a.Entity, a.Sponsor = uuid.Nil, o.id
	}
	o.pending = append(o.pending, a)
	g.wakeSync()
}

// strictest returns the strictest level of all that was raised.
func (o *subject) strictest() (worst Level) {
	for _, l := range o.raised {
		worst = max(worst, l)
	}
	return worst
}

func kindIndex(k Kind) int {
	for i := range kinds {
		if kinds[i] == k {
			return i
		}
	}
	return 0
}
