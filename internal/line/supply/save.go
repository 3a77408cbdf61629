package supply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// save writes the new events, the rows that they changed, and the outbox. It is the
// only place where a line that is known changes. The daily counts are saved
// separately, by dailyCounts.save.
func (cs *changeSet) save(ctx context.Context, tx pg.Tx) error {
	var changed []linestore.ChangedRow
	var events []linestore.EventRow
	var reopened []phone.Number
	var open []line.OpenEvent
	var told []outbox.Change
	var timers []outbox.Timer
	describe := outbox.Rules{Policy: cs.policy, Plan: cs.plan, Now: cs.now}
	settled := map[numbering.Network]bool{} // had events that were held for the share
	for _, c := range cs.ordered {
		if len(c.NewEvents) == 0 {
			continue
		}
		changed = append(changed, linestore.ChangedRow{Record: linestore.Record{Number: c.Number, Row: c.Row}, From: c.Stored.Version})
		for i := range c.NewEvents {
			events = append(events, linestore.EventRow{Number: c.Number, Event: c.NewEvents[i]})
		}
		cs.counts.countMove(&c.Stored, &c.Row)
		told = append(told, describe.Describe(c.Number, &c.Stored, &c.Row, c.NewEvents))
		if t, ok := outbox.TimerOf(c.Number, &c.Row, cs.now); ok {
			timers = append(timers, t)
		}
		if before, after := c.Open(); len(before)+len(after) > 0 {
			reopened, open = append(reopened, c.Number), append(open, after...)
			for i := range before {
				if before[i].Hold == line.HoldMass {
					settled[before[i].Network] = true
				}
			}
		}
	}
	if err := linestore.SaveRows(ctx, tx, changed); err != nil {
		return err
	}
	if err := linestore.AppendEvents(ctx, tx, events); err != nil {
		return err
	}
	if err := linestore.ReplaceOpen(ctx, tx, reopened, open); err != nil {
		return err
	}
	if err := cs.holdCoverage(ctx, tx, settled); err != nil {
		return err
	}
	if err := outbox.Schedule(ctx, tx, timers...); err != nil {
		return err
	}
	return outbox.Append(ctx, tx, told...)
}

// dailyCounts counts what a transaction stores and refuses, by day, network and
// kind of event. The regulator sees from it how completely and how punctually
// each operator reports.
type dailyCounts struct {
	rules

	days         map[dayKey]*dayCount
	runningLines map[numbering.Network]int64 // running tenures gained, less those lost
}

type dayKey struct {
	network numbering.Network
	kind    line.Kind // 0 counts what was refused
}

// dayCount is a row of supply_day. Broken counts events that contradict what the
// operator had assured. Seconds is the sum of the delays from effect
// to report, and worst the longest of them.
type dayCount struct{ accepted, refused, late, early, broken, seconds, worst int64 }

func newDailyCounts(r rules) dailyCounts {
	return dailyCounts{rules: r, days: make(map[dayKey]*dayCount), runningLines: make(map[numbering.Network]int64)}
}

func (t *dailyCounts) count(n numbering.Network, k line.Kind) *dayCount {
	c := t.days[dayKey{n, k}]
	if c == nil {
		c = &dayCount{}
		t.days[dayKey{n, k}] = c
	}
	return c
}

// countEvent counts a stored event of an operator or of the clearing house, and its
// delay. Before is the line at that time without the event.
func (t *dailyCounts) countEvent(e *line.Event, before line.Row) {
	if e.Authority != line.Operator && e.Authority != line.ClearingHouse {
		return
	}
	c := t.count(e.Network, e.Kind) // the clearing house is network 0
	c.accepted++
	if e.Kind == line.Void || e.Code == line.ReasonInferred {
		return // neither has a delay: it is reported when it is found out
	}
	delay := max(int64(t.now.Sub(e.Latest(t.policy.Zone()).Time())/time.Second), 0)
	c.seconds += delay
	c.worst = max(c.worst, delay)
	deadline, named := t.deadline(e.Kind)
	late := time.Duration(delay)*time.Second > deadline
	if named && late {
		c.late++
	}
	// The systems of an honest supplier differ by seconds: what is in time contradicts nothing.
	if late && t.breaksAssurance(e) {
		c.broken++
	}
	ended := before.State == line.StateEnded
	if e.Kind == line.Assign && (before.State.Ongoing() || ended && e.Effective < before.StateSince.Add(t.policy.Quarantine())) {
		c.early++
	}
}

// countRefused counts refused events or rows of an operator; 0 is no operator.
func (t *dailyCounts) countRefused(n numbering.Network, rows int64) {
	if n != 0 && rows > 0 {
		t.count(n, 0).refused += rows
	}
}

// countMove counts the running tenure that a number has gained or lost, or that
// has moved to another network.
func (t *dailyCounts) countMove(from, to *line.Row) {
	if from.State.Ongoing() {
		t.runningLines[from.Network]--
	}
	if to.State.Ongoing() {
		t.runningLines[to.Network]++
	}
}

// save adds the counts to those of the day.
func (t *dailyCounts) save(ctx context.Context, tx pg.Tx) error {
	// Always in the same order, so that two transactions cannot deadlock.
	keys := slices.SortedFunc(maps.Keys(t.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.network, b.network), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		c := t.days[k]
		_, err := tx.Exec(ctx, `INSERT INTO supply_day (network, day, kind, accepted, refused, late, early, broken, seconds, worst)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (network, day, kind) DO UPDATE SET
			accepted = supply_day.accepted + excluded.accepted, refused = supply_day.refused + excluded.refused,
			late = supply_day.late + excluded.late, early = supply_day.early + excluded.early, broken = supply_day.broken + excluded.broken,
			seconds = supply_day.seconds + excluded.seconds, worst = greatest(supply_day.worst, excluded.worst)`,
			k.network, day(t.now), int16(k.kind), c.accepted, c.refused, c.late, c.early, c.broken, c.seconds, c.worst)
		if err != nil {
			return fmt.Errorf("supply: save the daily counts: %w", err)
		}
	}
	if err := t.judgeAssurances(ctx, tx); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(t.runningLines)) {
		if err := linestore.AddLineCount(ctx, tx, n, t.runningLines[n], t.now); err != nil {
			return err
		}
	}
	return nil
}
