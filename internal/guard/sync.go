package guard

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/pg"
)

const (
	// syncEvery is how often a node stores what it has counted and reads what the
	// others have. What staff or another node decide holds here no later than this
	// and the time of one look at the database.
	syncEvery = 2 * time.Second
	// syncTime is how long that may take.
	syncTime = 2 * time.Second
	// monthsEvery is how often the days of the month that are over are read anew:
	// they hardly change.
	monthsEvery = 5 * time.Minute
)

// Run keeps the node in step with the others until ctx ends. While the database
// is away it goes on to judge, and says so once.
func (g *Guard) Run(ctx context.Context) {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-g.wake:
		}
		bounded, cancel := context.WithTimeout(ctx, syncTime)
		err := g.Sync(bounded)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !away:
			g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard cannot store what it has counted; it goes on with what it knows", slog.String("error", err.Error()))
		case err == nil && away:
			g.Log.LogAttrs(ctx, slog.LevelInfo, "the guard stores what it has counted again")
		}
		away = err != nil
	}
}

// Sync judges what has come, stores what was counted and raised, and reads what
// all nodes know. Call it once more when no question can come any longer, so
// that nothing counted is lost.
func (g *Guard) Sync(ctx context.Context) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	askers := *g.askers.Load()
	for _, a := range askers {
		a.sweep(g)
	}
	now := g.Now()
	report := collect(askers)
	var state state
	var made []Alert
	err := pg.InTx(ctx, g.Pool, func(tx pg.Tx) (err error) {
		if err := saveUsage(ctx, tx, g.Node, report.counts); err != nil {
			return err
		}
		if made, err = g.saveAlerts(ctx, tx, report.alerts); err != nil {
			return err
		}
		state, err = readState(ctx, tx, now, now.Sub(g.months) >= monthsEvery || dayOf(now) != dayOf(g.months))
		return err
	})
	if err != nil {
		report.putBack(askers)
		return err
	}
	if state.month != nil {
		g.months = now
	}
	g.apply(state, report)
	for i := range made {
		g.announce(ctx, &made[i])
	}
	return nil
}

// counted is what one organisation asked on one day.
type counted struct {
	entity uuid.UUID
	day    int64
	usage
}

// report is what a node has to tell the others.
type report struct {
	counts []counted
	alerts []Alert
}

// collect takes what was counted, which is then on its way.
func collect(askers map[uuid.UUID]*asker) (r report) {
	for id, a := range askers {
		a.mu.Lock()
		if a.fresh != (usage{}) {
			r.counts = append(r.counts, counted{id, a.day, a.fresh})
			a.going, a.fresh = a.fresh, usage{}
		}
		for day, u := range a.late {
			r.counts = append(r.counts, counted{id, day, u})
			delete(a.late, day)
		}
		r.alerts = append(r.alerts, a.pending...)
		a.mu.Unlock()
	}
	// Two processes that share a name by mistake must not wait for each other.
	slices.SortFunc(r.counts, func(x, y counted) int { return slices.Compare(x.entity[:], y.entity[:]) })
	return r
}

// putBack undoes collect, because nothing was stored. Where nobody knows
// whether it was, some seconds of questions may come to count twice.
func (r *report) putBack(askers map[uuid.UUID]*asker) {
	for _, c := range r.counts {
		a := askers[c.entity]
		a.mu.Lock()
		if c.day == a.day {
			a.fresh, a.going = a.fresh.plus(c.usage), usage{}
		} else {
			a.late[c.day] = a.late[c.day].plus(c.usage)
		}
		a.mu.Unlock()
	}
}

// known is what the database has of the organisations.
type known struct {
	day   int64
	today map[uuid.UUID]usage
	month map[uuid.UUID]int64 // answers before today
}

// state is what was read.
type state struct {
	known // month is nil where it was not read

	raised map[uuid.UUID][len(kinds)]Level
	quiet  map[uuid.UUID]time.Time
}

// apply makes what was read hold on this node, beside what was raised here
// since.
func (g *Guard) apply(s state, r report) {
	g.mu.Lock()
	if s.month == nil && s.day == g.known.day {
		s.month = g.known.month
	}
	g.known = s.known
	g.mu.Unlock()
	for id := range s.raised {
		g.asker(id) // it may never have asked here
	}
	for id, a := range *g.askers.Load() {
		a.mu.Lock()
		if a.day == s.day {
			a.stored, a.going = s.today[id], usage{}
			if s.month != nil {
				a.month = s.month[id]
			}
		}
		a.quiet, a.raised = s.quiet[id], s.raised[id]
		a.pending = slices.DeleteFunc(a.pending, func(p Alert) bool {
			return slices.ContainsFunc(r.alerts, func(q Alert) bool { return q.ID == p.ID })
		})
		for _, p := range a.pending {
			a.raised[placeOf(p.Kind)] = max(a.raised[placeOf(p.Kind)], p.Level)
		}
		a.level.Store(int32(a.strictest()))
		a.mu.Unlock()
	}
}

// saveAlerts stores alerts and tells people of those that no other node has
// made. It returns these.
func (g *Guard) saveAlerts(ctx context.Context, tx pg.Tx, alerts []Alert) (made []Alert, err error) {
	for i := range alerts {
		isNew, err := saveAlert(ctx, tx, &alerts[i])
		if err != nil {
			return nil, err
		}
		if !isNew {
			continue
		}
		made = append(made, alerts[i])
		if g.Tell == nil {
			continue
		}
		if err := tell(ctx, tx, g.Tell, alerts[i]); err != nil {
			if ctx.Err() != nil || pg.Away(err) {
				return nil, err
			}
			g.Log.LogAttrs(ctx, slog.LevelError, "nobody could be written to about an alert of the guard",
				slog.String("alert", alerts[i].ID.String()), slog.String("error", err.Error()))
		}
	}
	return made, nil
}

// tell calls t so that its failure undoes nothing but itself.
func tell(ctx context.Context, tx pg.Tx, t Tell, a Alert) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	if err := t(ctx, inner, a); err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	return inner.Commit(ctx)
}

// announce says in log and metrics that an alert was made.
func (g *Guard) announce(ctx context.Context, a *Alert) {
	if g.Count != nil {
		g.Count(a.Kind, a.Level)
	}
	g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard has found an organisation; see: lineproof guard list",
		slog.String("alert", a.ID.String()), slog.String("entity", a.Entity.String()), slog.String("kind", string(a.Kind)), slog.String("what", a.Level.String()),
		slog.Int64("numbers", a.Numbers), slog.Int64("misses", a.Misses), slog.Int64("dense", a.Dense), slog.Int64("block", a.Block), slog.Int64("budget", a.Budget))
}
