// Package impact tells organisations that an answer which they received would be
// different now: a report came late, or corrected, withdrew or confirmed an earlier one.
//
// What it guarantees:
//
//   - Every answer to a live key that would have been different if what was reported later
//     had been known is told to the organisation that received it, and to nobody else, by
//     an event in its feed. Archived answers are no exception.
//   - The last notice about an answer says what it would be now. A notice that says the
//     same as the one before is not sent, whatever is killed meanwhile: notices, entries
//     of feeds and the mark of the outbox are written in one transaction.
//   - A notice says what was answered and what would be answered. It never says who erred.
//
// Every change of the outbox is looked at twice. The recent pass only reads the answers of
// the last hour, which matter most, and so is fast at any size of the journal. The whole pass
// reads all answers that the changes may concern; what it tells does not depend on the other.
package impact

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// Teller looks for answers that changes make different, and tells of them. All fields are
// required but Told. Create one with [New].
type Teller struct {
	Pool  *pgxpool.Pool
	Files blob.Store // has the archives of the journal
	Lines *linestore.Resolver
	Now   func() time.Time
	// Settle is how long after a change an answer that does not know it may be
	// committed: at least the timeout of a verification.
	Settle time.Duration
	// Told is called after a pass that told something: with how many notices, and how
	// long ago the oldest of the changes was reported.
	Told func(notices int, oldest time.Duration)

	locks *pg.SessionLocks
}

// New returns a teller that is ready.
func New(t *Teller) *Teller {
	t.locks = &pg.SessionLocks{Pool: t.Pool}
	return t
}

// pass is one of the two ways to look for answers.
type pass struct {
	reader   string        // its mark in the outbox
	lookback time.Duration // of how long ago answers are read; 0 for all
	limit    int           // changes at once
}

var (
	recent = pass{reader: "impact-recent", lookback: time.Hour, limit: 20_000}
	whole  = pass{reader: "impact", limit: 200_000}
)

const pollInterval = time.Second

// Run tells until ctx ends.
func (t *Teller) Run(ctx context.Context, log *slog.Logger) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, p := range []pass{recent, whole} {
		group.Go(func() { t.run(ctx, log, p) })
	}
}

func (t *Teller) run(ctx context.Context, log *slog.Logger, p pass) {
	failing := false
	var seen horizons
	for ctx.Err() == nil {
		more, err := t.runOnce(ctx, p, &seen)
		if err != nil && ctx.Err() == nil && !failing && !pg.IsUnavailable(err) { // an outage is in the log already
			log.LogAttrs(ctx, slog.LevelError, "changes of past answers are not told; trying again", slog.String("pass", p.reader), slog.String("error", err.Error()))
		}
		failing = err != nil && !pg.IsUnavailable(err)
		if err != nil || !more {
			pause.For(ctx, pollInterval)
		}
	}
}

// runOnce does one pass over the changes that have settled, if this node may.
func (t *Teller) runOnce(ctx context.Context, p pass, seen *horizons) (more bool, err error) {
	horizon, err := outbox.Horizon(ctx, t.Pool)
	if err != nil {
		return false, err
	}
	seen.add(horizon, time.Now())
	upTo := seen.before(time.Now().Add(-t.Settle))
	if mark, err := outbox.Mark(ctx, t.Pool, p.reader); err != nil || upTo <= mark {
		return false, err
	}
	unlock, err := t.locks.Lock(ctx, "lineproof "+p.reader)
	if errors.Is(err, pg.ErrLocked) {
		return false, nil // another node does it
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	return t.step(ctx, p, upTo)
}

// Step does one pass of each kind over what is committed now, without waiting for answers
// that are about to be committed. It returns whether there is more to do.
func (t *Teller) Step(ctx context.Context) (more bool, err error) {
	horizon, err := outbox.Horizon(ctx, t.Pool)
	if err != nil {
		return false, err
	}
	for _, p := range []pass{recent, whole} {
		again, err := t.step(ctx, p, horizon)
		if err != nil {
			return false, err
		}
		more = more || again
	}
	return more, nil
}

// horizons remember when each horizon of the outbox was first seen: a change was visible
// to every verification that began after that.
type horizons []seenHorizon

type seenHorizon struct {
	n  int64
	at time.Time
}

func (h *horizons) add(n int64, at time.Time) {
	if last := len(*h) - 1; last < 0 || n > (*h)[last].n {
		*h = append(*h, seenHorizon{n, at})
	}
}

// before returns the last horizon that was seen before a time, and forgets earlier ones;
// 0 if there is none.
func (h *horizons) before(at time.Time) int64 {
	for len(*h) > 1 && !(*h)[1].at.After(at) {
		*h = (*h)[1:]
	}
	if len(*h) == 0 || (*h)[0].at.After(at) {
		return 0
	}
	return (*h)[0].n
}
