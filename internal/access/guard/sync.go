package guard

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// syncInterval is how often a node stores its counts and reads those of the
	// others. A decision of staff or of another node takes effect here after at most
	// this time plus that of one transaction.
	syncInterval = 2 * time.Second
	// syncTimeout bounds one Sync.
	syncTimeout = 2 * time.Second
	// monthInterval is how often the earlier days of the month are read: they hardly
	// change.
	monthInterval = 5 * time.Minute
)

// Run calls Sync at intervals, and at once for a new alert, until ctx ends. While
// the database is unavailable the guard continues to judge; that is logged once.
func (g *Guard) Run(ctx context.Context) {
	pause.Loop{
		Interval: syncInterval, Limit: syncTimeout, Wake: g.wake,
		Failed: func(err error) {
			g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard cannot store its counts; it continues with what is in memory", slog.String("error", err.Error()))
		},
		Recovered: func() { g.Log.LogAttrs(ctx, slog.LevelInfo, "the guard can store its counts again") },
	}.Run(ctx, g.Sync)
}

// Sync judges the latest requests, stores counts, alerts and numbers, and reads those
// of all nodes. Call it once more after the last request, so that nothing is lost.
func (g *Guard) Sync(ctx context.Context) error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	now := g.Now()
	if err := g.load(ctx, now); err != nil {
		return err
	}
	subjects := *g.subjects.Load()
	for _, o := range subjects {
		o.maintain(g)
	}
	g.judgeYears(subjects, now)
	report := collect(subjects)
	var state state
	var created []Alert
	err := pg.InTx(ctx, g.Pool, func(tx pg.Tx) (err error) {
		if err := saveUsage(ctx, tx, g.Node, report.counts); err != nil {
			return err
		}
		if err := g.saveSeen(ctx, tx, &report, now); err != nil {
			return err
		}
		if created, err = g.saveAlerts(ctx, tx, report.alerts); err != nil {
			return err
		}
		state, err = readState(ctx, tx, now, now.Sub(g.monthReadAt) >= monthInterval || dayOf(now) != dayOf(g.monthReadAt))
		if err == nil {
			state.warmUp, err = g.warmUp.read(ctx, tx, now)
		}
		return err
	})
	if err != nil {
		report.restore(subjects)
		return err
	}
	g.reported(&report, now)
	if state.month != nil {
		g.monthReadAt = now
	}
	g.apply(state, report)
	for i := range created {
		g.reportAlert(ctx, &created[i])
	}
	return errors.Join(g.hear(ctx, now), g.entered.Read(ctx, g.Pool, yearOf(dayOf(now)), g.mergeEntered), g.storeYears(ctx, now))
}

// dayUsage is the usage of one organisation or sponsor on one day. That of a sponsor
// is not stored: it is the sum over its organisations.
type dayUsage struct {
	subject   uuid.UUID
	isSponsor bool
	day       int64
	usage
}

// report has the counts that a node has not stored yet.
type report struct {
	counts []dayUsage
	alerts []Alert
	seen   []seen
	n      int64 // the number of the report of what was seen; 0 for none
}

// collect takes the counts and alerts that are to be stored.
func collect(subjects map[uuid.UUID]*subject) (r report) {
	for id, o := range subjects {
		o.mu.Lock()
		if o.unstored != (usage{}) {
			r.counts = append(r.counts, dayUsage{id, o.isSponsor, o.day, o.unstored})
			o.storing, o.unstored = o.unstored, usage{}
		}
		for day, u := range o.pastDays {
			r.counts = append(r.counts, dayUsage{id, o.isSponsor, day, u})
			delete(o.pastDays, day)
		}
		r.alerts = append(r.alerts, o.pending...)
		if len(o.unshared) > 0 {
			r.seen = append(r.seen, o.takeSeen())
		}
		o.mu.Unlock()
	}
	// The order prevents a deadlock of two processes that share a name by mistake.
	slices.SortFunc(r.counts, func(x, y dayUsage) int { return slices.Compare(x.subject[:], y.subject[:]) })
	return r
}

// restore undoes collect after a failed transaction. If the transaction was
// committed although its result was lost, some seconds of requests count twice.
func (r *report) restore(subjects map[uuid.UUID]*subject) {
	for _, s := range r.seen {
		o := subjects[s.Entity]
		o.mu.Lock()
		o.restoreSeen(s)
		o.mu.Unlock()
	}
	for _, c := range r.counts {
		o := subjects[c.subject]
		o.mu.Lock()
		if c.day == o.day {
			o.unstored, o.storing = o.unstored.plus(c.usage), usage{}
		} else {
			o.pastDays[c.day] = o.pastDays[c.day].plus(c.usage)
		}
		o.mu.Unlock()
	}
}

// storedUsage is the usage of all organisations and sponsors as last read from the
// database.
type storedUsage struct {
	day   int64
	today map[uuid.UUID]usage
	month map[uuid.UUID]int64 // answers before today
}

// state is the stored state that Sync reads.
type state struct {
	storedUsage // month is nil if it was not read

	raised   map[uuid.UUID][len(kinds)]Level
	quiet    map[uuid.UUID]time.Time
	sponsors map[uuid.UUID]bool // those among raised
	warmUp   warmUp

	released   map[uuid.UUID]time.Time // from a finding about the year
	yearStored map[uuid.UUID]time.Time // when the year was stored; empty if that was not read
}

// apply puts the read state into effect on this node, together with what was
// raised here since.
func (g *Guard) apply(s state, r report) {
	g.mu.Lock()
	if s.month == nil && s.day == g.stored.day {
		s.month = g.stored.month
	}
	g.stored, g.warmUp = s.storedUsage, s.warmUp
	g.mu.Unlock()
	for id := range s.raised {
		g.subject(id, s.sponsors[id]) // it may have sent no request to this node yet
	}
	for id, o := range *g.subjects.Load() {
		o.mu.Lock()
		if o.day == s.day {
			o.stored, o.storing = s.today[id], usage{}
			if s.month != nil {
				o.month = s.month[id]
			}
		}
		o.quietUntil, o.raised = s.quiet[id], s.raised[id]
		o.held.Store(s.warmUp.held(id, s.warmUp.readAt))
		o.year.restart(s.released[id])
		if at := s.yearStored[id]; at.After(o.year.storedAt) {
			o.year.storedAt = at
		}
		o.pending = slices.DeleteFunc(o.pending, func(p Alert) bool {
			return slices.ContainsFunc(r.alerts, func(q Alert) bool { return q.ID == p.ID })
		})
		for _, p := range o.pending {
			o.raised[kindIndex(p.Kind)] = max(o.raised[kindIndex(p.Kind)], p.Level)
		}
		o.level.Store(int32(o.strictest()))
		o.mu.Unlock()
	}
}

// saveAlerts stores alerts, and notifies people of those that no other node has
// stored. It returns the new ones.
func (g *Guard) saveAlerts(ctx context.Context, tx pg.Tx, alerts []Alert) (created []Alert, err error) {
	for i := range alerts {
		isNew, err := saveAlert(ctx, tx, &alerts[i])
		if err != nil {
			return nil, err
		}
		if !isNew {
			continue
		}
		created = append(created, alerts[i])
		if g.Notify == nil {
			continue
		}
		if err := notify(ctx, tx, g.Notify, alerts[i]); err != nil {
			if ctx.Err() != nil || pg.IsUnavailable(err) {
				return nil, err
			}
			g.Log.LogAttrs(ctx, slog.LevelError, "an alert of the guard is stored, but the notification failed",
				slog.String("alert", alerts[i].ID.String()), slog.String("error", err.Error()))
		}
	}
	return created, nil
}

// notify calls a notifier in a savepoint, so that its failure undoes nothing else.
func notify(ctx context.Context, tx pg.Tx, notifier Notifier, a Alert) error {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	if err := notifier(ctx, inner, a); err != nil {
		return errors.Join(err, inner.Rollback(ctx))
	}
	return inner.Commit(ctx)
}

// reportAlert reports a new alert in the log and in metrics.
func (g *Guard) reportAlert(ctx context.Context, a *Alert) {
	if g.OnAlert != nil {
		g.OnAlert(a.Kind, a.Level)
	}
	g.Log.LogAttrs(ctx, slog.LevelWarn, "the guard has raised an alert about an organisation; see: lineproof guard list",
		slog.String("alert", a.ID.String()), slog.String("entity", a.Entity.String()), slog.String("sponsor", a.Sponsor.String()), slog.String("kind", string(a.Kind)), slog.String("what", a.Level.String()),
		slog.Int64("numbers", a.Numbers), slog.Int64("misses", a.Misses), slog.Int64("dense", a.Dense), slog.Int64("block", a.Block), slog.Int64("budget", a.Budget))
}
