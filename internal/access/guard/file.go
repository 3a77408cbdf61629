package guard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// A file of numbers is judged as a whole before a row of it is answered, by the thresholds of
// a day at which an organisation is slowed: by itself, and together with the other files of
// the day, so that many small files are one large one. What looks like a scan is held until
// two people have released it. A file may have ten times as many numbers as an organisation
// may verify on a day, because unlike verifications it is judged before it is answered.

// filesTimes is how many times the budget of a day the files of a day may have.
const filesTimes = 10

// FilesOf returns how many numbers the files of a day may have, by the budget of numbers of a day.
func FilesOf(budget int64) int64 { return filesTimes * budget }

// FileNumbers is a file of numbers before its rows are answered.
type FileNumbers struct {
	Numbers         []phone.Number // they are sorted in place, and numbers that come again are dropped
	Sampled, Missed int64          // how many numbers were looked up at random, and how many of them are not allocated
}

// FileVerdict says whether a file is held, and for what.
type FileVerdict struct {
	Held bool
	Figures

	Steps int64 // numbers in equal steps
}

// EnterFile is [Guard.Enter] for a file, which it also judges. The numbers are spent also if
// the file is held.
func (g *Guard) EnterFile(ctx context.Context, tx pg.Tx, entity uuid.UUID, b Budget, f *FileNumbers) (FileVerdict, error) {
	slices.SortFunc(f.Numbers, func(x, y phone.Number) int { return cmp.Compare(x.Int(), y.Int()) })
	f.Numbers = slices.Compact(f.Numbers)
	if err := g.Enter(ctx, tx, entity, b, slices.Values(f.Numbers)); err != nil || len(f.Numbers) == 0 {
		return FileVerdict{}, err
	}
	o, now := g.sponsored(entity, b.Sponsor), g.Now()
	o.mu.Lock()
	o.warm(&b)
	o.mu.Unlock()
	v := FileVerdict{Figures: Figures{Numbers: int64(len(f.Numbers))}}
	if missed, sampled := f.Missed, f.Sampled; sampled > 0 {
		v.Misses = missed * v.Numbers / sampled
	}
	counts := make([]fileCount, 0, 2)
	for _, c := range []fileCount{{subject: o, budget: FilesOf(b.Numbers), over: overFiles}, {subject: o.sponsor.Load(), budget: FilesOf(b.SponsorNumbers), over: overSponsorFiles}} {
		if c.subject == nil {
			continue
		}
		if err := c.read(ctx, tx, now); err != nil {
			return FileVerdict{}, err
		}
		if c.Spent += v.Numbers; c.budget > 0 && c.Spent > c.budget {
			return FileVerdict{}, c.over.fault(&b, now)
		}
		c.judge(g, f.Numbers, &v, now)
		counts = append(counts, c)
	}
	for i := range counts {
		if err := counts[i].save(ctx, tx, &v, now); err != nil {
			return FileVerdict{}, err
		}
	}
	return v, nil
}

// fileCount is what the files of an organisation, or of a sponsor, have with a file.
type fileCount struct {
	*subject
	enteredFiles

	budget int64
	over   refusal
}

func (c *fileCount) who() enteredSubject { return enteredSubject{ID: c.id, IsSponsor: c.isSponsor} }

func (c *fileCount) read(ctx context.Context, tx pg.Tx, now time.Time) (err error) {
	c.mu.Lock()
	released := c.year.since
	c.mu.Unlock()
	c.enteredFiles, err = lockFiles(ctx, tx, c.who(), yearOf(dayOf(now)), dayOf(now), released)
	return err
}

// judge adds a file, and says whether it is held.
func (c *fileCount) judge(g *Guard, numbers []phone.Number, v *FileVerdict, now time.Time) {
	for _, n := range numbers {
		h := g.hash(keyOf(n))
		c.DayBlocks.Add(keyOf(n), h)
		c.Numbers.Add(h, enteredFileBits)
		c.Blocks.Add(keyOf(n), h)
	}
	c.Judged, c.Missed = c.Judged+v.Numbers, c.Missed+v.Misses
	c.mu.Lock()
	defer c.mu.Unlock()
	others, missed := c.crowd(g)
	if g.Mode == Off || now.Before(c.quietUntil) || !v.findScan(numbers, &c.enteredFiles, others, missed) {
		return
	}
	v.Held = v.Held || g.Mode == Stop
	c.raise(g, FileHeld, finding{Notified, v.Figures}, now, startOf(dayOf(now)+1))
}

// save stores what the files have. Of a file that is held only its numbers are spent.
func (c *fileCount) save(ctx context.Context, tx pg.Tx, v *FileVerdict, now time.Time) error {
	if v.Held {
		if err := c.read(ctx, tx, now); err != nil {
			return err
		}
		c.Spent += v.Numbers
	}
	return c.Save(ctx, tx, c.who(), yearOf(dayOf(now)))
}

// findScan looks for a scan in a file, and in all files of the day with it, and keeps the
// figures of what it finds.
func (v *FileVerdict) findScan(numbers []phone.Number, day *enteredFiles, others, missed int64) bool {
	found := v.Dense > 0 || v.Steps > 0
	for i := range scales {
		if dense := denseOf(numbers, i); scales[i].isSlow(dense, v.Numbers) && dense >= v.Dense {
			found, v.Dense, v.Block = true, dense, scales[i].size
		}
	}
	middle := &scales[1]
	if dense := day.DayBlocks.Dense(min(max(middle.floor, day.Judged/middle.fair), harvestFull)); middle.isSlow(dense, day.Judged) && v.Dense == 0 {
		found, v.Dense, v.Block = true, dense, middle.size
	}
	if steps := stepsOf(numbers); steps >= stepHold && steps*stepPart >= v.Numbers {
		found, v.Steps = true, steps
	}
	w := window{count: day.Judged, missed: day.Missed}
	return w.misses(others, missed).level != None || found
}

// isSlow reports whether so many numbers in dense blocks, of so many in all, are slowed.
func (s *scale) isSlow(dense, all int64) bool { return dense >= s.slow && dense*s.part >= all }

// denseOf counts the numbers in dense blocks of a scale. The numbers are sorted.
func denseOf(numbers []phone.Number, i int) (dense int64) {
	s := &scales[i]
	floor := s.floor
	if s.fair > 0 {
		floor = max(floor, int64(len(numbers))/s.fair)
	}
	for begin := 0; begin < len(numbers); {
		end, block := begin, numbers[begin].Int()/s.size
		for end < len(numbers) && numbers[end].Int()/s.size == block {
			end++
		}
		if n := int64(end - begin); n >= floor {
			dense += n
		}
		begin = end
	}
	return dense
}

// stepsOf counts the numbers whose gap to the next is that to the one before. The numbers are
// sorted.
func stepsOf(numbers []phone.Number) (n int64) {
	for i := 2; i < len(numbers); i++ {
		if numbers[i].Int()-numbers[i-1].Int() == numbers[i-1].Int()-numbers[i-2].Int() {
			n++
		}
	}
	return n
}
