package supply

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// work is one number on the desk: the row as it was found, and as it becomes.
type work struct {
	number phone.Number
	found  line.Row
	row    line.Row
	past   *line.History // what was told before; complete where past is not nil
	told   []line.Event  // what is told now
}

// sheet is everything that one transaction changes.
type sheet struct {
	rules

	voice *voice // who speaks
	by    map[phone.Number]*work
	order []*work // by number
	tally tally
}

// lay fetches the rows of numbers, and what was told about those that have
// events already. Locked, nobody else can change them before the transaction
// ends; otherwise saving finds out if somebody has.
func (d *Desk) lay(ctx context.Context, tx pg.DB, r rules, numbers []phone.Number, lock bool) (*sheet, error) {
	slices.SortFunc(numbers, func(a, b phone.Number) int { return cmp.Compare(a.Int(), b.Int()) })
	numbers = slices.Compact(numbers)
	read := line.Rows
	if lock {
		read = line.LockedRows
	}
	rows, err := read(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	s := &sheet{rules: r, by: make(map[phone.Number]*work, len(numbers)), order: make([]*work, 0, len(numbers)), tally: newTally(r)}
	var busy []phone.Number
	all := make([]work, len(numbers))
	for i, n := range numbers {
		w := &all[i]
		row, ok := rows[n]
		if !ok {
			row = line.NoRow()
		}
		w.number, w.found, w.row = n, row, row
		if row.Eventful() {
			busy = append(busy, n)
		}
		s.by[n], s.order = w, append(s.order, w)
	}
	if len(busy) == 0 {
		return s, nil
	}
	histories, err := line.Histories(ctx, tx, busy, rows)
	if err != nil {
		return nil, err
	}
	for n, h := range histories {
		s.by[n].past = h
	}
	return s, nil
}

// history returns everything told about the number, now included.
func (w *work) history() *line.History {
	h := &line.History{}
	switch {
	case w.past != nil:
		h.Base, h.Events = w.past.Base, slices.Clone(w.past.Events)
	case w.found.Baseline != 0:
		base := w.found.AsBaseline()
		h.Base = &base
	}
	h.Events = append(h.Events, w.told...)
	return h
}

// at returns the row as it was at an instant, by what is known now.
func (w *work) at(i line.Instant) line.Row {
	if i >= w.row.Newest {
		return w.row
	}
	h := w.history()
	r, _ := line.Fold(h.Base, h.Events, i)
	return r
}

// find returns the event that a supplier told under an id.
func (w *work) find(supplier int32, id string) *line.Event {
	if w.past != nil {
		for i := range w.past.Events {
			if e := &w.past.Events[i]; e.Supplier == supplier && e.ID == id {
				return e
			}
		}
	}
	for i := range w.told {
		if e := &w.told[i]; e.Supplier == supplier && e.ID == id {
			return e
		}
	}
	return nil
}

// add puts an event on the sheet and returns what it does to the row.
func (w *work) add(e line.Event) line.Outcome {
	if len(w.told) == 0 && w.past == nil && w.found.Baseline != 0 {
		base := w.found.AsBaseline()
		e.Base = &base // the first event carries the baseline along
	}
	w.told = append(w.told, e)
	if next, outcome, ok := w.row.Quick(&e); ok {
		w.row = next
		return outcome
	}
	h := w.history()
	var outcomes []line.Outcome
	w.row, outcomes = line.Fold(h.Base, h.Events, line.Forever)
	return outcomes[len(outcomes)-1]
}

// drop takes the event back that was added last.
func (w *work) drop() {
	w.told = w.told[:len(w.told)-1]
	if len(w.told) == 0 {
		w.row = w.found
		return
	}
	h := w.history()
	w.row = h.Row()
}

// tell decides about an item whose form is right.
func (s *sheet) tell(i *item, seq int64) {
	w := s.by[i.number]
	i.event.Seq = seq
	if i.event.Kind == line.Void && !s.resolve(i, w) {
		return
	}
	if i.event.ID != "" {
		if old := w.find(i.event.Supplier, i.event.ID); old != nil {
			if old.SameAs(&i.event) {
				i.result.Outcome = Duplicate
			} else {
				i.refuse("id", "ID_REUSED", "Another event about this number has this id. Give each event an id of its own; to change one, void it and tell a new one.")
			}
			return
		}
	}
	if i.event.Kind == line.Void && w.withdrawn(i.event.Voids) {
		i.refuse("voids", "VOIDED", "The event is withdrawn already.")
		return
	}
	if field, reason, message := s.authority(i, w); reason != "" {
		i.refuse(field, reason, message)
		return
	}
	before := w.row
	outcome := w.add(i.event)
	if outcome == line.Blocked {
		w.drop()
		i.refuse("phoneNumber", "BLACKLISTED", "The number is blacklisted: no new tenure can begin until the regulator releases it.")
		return
	}
	i.result.Outcome, i.result.Reason, i.result.Message = outcomeOf(outcome)
	s.tally.count(&i.event, before)
}

// resolve finds the event that an item withdraws. Whoever speaks in several
// names withdraws in the one in which it was told.
func (s *sheet) resolve(i *item, w *work) bool {
	var target *line.Event
	for _, a := range s.voice.Authorities {
		found := w.find(s.voice.supplier[a], i.voids)
		if a == line.Regulator {
			found = w.seq(i.voids)
		}
		if found != nil {
			target, i.event.By, i.event.Supplier, i.event.Network = found, a, s.voice.supplier[a], 0
			if a == line.Operator {
				i.event.Network = s.voice.network
			}
			break
		}
	}
	switch {
	case target == nil:
		i.refuse("voids", "NOT_FOUND", "Nothing was told about this number under that id by this supplier.")
	case target.Kind == line.Void:
		i.refuse("voids", "NOT_ALLOWED", "A withdrawal cannot be withdrawn. Tell the event again under a new id.")
	default:
		i.event.Voids = target.Seq
		// It takes effect where the withdrawn event stood.
		i.event.Effective = target.Effective
		return true
	}
	return false
}

// withdrawn reports whether an event is withdrawn already.
func (w *work) withdrawn(seq int64) bool {
	return slices.ContainsFunc(w.history().Events, func(e line.Event) bool { return e.Kind == line.Void && e.Voids == seq })
}

// seq finds an event by the number that the service gave it.
func (w *work) seq(text string) *line.Event {
	h := w.history()
	for i := range h.Events {
		if text == seqText(h.Events[i].Seq) {
			return &h.Events[i]
		}
	}
	return nil
}

// authority judges, at the time of effect, whether the number was the speaker's
// to speak of.
func (s *sheet) authority(i *item, w *work) (field, reason, message string) {
	e := &i.event
	if e.Kind == line.Void || e.By == line.Regulator {
		return "", "", ""
	}
	held, allocated := s.plan.Holder(i.number, e.Effective.Time())
	row := w.at(e.Effective)
	if !allocated && row.State == line.StateNone {
		return "phoneNumber", "NOT_ALLOCATED", "The numbering plan had not allocated this number to any network at that time."
	}
	if e.By != line.Operator {
		return "", "", ""
	}
	holder := holderOf(&row, held.Network)
	switch {
	case e.Kind == line.Reinstate && row.State == line.StateEnded:
		holder = row.Network // it was ended by its network, and goes back to it
	case e.Kind == line.ClaimPort:
		if holder == e.Network {
			return "phoneNumber", "NOT_ALLOWED", "The number is already with this network."
		}
		return "", "", ""
	case e.Kind == line.Assign && held.Network != e.Network:
		return "phoneNumber", "NOT_YOURS", "Only the network that holds the range can give the number to a new holder."
	}
	if holder != e.Network {
		return "phoneNumber", "NOT_YOURS", "The number was not with this network at that time."
	}
	return "", "", ""
}

// holderOf returns with which network a number is.
func holderOf(r *line.Row, ofRange numbering.Network) numbering.Network {
	if r.State == line.StateNone || r.State == line.StateEnded {
		return ofRange
	}
	return r.Network
}

func outcomeOf(o line.Outcome) (outcome, reason, message string) {
	switch o {
	case line.HalfPort:
		return Conflict, "HALF_PORT", "The port takes effect when the other network, or the clearing house, says the same."
	case line.NotInState:
		return NoEffect, "STATE", "The line was in a state in which this changes nothing. It counts once what came before it is told."
	case line.NotHolder:
		return NoEffect, "HOLDER", "The number was with another network then."
	case line.NotTheirs:
		return NoEffect, "NOT_YOUR_FLAG", "The flag was set by somebody else."
	case line.Withdrawn:
		return NoEffect, "VOIDED", "The event is withdrawn already."
	case line.Applied, line.Blocked, line.NotYet:
	}
	return Applied, "", ""
}

// save writes what the sheet changes.
func (s *sheet) save(ctx context.Context, tx pg.Tx) error {
	var changed []line.Changed
	var told []line.Told
	for _, w := range s.order {
		if len(w.told) == 0 {
			continue
		}
		changed = append(changed, line.Changed{Record: line.Record{Number: w.number, Row: w.row}, From: w.found.Version})
		for i := range w.told {
			told = append(told, line.Told{Number: w.number, Event: w.told[i]})
		}
		s.tally.move(&w.found, &w.row)
	}
	if err := line.Save(ctx, tx, changed); err != nil {
		return err
	}
	return line.Append(ctx, tx, told)
}

// day returns the day on which something was told.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
