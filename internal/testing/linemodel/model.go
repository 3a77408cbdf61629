// Package linemodel is a slow and simple model of the rules of lines, written from
// their text alone (docs/explanation/lines.md). Tests compare the real fold with it.
//
// Where the text has two readings, the model takes these:
//
//   - A churn date that has come is an end in every respect: it gives way to a port
//     within 72 hours, and a donor that announces it too late is superseded.
//   - The donor of a port is the network that had the line in the moment before it,
//     and only a port that took effect supersedes and overtakes.
//   - After an end, and before anything is known, nobody knows which network has the
//     number: whoever served it or held its range when it reported may report.
//   - An ASSIGNED about a line that runs with another network is pending; the start
//     of a tenure that a snapshot names is not, because it is a later change.
//   - A port to the network that reported the end is a port: the number had returned
//     to the network of its range.
//   - The deadline is that of the policy when the change was reported (for a held or
//     pending one: when it counted), the rest that of the policy when the ASSIGNED was reported.
//   - A port by halves is known at the later report of the two, also where the
//     release was pending.
//   - Several bars of the regulator: the newest is shown, until the last of them ends.
//   - A signal is left only by a change that would have counted.
//   - "An end alone" is one without a new holder.
//   - A tenure that a snapshot names, on a line that was ported to its network, is a
//     TRANSFERRED: the port stays.
//   - A release that does not wait for its claim, because the line was not in use or
//     with another network, puts nothing in doubt.
package linemodel

import (
	"maps"

	"github.com/lineproof/lineproof/internal/line"
)

// Replay returns the row that results from a history, and the outcome of each of its
// events, in the order of h.Events.
//
// Which reports of a donor come too late depends on the ports that took effect, and
// these depend on the reports that count. So the model assumes at first that nothing
// came too late, walks through everything, looks what did, and walks again without
// it until nothing changes.
func Replay(h *line.History, terms line.TermsAt) (line.Row, []line.Outcome) {
	row, outcomes, _ := Settle(h, terms)
	return row, outcomes
}

// Settle is [Replay], and also says whether the walks came to an end. If they did
// not, the history contradicts itself: a report would come too late only if it counted.
func Settle(h *line.History, terms line.TermsAt) (line.Row, []line.Outcome, bool) {
	return settle(h, terms, map[itemKey]line.Outcome{}, map[int64]bool{}, map[int64]bool{}, map[int64]bool{})
}

// SettleFrom is [Settle] for walks that begin with the outcomes of somebody else. Where
// the effects of reports depend on each other in a circle, more than one result agrees
// with the rules: this finds the one that these outcomes name, if it is one. Outcomes say
// nothing of an end that a snapshot implies, so lateEnd says whether it came too late.
func SettleFrom(outcomes []line.Outcome, lateEnd bool, h *line.History, terms line.TermsAt) (line.Row, []line.Outcome, bool) {
	without, overtaken, hadLine, moved := map[itemKey]line.Outcome{}, map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	for i := range h.Events {
		e, o := &h.Events[i], outcomes[i]
		switch {
		case e.Kind == line.Void:
			overtaken[e.Seq] = o == line.Overtaken
		case o == line.GaveWay || o == line.Superseded || o == line.Overtaken:
			without[itemKey{seq: e.Seq}] = o
		case e.Kind == line.ReleasePort:
			hadLine[e.Seq] = o != line.Pending
		}
		if isPort := e.Kind == line.Port || e.Kind == line.ClaimPort || e.Kind == line.ReleasePort; isPort && (o == line.Applied || o == line.Revived) {
			moved[e.Seq] = true
		}
	}
	if lateEnd {
		without[itemKey{kind: line.End, implied: true}] = line.Superseded
	}
	return settle(h, terms, without, overtaken, hadLine, moved)
}

func settle(h *line.History, terms line.TermsAt, without map[itemKey]line.Outcome, overtaken, hadLine, moved map[int64]bool) (line.Row, []line.Outcome, bool) {
	ported := map[int64]moment{}
	for range 12 {
		r := newReports(h, overtaken, hadLine, moved, ported)
		items := itemsOf(h, r)
		w := walkThrough(items, without)
		late, lateVoids, arrived, had, moves := w.tooLate(items), w.lateVoids(r), w.portedTo(h), w.hadLine(items), w.moved()
		if maps.Equal(late, without) && maps.Equal(lateVoids, overtaken) && maps.Equal(arrived, ported) && maps.Equal(had, hadLine) && maps.Equal(moves, moved) {
			return w.row(h, r, terms), w.outcomes(h, r), true
		}
		without, overtaken, hadLine, moved, ported = late, lateVoids, had, moves, arrived
	}
	return line.NoRow(), make([]line.Outcome, len(h.Events)), false
}

// portedTo returns for the restatements when the port was known that had brought the
// line to their network.
func (w *walk) portedTo(h *line.History) map[int64]moment {
	ported := map[int64]moment{}
	for i := range h.Events {
		e := &h.Events[i]
		for _, m := range w.moves {
			if e.Kind != line.Restate || h.Base != nil && e.Network == h.Base.Network || m.Effective > e.Effective {
				continue
			}
			if delete(ported, e.Seq); m.Peer == e.Network { // and not if a later port took it away again
				ported[e.Seq] = m.known
			}
		}
	}
	return ported
}

// moved returns the events that completed the ports that took effect.
func (w *walk) moved() map[int64]bool {
	moved := map[int64]bool{}
	for _, m := range w.moves {
		moved[m.Seq] = true
	}
	return moved
}

// hadLine returns the releases of networks that had the line.
func (w *walk) hadLine(items []*item) map[int64]bool {
	had := map[int64]bool{}
	for _, it := range items {
		switch {
		case it.contested || !w.running[it.key()] || !w.served[it.key()]:
		case len(it.halves) > 0:
			had[it.halves[1]] = true
		case it.Kind == line.ReleasePort:
			had[it.Seq] = true
		}
	}
	return had
}

func (w *walk) outcomes(h *line.History, r *reports) []line.Outcome {
	all := make([]line.Outcome, len(h.Events))
	for i := range h.Events {
		all[i] = w.outcome(r.find(h.Events[i].Seq), r)
	}
	return all
}

func (w *walk) outcome(e *line.Event, r *reports) line.Outcome {
	gone, _ := r.withdrawn(e)
	switch {
	case gone || r.moot(e):
		return line.Voided
	case e.Kind == line.Void && r.overtaken[e.Seq]:
		return line.Overtaken
	case r.held(e):
		return line.Held
	case e.Kind == line.Void && r.locked(e):
		return line.Locked
	case r.pending(e):
		return line.Pending
	case aboutReports(e.Kind):
		return line.Applied
	}
	if p, met := r.pairOf(e); met {
		return w.results[portOf(p, r).key()]
	}
	return w.results[itemKey{seq: e.Seq}]
}
