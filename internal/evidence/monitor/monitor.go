// Package monitor follows a public log from outside, for everybody who does not want to
// trust its owner: it verifies every checkpoint and every entry, and remembers what it has
// seen, so that a log that takes back, rewrites, back-dates or withholds anything is found.
//
// It reads only what the log publishes. What it finds it writes down in a form that a third
// party can judge.
package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/lineproof/lineproof/internal/values/checkpoint"
	"github.com/lineproof/lineproof/internal/values/logentry"
	"github.com/lineproof/lineproof/internal/values/merkle"
	"github.com/lineproof/lineproof/receipt"
)

// Monitor follows one log.
type Monitor struct {
	Source Source
	Policy *receipt.Policy
	Dir    string // of its state and of what it finds
	Now    func() time.Time
	// Receipts, if set, is a directory with receipts of one's own, which the log must keep.
	Receipts string
	// Peers are addresses of copies of the log, or of what others have seen of it: below each
	// is a checkpoint.
	Peers []string
	// Progress, if set, is called with the number of entries that were read and that there are.
	Progress func(done, all int64)
}

const (
	// mergeDelay is how much older than the checkpoint before it an entry may be.
	mergeDelay = time.Minute
	// clockSkew is how far the clocks of a log and of a witness may differ.
	clockSkew = 2 * time.Second
	// freshness is how old the newest signature of a witness may be.
	freshness = time.Minute
	// Grace is how long after the last signatures of enough witnesses a monitor only warns that there are too few, or no new
	// ones: witnesses are restarted, and the log publishes without them. It is also how long the service waits for the alert
	// that a witness is away.
	Grace = 10 * time.Minute
)

// Violation is something that a log must not do. It is an error of [Monitor.Check].
type Violation struct {
	What string
	// Unconfirmed says that nothing contradicts what the log has shown, and that for too long not enough witnesses have
	// confirmed it.
	Unconfirmed bool
	// Evidence are the signed checkpoints and other texts that show it, by file name.
	Evidence map[string]string
}

// Error implements error.
func (v *Violation) Error() string { return "monitor: " + v.What }

// Report is the result of a check.
type Report struct {
	Origin    string
	Size      int64
	Added     int64 // entries since the last check
	Answers   int64 // that the new entries cover
	Witnesses map[string]time.Time
	Receipts  Receipts
	Warning   string // why not enough witnesses confirm what the log shows; "" if they do
	// Compared is how many witnesses and peers show the same history; Unreachable are those
	// that show none.
	Compared    int
	Unreachable []string
}

// Check reads the newest checkpoint and all entries since the last check. A violation is
// written to a directory before it is returned.
func (m *Monitor) Check(ctx context.Context) (r Report, err error) {
	last, err := m.load()
	if err != nil {
		return r, err
	}
	signed, err := m.Source.Checkpoint(ctx)
	if err != nil {
		return r, err
	}
	r, next, err := m.judge(ctx, &last, signed)
	if v, ok := errors.AsType[*Violation](err); ok {
		v.Evidence["checkpoint.txt"] = signed
		if last.Note != "" {
			v.Evidence["checkpoint-before.txt"] = last.Note
		}
		return r, errors.Join(err, m.keep(v))
	}
	if err != nil {
		return r, err
	}
	return r, m.save(next)
}

func violation(format string, args ...any) *Violation {
	return &Violation{What: fmt.Sprintf(format, args...), Evidence: map[string]string{}}
}

// judge compares a checkpoint with what was seen before.
func (m *Monitor) judge(ctx context.Context, last *state, signed string) (r Report, next *state, err error) {
	text, seen, err := m.Policy.Open(signed)
	if err != nil {
		return r, nil, last.unsigned(signed)
	}
	origin, tree, err := checkpoint.Parse(text)
	if err != nil || origin != m.Policy.Log() {
		return r, nil, violation("the checkpoint is not in the form of c2sp.org/tlog-checkpoint")
	}
	r = Report{Origin: m.Policy.Log(), Size: tree.N, Added: tree.N - last.Size, Witnesses: seen}
	if r.Warning = m.unconfirmed(tree, seen); r.Warning != "" && last.Cosigned.IsZero() {
		return r, nil, &Violation{What: r.Warning, Unconfirmed: true, Evidence: map[string]string{}}
	}
	switch {
	case tree.N < last.Size:
		return r, nil, violation("the log had the size %d, and now has %d", last.Size, tree.N)
	case tree.N == last.Size && last.Size > 0 && tree.Hash != tlog.Hash(last.root()):
		return r, nil, violation("two checkpoints of size %d have different roots", tree.N)
	}
	asOf := m.Now()
	if r.Warning == "" && len(seen) > 0 {
		asOf = newest(seen)
	}
	next, err = m.follow(ctx, last, tree, seen, asOf, &r)
	if err != nil {
		return r, nil, err
	}
	if err := m.checkTiles(ctx, last.Size, tree); err != nil {
		return r, nil, err
	}
	if err := m.checkPeers(ctx, tree, &r); err != nil {
		return r, nil, err
	}
	if err := m.checkReceipts(ctx, tree, asOf, &r.Receipts); err != nil {
		return r, nil, err
	}
	if since := m.Now().Sub(last.Cosigned); r.Warning != "" && since > Grace {
		what := fmt.Sprintf("%s, for %s", r.Warning, since.Round(time.Second))
		return r, nil, &Violation{What: what, Unconfirmed: true, Evidence: map[string]string{}}
	}
	next.Note = signed
	return r, next, nil
}

// unconfirmed says why not enough witnesses confirm what the log shows now; "" if they do.
func (m *Monitor) unconfirmed(tree tlog.Tree, seen map[string]time.Time) string {
	switch {
	case !m.Policy.Satisfied(seen):
		return fmt.Sprintf("too few witnesses have signed the checkpoint of size %d", tree.N)
	case len(seen) > 0 && m.Now().Sub(newest(seen)) > freshness:
		return fmt.Sprintf("the newest signature of a witness is from %s: the log has stopped, shows an old checkpoint, or is quiet while a witness is away",
			newest(seen).Format(time.RFC3339))
	}
	return ""
}

// follow reads the new entries and computes the root from them and from what is known of
// those before: if it is the root of the checkpoint, nothing before was changed.
func (m *Monitor) follow(ctx context.Context, last *state, tree tlog.Tree, seen map[string]time.Time, asOf time.Time, r *Report) (*state, error) {
	next := last.clone()
	grown, err := merkle.Resume(uint64(last.Size), last.Edge) //nolint:gosec // never negative
	if err != nil {
		return nil, fmt.Errorf("monitor: the state is damaged: %w", err)
	}
	for index := last.Size; index < tree.N; {
		entries, err := m.bundle(ctx, index, tree.N)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if err := next.add(index, entry, last.Cosigned, asOf, r); err != nil {
				return nil, err
			}
			grown.Add(entry)
			index++
		}
		if m.Progress != nil {
			m.Progress(index, tree.N)
		}
	}
	if grown.Root() != merkle.Hash(tree.Hash) {
		return nil, violation("the entries up to %d do not have the root of the checkpoint: an entry was changed, or one that was shown before is missing", tree.N)
	}
	next.Size, next.Edge, next.Root = tree.N, grown.Edge(), tree.Hash[:]
	if len(seen) > 0 && m.Policy.Satisfied(seen) {
		next.Cosigned = newest(seen)
	}
	return next, nil
}

// bundle returns the entries from an index to the end of its bundle.
func (m *Monitor) bundle(ctx context.Context, index, size int64) (entries [][]byte, err error) {
	const full = 256
	number := index / full
	t := merkle.Tile{Level: merkle.Bundle, Index: number, Width: int(min(full, size-number*full))}
	content, err := m.Source.Tile(ctx, t)
	if err != nil {
		return nil, err
	}
	if entries, err = merkle.Entries(content); err != nil {
		return nil, violation("the bundle %s is damaged", t.Path())
	}
	if len(entries) != t.Width {
		return nil, violation("the bundle %s does not have the entries that it should", t.Path())
	}
	return entries[index-t.First():], nil
}

// add judges one entry. Before is when witnesses had last confirmed the log without it, and asOf
// when they confirmed it with the entry: now, if too few have.
func (s *state) add(index int64, entry []byte, before, asOf time.Time, r *Report) error {
	e, err := logentry.Decode(entry)
	if err != nil {
		return violation("entry %d is not in a form that this version knows", index)
	}
	if e.Kind == logentry.Answers {
		b, err := logentry.DecodeBatch(entry)
		if err != nil {
			return violation("entry %d is not in a form that this version knows", index)
		}
		if !s.Epochs.add(b.Epoch, b.N) {
			return violation("batch %d of epoch %d is in the log twice, the second time as entry %d", b.N, b.Epoch, index)
		}
		r.Answers += int64(b.Count)
	} else if err := s.addOther(index, &e); err != nil {
		return err
	}
	if !before.IsZero() && e.At.Before(before.Add(-mergeDelay-clockSkew)) {
		return violation("entry %d has the time %s, and a witness had signed a checkpoint without it at %s: it was dated back, or withheld", index, e.At.Format(time.RFC3339Nano), before.Format(time.RFC3339))
	}
	if e.At.After(asOf.Add(clockSkew)) {
		return violation("entry %d has the time %s, which is after a witness has seen it", index, e.At.Format(time.RFC3339Nano))
	}
	return nil
}

// newest returns the newest time.
func newest(seen map[string]time.Time) (t time.Time) {
	for _, at := range seen {
		if at.After(t) {
			t = at
		}
	}
	return t
}
