package guard

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/guard/sketch"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// yearly has the numbers that an organisation or a sponsor has verified in a calendar year (UTC),
// without the numbers. Every node has all of it: a number is added where it is
// verified, and on the other nodes when they hear of it.
type yearly struct {
	year    int
	numbers sketch.Counter // for the budget of the year
	refused refusals

	// These are judged. They begin anew when staff release the subject, who have looked
	// at everything before.
	since  time.Time      // of the last release; zero for none
	recent sketch.Counter // all numbers, without those of files
	files  sketch.Counter // those of files
	missed sketch.Counter // those that are not allocated
	blocks sketch.Blocks  // where they are

	budget   int64     // of the year, as the last request had it; 0 for none
	judged   int64     // numbers and misses when it was last judged
	changed  bool      // since it was last stored
	storedAt time.Time // by this node or, as last read, by another
}

const (
	yearBits   = enteredBits // 16 KB, a standard error of 0.8 %
	recentBits = 12          // 4 KB, 1.6 %
)

func yearOf(day int64) int { return startOf(day).Year() }

// start resets the state if a new year has begun.
func (y *yearly) start(year int) {
	if year > y.year {
		*y = yearly{year: year}
	}
}

// restart forgets what was judged, because staff released the subject.
func (y *yearly) restart(released time.Time) {
	if released.After(y.since) {
		y.since, y.recent, y.files, y.missed, y.blocks, y.judged, y.changed = released, sketch.Counter{}, sketch.Counter{}, sketch.Counter{}, sketch.Blocks{}, 0, true
	}
}

// add adds a number that was verified at a time in this year.
func (y *yearly) add(number, hash uint64, at time.Time) {
	y.changed = true
	y.numbers.Add(hash, yearBits)
	if at.After(y.since) {
		y.recent.Add(hash, recentBits)
		y.blocks.Add(number, hash)
	}
}

// addMiss adds a number that is not allocated.
func (y *yearly) addMiss(hash uint64, at time.Time) {
	if at.After(y.since) {
		y.changed = true
		y.missed.Add(hash, recentBits)
	}
}

func (g *Guard) hash(number uint64) uint64 {
	if key := g.key.Load(); key != nil {
		return key.Hash(number)
	}
	return new(sketch.Key).Hash(number) // Sync was not called yet
}

// cover adds a number to the year of an organisation and of its sponsor. The caller
// holds the lock.
func (o *subject) cover(g *Guard, n phone.Number, at time.Time) {
	key := keyOf(n)
	h := g.hash(key)
	o.year.add(key, h, at)
	if s := o.sponsor.Load(); s != nil {
		s.mu.Lock()
		s.year.add(key, h, at)
		s.mu.Unlock()
	}
}

// coverMiss adds a number that is not allocated. The caller holds the lock.
func (o *subject) coverMiss(g *Guard, n phone.Number, at time.Time) {
	h := g.hash(keyOf(n))
	o.year.addMiss(h, at)
	if s := o.sponsor.Load(); s != nil {
		s.mu.Lock()
		s.year.addMiss(h, at)
		s.mu.Unlock()
	}
}

// yearUsed reports whether the budget of the year is used up, and then notifies
// staff, once a day. The caller holds the lock.
func (o *subject) yearUsed(g *Guard, budget int64) bool {
	o.year.budget = budget
	if budget <= 0 || o.year.numbers.Count() < budget {
		return false
	}
	o.raise(g, YearUsed, finding{Notified, Figures{Numbers: o.year.numbers.Count(), Budget: budget}}, g.Now(), startOf(o.day+1))
	return true
}

// total counts the numbers of several organisations.
type total struct{ numbers, missed int64 }

func (t total) plus(u total) total { return total{t.numbers + u.numbers, t.missed + u.missed} }

// judgeYears judges what each subject has verified in the year. A slow harvest needs
// no answer within the second, so this is not part of a request.
func (g *Guard) judgeYears(subjects map[uuid.UUID]*subject, now time.Time) {
	var all total
	own := make(map[*subject]total, len(subjects))
	for _, o := range subjects {
		if o.isSponsor {
			continue
		}
		o.mu.Lock()
		t := total{o.year.recent.Count(), o.year.missed.Count()}
		o.mu.Unlock()
		all = all.plus(t)
		if s := o.sponsor.Load(); s != nil {
			own[s] = own[s].plus(t)
		} else {
			own[o] = t
		}
	}
	for _, o := range subjects {
		crowd := own[o]
		if s := o.sponsor.Load(); s != nil {
			crowd = own[s] // those of its sponsor are not its crowd
		}
		o.mu.Lock()
		o.judgeYear(g, total{all.numbers - crowd.numbers, all.missed - crowd.missed}, now)
		o.mu.Unlock()
	}
}

func (o *subject) judgeYear(g *Guard, others total, now time.Time) {
	y := &o.year
	if y.budget > 0 && y.numbers.Count()*yearNearlyOf >= y.budget*(yearNearlyOf-1) {
		o.raise(g, YearNearlyUsed, finding{Notified, Figures{Numbers: y.numbers.Count(), Budget: y.budget}}, now, nextMonth(now))
	}
	seen := y.recent.Count() + y.files.Count() + y.missed.Count()
	if seen-y.judged < max(64, y.judged/256) {
		return
	}
	y.judged = seen
	if g.Mode == Off || now.Before(o.quietUntil) {
		return
	}
	o.raiseFinding(g, Harvest, y.harvest(), now)
	o.raiseFinding(g, HarvestMisses, y.harvestMisses(others), now)
}

// mergeEntered counts what a subject has put into watch-lists or sent in files in a year that
// has not ended.
func (g *Guard) mergeEntered(ctx context.Context, s enteredSubject, year int, c enteredCount) {
	o := g.subject(s.ID, s.IsSponsor)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.startDay(g.Now())
	y := &o.year
	if y.year != year {
		return
	}
	y.changed = true
	y.numbers.Merge(c.Numbers, yearBits)
	if c.FileSince.Before(y.since) {
		return // staff have looked at these
	}
	y.files.Merge(c.FileNumbers, enteredFileBits)
	if err := y.blocks.Merge(c.FileBlocks); err != nil {
		g.Log.WarnContext(ctx, "the guard cannot read what the files of an organisation have covered in this year; it continues without it", slog.String("subject", s.ID.String()))
	}
}
