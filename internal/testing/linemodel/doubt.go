package linemodel

import "github.com/lineproof/lineproof/internal/line"

// doubt returns since when the network that serves the line has put it in doubt.
func (w *walk) doubt(r *reports) line.Instant {
	since := line.Never
	if !isRunning(w.state) {
		return since // nobody serves it
	}
	for i := range r.events {
		e := &r.events[i]
		gone, _ := r.withdrawn(e)
		if gone || e.Network != w.network || !w.raisesDoubt(e, r) || w.settled(e, r) {
			continue
		}
		if at := line.InstantOf(e.ReportedAt); since == line.Never || at < since {
			since = at
		}
	}
	return since
}

func (w *walk) raisesDoubt(e *line.Event, r *reports) bool {
	_, met := r.pairOf(e)
	switch {
	case e.Authority == line.Operator && r.held(e):
		return true
	case e.Kind == line.ReleasePort:
		return !met && w.results[itemKey{seq: e.Seq}] == line.HalfPort
	case e.Kind == line.Void && e.Authority == line.Operator:
		return r.locked(e) && !r.overtaken[e.Seq]
	}
	return e.Kind == line.Miss
}

// settled says whether a port or a file of the network that has the line was reported
// after the doubt.
func (w *walk) settled(e *line.Event, r *reports) bool {
	for _, m := range w.moves {
		if reported(e).before(m.known) {
			return true
		}
	}
	for i := range r.events {
		n := &r.events[i]
		gone, _ := r.withdrawn(n)
		hasLine := n.Kind == line.Name || n.Kind == line.Restate && !r.held(n)
		if hasLine && n.Network == e.Network && !gone && reported(e).before(reported(n)) {
			return true
		}
	}
	return false
}

// claimed says whether a network that does not hold the range reported about the number.
func claimed(r *reports) bool {
	for i := range r.events {
		e := &r.events[i]
		if gone, _ := r.withdrawn(e); e.Authority == line.Operator && e.Outside && !gone && !r.moot(e) {
			return true
		}
	}
	return false
}
