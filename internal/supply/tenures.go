package supply

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// TenureEnded is the state of a tenure that is over.
const TenureEnded = "ENDED"

// tenures returns the tenures of a number up to an instant. It looks at the row
// after each moment at which something happened: histories are short.
func tenures(h *line.History, until line.Instant, plan *numbering.Plan) []Tenure {
	var (
		list  []Tenure
		start = line.Never // of the last of them
	)
	for _, at := range moments(h, until) {
		row, outcomes := line.Fold(h.Base, h.Events, at)
		if row.State == line.StateNone {
			continue
		}
		ended := endAt(h.Events, outcomes, at)
		last := len(list) - 1
		if last < 0 && ended != nil && row.State != line.StateEnded {
			// A tenure of unknown start ended in the second in which the first
			// known one began.
			list = append(list, Tenure{Network: plan.Code(ended.Network)})
			last = 0
		}
		if last >= 0 && row.Tenure != start && list[last].End.IsZero() {
			t := &list[last]
			t.State, t.End = TenureEnded, at.Time()
			if ended != nil {
				t.EndReason, t.EndedAfter = ended.Code.String(), ended.After.Time()
			}
		}
		if last < 0 || row.Tenure != start {
			list, start = append(list, Tenure{Start: row.Tenure.Time()}), row.Tenure
		}
		list[len(list)-1].follow(&row, ended, plan)
	}
	return list
}

// follow brings the last tenure to what the row says of it.
func (t *Tenure) follow(r *line.Row, ended *line.Event, plan *numbering.Plan) {
	t.Network = plan.Code(r.Network)
	if r.State != line.StateEnded {
		*t = Tenure{Network: t.Network, Start: t.Start, State: r.State.String()} // reinstated, if it had ended
		return
	}
	t.State, t.End, t.EndedAfter = TenureEnded, r.StateSince.Time(), r.After.Time()
	if ended != nil {
		t.EndReason = ended.Code.String()
	}
}

// moments returns when something about the number changed, in order.
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
