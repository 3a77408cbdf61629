// Package distribute tells organisations what changed about the numbers that they watch.
//
// What it guarantees:
//
//   - Every change that the outbox has, and that an active list matches at its place, is
//     added once to the feed of the list's owner, in the order of the outbox: entries and
//     the mark of the outbox are written in one transaction ([Distributor.Step]).
//   - An announced churn of a watched number is told once when its date is reached, if it
//     still holds then, in the same way.
//   - What concerns many lines at once is told once to each organisation that watches: a
//     network's supply starts, becomes stale or is fresh again, a new policy or plan is in
//     effect ([Distributor.TellClasses]).
//   - Nothing about a sealed number is told before its seal ends. Then its changes are told,
//     each once and in their order.
//   - One node does it at a time. When that node fails, another goes on at the mark.
package distribute

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/watchlist"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/platform/telemetry/span"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// batch is how many changes one transaction distributes.
const batch = 5_000

// Distributor moves changes from the outbox to the feeds. All fields are required but
// Distributed. Create one with [New].
type Distributor struct {
	Pool  *pgxpool.Pool
	Lines *linestore.Resolver
	Now   func() time.Time
	// Distributed is called after each transaction that moved something: with how many
	// changes that were, and how many events of each type they became.
	Distributed func(changes int, events map[string]int)

	wake chan struct{}
}

// New returns a distributor that can be woken.
func New(d *Distributor) *Distributor {
	d.wake = make(chan struct{}, 1)
	return d
}

// Wake lets a running distributor look at the outbox now.
func (d *Distributor) Wake() {
	select {
	case d.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// The distributor looks at the outbox when it is woken, and otherwise every pollInterval:
// a writer that was still open when it looked wakes nobody when it rolls back.
const (
	pollInterval = time.Second
	// settleTime is how long it waits for open writers to end.
	settleTime = 10 * time.Millisecond
)

// Run distributes until ctx ends.
func (d *Distributor) Run(ctx context.Context, log *slog.Logger) {
	failing := false
	var classes time.Time
	for ctx.Err() == nil {
		n, unsettled, err := d.Step(ctx)
		if err == nil && time.Since(classes) >= classInterval {
			err = d.TellClasses(ctx)
			classes = time.Now()
		}
		if err != nil && ctx.Err() == nil && !failing && !pg.IsUnavailable(err) { // an outage is in the log already
			log.LogAttrs(ctx, slog.LevelError, "changes of watched numbers are not told; trying again", slog.String("error", err.Error()))
		}
		failing = err != nil && !pg.IsUnavailable(err)
		switch {
		case err == nil && n > 0:
		case err == nil && unsettled:
			d.pause(ctx, settleTime)
		default:
			d.pause(ctx, pollInterval)
		}
	}
}

// pause waits until it is woken, for some time at most. It waits settleTime at least: every
// login of the database can send notifications, and a flood of them must not become one of
// queries.
func (d *Distributor) pause(ctx context.Context, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-time.After(settleTime):
	}
	select {
	case <-ctx.Done():
	case <-d.wake:
	case <-timer.C:
	}
}

// Step distributes one batch. It returns how many changes that were, and whether there are
// more that are not settled yet.
func (d *Distributor) Step(ctx context.Context) (n int, unsettled bool, err error) {
	types, begin := make(map[string]int), time.Now()
	err = pg.InTx(ctx, d.Pool, func(tx pg.Tx) error {
		mark, mine, err := outbox.TryLockMark(ctx, tx)
		if err != nil || !mine {
			return err
		}
		ended, err := outbox.TakeEnded(ctx, tx, d.Now())
		if err != nil {
			return err
		}
		changes, next, err := outbox.Read(ctx, tx, mark, batch)
		if err != nil {
			return err
		}
		notSealed, err := outbox.SetAsideForFeed(ctx, tx, changes)
		if err != nil {
			return err
		}
		var due []outbox.Timer
		if len(changes) < batch { // what else waits may be about the same numbers, and comes first
			if due, err = outbox.TakeDue(ctx, tx, d.Now(), batch); err != nil {
				return err
			}
		}
		if next == mark && len(due) == 0 && ended.Empty() {
			unsettled, err = outbox.Unsettled(ctx, tx, mark)
			return errors.Join(err, errNothing)
		}
		events, err := d.events(ctx, tx, slices.Concat(ended.Changes, notSealed), due)
		if err != nil {
			return err
		}
		if err := feed.AppendAll(ctx, tx, events); err != nil {
			return err
		}
		n = len(changes) + len(due) + len(ended.Changes)
		for _, of := range events {
			for i := range of {
				types[of[i].Type]++
			}
		}
		if err := closeSeals(ctx, tx, &ended, d.Now()); err != nil {
			return err
		}
		return outbox.MoveMark(ctx, tx, next)
	})
	if errors.Is(err, errNothing) {
		return 0, unsettled, nil
	}
	if err != nil {
		span.Record(ctx, "distribute changes", begin, 0, true)
		return 0, false, err
	}
	span.Record(ctx, "distribute changes", begin, n, false)
	if n > 0 && d.Distributed != nil {
		d.Distributed(n, types)
	}
	return n, false, nil
}

// errNothing rolls back a transaction that has nothing to write.
var errNothing = errors.New("distribute: there is nothing to distribute")

// closeSeals records that seals have ended, and lets the readers of the outbox that look for
// past answers look at what waited.
func closeSeals(ctx context.Context, tx pg.Tx, ended *outbox.EndedSeals, at time.Time) error {
	for _, id := range ended.IDs {
		if err := audit.Write(ctx, tx, audit.Entry{At: at, Actor: audit.Actor{Kind: audit.System}, Action: audit.SealEnded, Subject: id}); err != nil {
			return err
		}
	}
	return ended.Announce(ctx, tx)
}

// watcher is an organisation that watches a number, by which of its lists.
type watcher struct {
	entity uuid.UUID
	lists  []string
}

// events returns the events for each feed, in the order of the changes.
func (d *Distributor) events(ctx context.Context, tx pg.Tx, changes []outbox.Change, due []outbox.Timer) (map[feed.Owner][]feed.Event, error) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c outbox.Change) bool { return !c.Kind.IsTold() })
	var numbers []phone.Number
	isClass := false
	for i := range changes {
		if changes[i].IsClass() {
			isClass = true
			continue
		}
		numbers = append(numbers, changes[i].Number)
	}
	for _, t := range due {
		numbers = append(numbers, t.Number)
	}
	watchers, err := match(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	var all []uuid.UUID // who is told of class changes
	if isClass {
		if all, err = watchlist.WhoWatches(ctx, tx); err != nil {
			return nil, err
		}
	}
	if len(watchers) == 0 && len(all) == 0 {
		return nil, nil
	}
	s, err := d.standings(ctx, tx, watchers)
	if err != nil {
		return nil, err
	}
	events := make(map[feed.Owner][]feed.Event)
	for i := range changes {
		c := &changes[i]
		if c.IsClass() {
			event := feed.Event{Type: "supply.v1." + c.Kind.String(), Time: c.ReportedAt}
			if err := s.tellSupply(ctx, tx, events, all, c.Network, &c.Lines, event); err != nil {
				return nil, err
			}
			continue
		}
		s.tell(events, c, watchers[c.Number])
	}
	rules := outbox.Rules{Policy: s.policy, Plan: s.plan, Now: s.at}
	for _, t := range due {
		if len(watchers[t.Number]) == 0 {
			continue
		}
		row := s.found.Get(t.Number).Row
		if c, ok := rules.FellDue(t, &row); ok {
			s.tell(events, &c, watchers[t.Number])
		}
	}
	return events, nil
}

// tell adds a change of one line to the feeds of those who watch it.
func (s *standings) tell(events map[feed.Owner][]feed.Event, c *outbox.Change, watchers []watcher) {
	for _, w := range watchers {
		o := feed.Owner{Entity: w.entity, Mode: "live"}
		event, _ := s.lineEvent(c, w.lists)
		events[o] = append(events[o], event)
	}
}

// match returns the watchers of each number.
func match(ctx context.Context, tx pg.Tx, numbers []phone.Number) (map[phone.Number][]watcher, error) {
	if len(numbers) == 0 {
		return nil, nil
	}
	matches, err := watchlist.MatchLive(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	return watchersOf(matches), nil
}

// watchersOf collects who watches each number.
func watchersOf(matches []watchlist.Match) map[phone.Number][]watcher {
	slices.SortFunc(matches, func(a, b watchlist.Match) int {
		return cmp.Or(slices.Compare(a.Entity[:], b.Entity[:]), slices.Compare(a.List[:], b.List[:]))
	})
	watchers := make(map[phone.Number][]watcher)
	for _, m := range matches {
		of := watchers[m.Number]
		if last := len(of) - 1; last >= 0 && of[last].entity == m.Entity {
			of[last].lists = append(of[last].lists, m.List.String())
			continue
		}
		watchers[m.Number] = append(of, watcher{entity: m.Entity, lists: []string{m.List.String()}})
	}
	return watchers
}

// standings has the present lines of the watched numbers, and the rules.
type standings struct {
	at     time.Time
	found  *linestore.LookupSet // nil if no number is watched
	policy *policy.Policy
	plan   *numbering.Plan
}

func (d *Distributor) standings(ctx context.Context, tx pg.Tx, watchers map[phone.Number][]watcher) (s standings, err error) {
	s.at = d.Now()
	if s.policy, s.plan, err = d.Lines.Current(ctx, tx, s.at); err != nil || len(watchers) == 0 {
		return s, err
	}
	numbers := make([]phone.Number, 0, len(watchers))
	for n := range watchers {
		numbers = append(numbers, n)
	}
	s.found, err = d.Lines.LookupAll(ctx, tx, numbers, s.at)
	return s, err
}

// LineData is the data of an event about a line.
type LineData struct {
	Correction    bool     `json:"correction"`  // it changes what was known about an earlier time
	EffectiveAt   *string  `json:"effectiveAt"` // null if it is not known
	Lists         []string `json:"lists"`       // that have the number
	MobileNetwork string   `json:"mobileNetwork"`
	PhoneNumber   string   `json:"phoneNumber"`
	PlanVersion   int32    `json:"planVersion"`
	PolicyVersion int32    `json:"policyVersion"`
	Previous      string   `json:"previous"` // the status before
	Status        string   `json:"status"`
	Until         *string  `json:"until"` // when the status ends by itself; null if it does not
	Version       int32    `json:"version"`
}

func instant(i line.Instant) *string {
	if i == line.Never {
		return nil
	}
	text := i.Time().Format(time.RFC3339)
	return &text
}

// lineEvent describes a change of one line. The outbox has statuses as if the supply were
// fresh; if it is not, or the line is disputed, the event says what a verification would
// say. It can only tell for the newest version of the line: an older one is followed by
// another event.
func (s *standings) lineEvent(c *outbox.Change, lists []string) (feed.Event, *LineData) {
	data := &LineData{
		Correction: c.Correction, EffectiveAt: instant(c.Effective), Lists: lists, PhoneNumber: c.Number.E164(), PlanVersion: s.plan.Version, PolicyVersion: s.policy.Version,
		Previous: string(c.Before), Status: string(c.After), Until: instant(c.Until), Version: c.Version, MobileNetwork: s.networkName(c.Network),
	}
	if s.found != nil {
		if known := s.found.Get(c.Number); known.Row.Version == c.Version && known.View(s.at).Status == line.Unknown {
			data.Status, data.Until = string(line.Unknown), nil
		}
	}
	return feed.Event{Type: "line.v1." + c.Kind.String(), Number: c.Number, Time: c.ReportedAt, Data: data}, data
}
