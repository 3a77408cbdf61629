package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// tooLate returns what has no effect because of a port: what the donor reported when
// the port was known, and ends that give way to it.
func (w *walk) tooLate(items []*item) map[itemKey]line.Outcome {
	late := map[itemKey]line.Outcome{}
	for _, it := range items {
		k := it.key()
		if it.Authority == line.Operator && it.Kind != line.Port && w.served[k] {
			if o := w.lateOutcome(it, w.counted[k], items); o != line.Applied {
				late[k] = o
			}
		}
	}
	for _, it := range items {
		if it.Kind == line.GiveNotice && it.implied == nil && it.Until != line.Never && w.served[it.key()] {
			end := lapseOf(it, items)
			if w.lateOutcome(end, w.counted[it.key()], items) == line.Superseded {
				late[it.key()] = line.Superseded
			}
		}
	}
	for _, end := range w.lapses {
		if o := w.lateOutcome(end.item, w.counted[end.of], items); o != line.Applied {
			late[end.of] = o
		}
	}
	return late
}

// lapseOf returns the end that a notice announces, in its place before everything else
// of its second.
func lapseOf(notice *item, items []*item) *item {
	end := &item{Event: notice.Event, known: notice.known, place: 2 * len(items)}
	end.Kind, end.Effective, end.Day = line.End, notice.Until, false
	for _, it := range items {
		if it.Effective >= notice.Until && it.place > notice.place {
			end.place = it.place - 1
			break
		}
	}
	return end
}

// lateOutcome returns Applied for what is not too late.
func (w *walk) lateOutcome(it *item, counted moment, items []*item) line.Outcome {
	if !lifts(it.Kind) && !isNewHolder(it.Kind) && it.Kind != line.End {
		return line.Applied // it adds a change or a bar
	}
	moves := movesFrom(w.moves, it)
	for _, m := range moves {
		if !m.known.before(counted) {
			continue
		}
		switch {
		case lifts(it.Kind):
			return line.Overtaken
		case it.Kind == line.End && within(it, m) && alone(it, m, items):
			return line.GaveWay
		default:
			return line.Superseded
		}
	}
	if it.Kind == line.End {
		// A blacklisting does not prevent a port that continues the tenure.
		moves = append(moves, movesFrom(w.blocked, it)...)
		slices.SortFunc(moves, func(a, b move) int { return a.place - b.place })
	}
	if it.Kind == line.End && len(moves) > 0 {
		if m := moves[0]; within(it, m) && !w.followed(it, m, items) {
			return line.GaveWay
		}
	}
	return line.Applied
}

// takesFrom says whether the operator that reported an event lost the line by a port.
func (m *move) takesFrom(e *line.Event) bool {
	mayHaveServed := m.unknown && !e.Outside && e.Kind != line.ClaimPort
	return m.Peer != e.Network && (m.donor == e.Network || mayHaveServed)
}

// movesFrom returns the ports after an item by which its operator lost the line.
func movesFrom(moves []move, it *item) (from []move) {
	for _, m := range moves {
		if m.place > it.place && m.takesFrom(&it.Event) {
			from = append(from, m)
		}
	}
	return from
}

func within(end *item, m move) bool {
	return m.Effective.Time().Sub(end.Effective.Time()) <= endGrace
}

// followed says whether the operator that reported an end had also reported a new
// holder or a reinstatement between it and the port when the port was known.
func (w *walk) followed(end *item, m move, items []*item) bool {
	return slices.ContainsFunc(items, func(it *item) bool {
		return (isNewHolder(it.Kind) || it.Kind == line.Reinstate) && isBetween(it, end, m) && w.counted[it.key()].before(m.known)
	})
}

// alone says whether the operator that reported an end reported no new holder with it.
func alone(end *item, m move, items []*item) bool {
	return !slices.ContainsFunc(items, func(it *item) bool { return isNewHolder(it.Kind) && isBetween(it, end, m) })
}

func isBetween(it, end *item, m move) bool {
	return end.place < it.place && it.place < m.place && !it.contested && it.Network == end.Network
}

// lateVoids returns the voids by which a donor would undo something from before a
// port that was known already.
func (w *walk) lateVoids(r *reports) map[int64]bool {
	late := map[int64]bool{}
	for i := range r.events {
		v := &r.events[i]
		target := r.find(v.Target)
		if v.Kind != line.Void || v.Authority != line.Operator || target == nil || r.held(v) {
			continue
		}
		if p, met := r.pairOf(target); met && portOf(p, r).known.before(r.counts(v)) {
			continue // the halves had met: it is locked
		}
		at := item{Event: *target, rank: rankOf(target.Kind)}
		for _, m := range w.moves {
			if m.takesFrom(target) && at.isBefore(m.item) && m.known.before(r.counts(v)) {
				late[v.Seq] = true
			}
		}
	}
	return late
}

func (it *item) isBefore(o *item) bool {
	if it.Effective != o.Effective {
		return it.Effective < o.Effective
	}
	return it.rank < o.rank
}
