package supply

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// TenureEnded is the state of a tenure that has ended.
const TenureEnded = "ENDED"

// Tenure is the time during which one holder had the number.
type Tenure struct {
	Network    string    // code of the network with which it is, or was at its end
	Start      time.Time // zero if it is not known
	End        time.Time // zero while the tenure is running
	EndedAfter time.Time // it ended after this and not later than End; zero if End is exact
	State      string    // while running, a state of a snapshot; after that ENDED
	EndReason  string    // empty if the end was not reported, only the start of the next tenure
}

// HistoryEvent is one reported event.
type HistoryEvent struct {
	Seq           int64 // the service's own id of the event
	ID            string
	Type          string
	Source        string // the authority
	Network, Peer string // codes
	Code, Note    string
	EffectiveAt   time.Time
	ReportedAt    time.Time
	ChurnAt       time.Time
	Voided        bool
	Voids         int64  // the event that this one withdraws or confirms
	Held          string // why it waits for a confirmation, or waited
	Reason        string // of the outcome
	Outcome       string
	Import        uuid.UUID // zero if the event came in a call of the API
}

// tenures returns the tenures of a number up to an instant. It computes the row
// after each moment at which something changed; histories are short.
func tenures(h *line.History, until line.Instant, r rules) []Tenure {
	plan := r.plan
	var (
		list  []Tenure
		start = line.Never // of the last of them
	)
	for _, at := range moments(h, until) {
		row, outcomes := line.Fold(h, r.terms, at)
		if row.State == line.StateNone {
			continue
		}
		ended := endAt(h.Events, outcomes, at)
		last := len(list) - 1
		if last < 0 && ended != nil && row.State != line.StateEnded {
			// A tenure whose start is not known ended in the second in which the
			// first known one began.
			list = append(list, Tenure{Network: plan.Code(ended.Network)})
			last = 0
		}
		if last >= 0 && row.Tenure != start && list[last].End.IsZero() {
			t := &list[last]
			t.State, t.End = TenureEnded, at.Time()
			if ended != nil {
				t.EndReason, t.EndedAfter = ended.Code.String(), ended.EndedAfter.Time()
			}
		}
		if last < 0 || row.Tenure != start {
			list, start = append(list, Tenure{Start: row.Tenure.Time()}), row.Tenure
		}
		list[len(list)-1].follow(&row, ended, plan)
	}
	return list
}

// follow updates the last tenure from the row.
func (t *Tenure) follow(r *line.Row, ended *line.Event, plan *numbering.Plan) {
	t.Network = plan.Code(r.Network)
	if r.State != line.StateEnded {
		*t = Tenure{Network: t.Network, Start: t.Start, State: r.State.String()} // reinstated, if it had ended
		return
	}
	t.State, t.End, t.EndedAfter = TenureEnded, r.StateSince.Time(), r.EndedAfter.Time()
	if ended != nil {
		t.EndReason = ended.Code.String()
	}
}

// moments returns the times at which something about the number changed, in order.
func moments(h *line.History, until line.Instant) []line.Instant {
	var all []line.Instant
	if b := h.Base; b != nil {
		all = append(all, b.Tenure, b.SIM, max(b.StateSince, b.Tenure)) // Never, too: a baseline need not have dates
	}
	for i := range h.Events {
		all = append(all, h.Events[i].Effective)
	}
	all = slices.DeleteFunc(all, func(i line.Instant) bool { return i > until })
	slices.Sort(all)
	return slices.Compact(all)
}

// endAt returns the event that ended a tenure at an instant, or nil.
func endAt(events []line.Event, outcomes []line.Outcome, at line.Instant) *line.Event {
	for i := range events {
		if e := &events[i]; e.Kind == line.End && e.Effective == at && outcomes[i] == line.Applied {
			return e
		}
	}
	return nil
}

// historyEvents returns the events that took effect up to an instant, by effective
// time. Reader is the code of an operator, from which the ids, notes and bar
// reasons of others are hidden, or empty for staff.
func historyEvents(
	events []line.Event, outcomes []line.Outcome, until line.Instant, reader string, plan *numbering.Plan, imports map[int32]importRef,
) []HistoryEvent {
	var list []HistoryEvent
	for i := range events {
		e := &events[i]
		if e.Effective > until {
			continue // a VOIDED event has the time of the event that it voids, so both are left out
		}
		p := HistoryEvent{
			Seq: e.Seq, ID: e.ID, Type: e.Kind.String(), Source: e.Authority.String(), Network: plan.Code(e.Network), Peer: plan.Code(e.Peer),
			Code: e.Code.String(), Note: e.Note, EffectiveAt: e.Effective.Time(), ReportedAt: e.ReportedAt, ChurnAt: e.Until.Time(),
			Voided: outcomes[i] == line.Voided, Held: e.Hold.String(), Import: imports[e.Import].uid,
		}
		if e.Kind != line.Port { // of which it is the release
			p.Voids = e.Target
		}
		p.Outcome, p.Reason, _ = outcomeOf(outcomes[i], e)
		if e.Kind.IsHalf() && outcomes[i] == line.Waiting && !(&line.History{Events: events}).Unmatched(outcomes, i) {
			p.Outcome, p.Reason = NoEffect, ""
		}
		if own := reader == "" || e.Authority == line.Operator && p.Network == reader; !own {
			p.ID, p.Note = "", ""
			if e.Kind == line.Bar {
				p.Code = ""
			}
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b HistoryEvent) int { return a.EffectiveAt.Compare(b.EffectiveAt) })
	return list
}
