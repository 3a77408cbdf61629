package linemodel

import (
	"cmp"
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// effect is an item that changed the line, and the tenure that it belongs to.
type effect struct {
	*item
	tenure  int
	counted moment
}

// tenure is one holder's time on the number. The first has no start: it is there
// before anything is reported.
type tenure struct {
	start *effect
	// endedAt is when the tenure before it ended: by an end, or by this start.
	endedAt line.Instant
	// first says that nothing was known of the number before.
	first bool
}

// move is a port that took effect.
type move struct {
	*item
	donor numbering.Network
	// unknown says that nobody knows which network had the line: any that held its
	// range may have been the donor.
	unknown bool
	known   moment
}

// lapse is the end by an announced churn date, and its key.
type lapse struct {
	*item
	of itemKey
}

// walk goes once through the items in the order of effect. It follows only what
// decides whether an item applies: the state, the network, the tenure.
type walk struct {
	without map[itemKey]line.Outcome // what a walk before this one found to have no effect

	state    line.State
	since    line.Instant
	network  numbering.Network
	arrived  moment // when the port was known by which the network got the line
	tenures  []tenure
	notice   *effect // of StateNoticed
	effects  []effect
	moves    []move
	blocked  []move // new tenures that a blacklisting prevented
	results  map[itemKey]line.Outcome
	counted  map[itemKey]moment
	served   map[itemKey]bool // whether its operator had the line then
	running  map[itemKey]bool // whether the line was in use with a known network then
	lapses   []lapse
	signals  []effect // contested changes
	judged   line.Instant
	lapsedBy map[itemKey]bool
}

func walkThrough(items []*item, without map[itemKey]line.Outcome) *walk {
	w := &walk{
		without: without, since: line.Never, judged: line.Never, tenures: make([]tenure, 1),
		results: map[itemKey]line.Outcome{}, counted: map[itemKey]moment{}, served: map[itemKey]bool{}, running: map[itemKey]bool{}, lapsedBy: map[itemKey]bool{},
	}
	for _, it := range items {
		w.visit(it)
	}
	return w
}

func (w *walk) visit(it *item) {
	k := it.key()
	outcome, skipped := w.without[k]
	if !skipped && !it.contested {
		w.lapse(it)
	}
	w.counted[k], w.served[k] = it.known, w.serves(it)
	w.running[k] = isRunning(w.state) && w.network != 0
	if it.Authority == line.Operator && it.Kind != line.Port && it.implied == nil {
		w.counted[k] = latest(it.known, w.arrived)
	}
	if skipped {
		w.results[k] = outcome
		return
	}
	state := w.state
	if it.contested && w.ended(it) {
		w.state = line.StateEnded // for this item only: what is withdrawn changes nothing
		w.served[k] = w.serves(it)
	}
	outcome = w.judge(it)
	w.state = state
	if outcome == line.Blocked && it.Kind == line.Port && !it.contested {
		w.blocked = append(w.blocked, w.moveBy(it))
	}
	if !it.contested {
		w.results[k] = outcome
	}
	applied := outcome == line.Applied || outcome == line.Revived
	if it.contested && len(it.halves) == 0 && !w.counted[k].before(it.voidedAt) {
		applied = false // it was withdrawn before it could count
	}
	if !it.contested || applied {
		w.judged = max(w.judged, it.Effective)
	}
	if !applied {
		return
	}
	if it.contested {
		w.signals = append(w.signals, effect{item: it, tenure: len(w.tenures) - 1, counted: w.counted[k]})
		return
	}
	w.apply(it, outcome)
}

// lapsed says whether an announced churn date has come by an item.
func (w *walk) lapsed(next *item) bool {
	return w.state == line.StateNoticed && w.notice.Until != line.Never && w.notice.Until <= next.Effective
}

// ended says whether an announced churn date has ended the tenure by an item.
func (w *walk) ended(next *item) bool {
	if !w.lapsed(next) {
		return false
	}
	k := w.notice.key()
	k.lapse = true
	_, gaveWay := w.without[k]
	return !gaveWay
}

// lapse ends a tenure whose announced churn date has come.
func (w *walk) lapse(next *item) {
	if !w.lapsed(next) {
		return
	}
	k := w.notice.key()
	k.lapse = true
	if w.lapsedBy[k] {
		return
	}
	w.lapsedBy[k] = true
	end := &item{Event: w.notice.Event, known: w.notice.counted, place: next.place - 1}
	end.Kind, end.Effective, end.Day, end.EndedAfter = line.End, w.notice.Until, false, line.Never
	w.lapses = append(w.lapses, lapse{end, k})
	w.counted[k], w.served[k] = end.known, true
	if _, skipped := w.without[k]; !skipped {
		w.apply(end, line.Applied)
	}
}

// serves says whether the reporting operator had the line. Where nobody knows which
// network had it, everybody may have who served the line or held its range when it reported.
func (w *walk) serves(it *item) bool {
	switch {
	case w.network == 0, w.state == line.StateEnded && it.Kind != line.Reinstate:
		return !it.Outside
	case it.implied != nil && (it.Network == 0 || it.Kind == line.Assign):
		return true
	default:
		return it.Network == w.network
	}
}

// judge says what an item does in the state that the line has.
func (w *walk) judge(it *item) line.Outcome {
	if it.Kind == line.Port {
		return w.judgePort(it)
	}
	byOperator := it.Authority == line.Operator
	if byOperator && it.Kind != line.ClaimPort && !w.serves(it) {
		return line.Pending
	}
	switch {
	case it.Kind == line.ClaimPort && w.network == it.Network && w.state != line.StateEnded:
		return line.SameNetwork
	case !allowedIn(&it.Event, w.state):
		return line.NotInState
	case isNewHolder(it.Kind) && w.blacklisted():
		return line.Blocked
	case it.Kind == line.ClaimPort || it.Kind == line.ReleasePort:
		return line.HalfPort
	case it.Kind == line.Unflag && it.Authority == line.Sector && !w.hasFlagOf(it.Supplier):
		return line.NotFlagOwner
	}
	return line.Applied
}

func (w *walk) judgePort(it *item) line.Outcome {
	switch {
	case w.network != 0 && it.Peer == w.network && w.state != line.StateEnded:
		return line.SameNetwork
	case len(it.halves) > 0 && !w.serves(it):
		return line.Pending
	case w.state == line.StateEnded && w.blacklisted():
		return line.Blocked
	case w.state == line.StateEnded:
		return line.Revived
	}
	return line.Applied
}

func (w *walk) apply(it *item, outcome line.Outcome) {
	if it.implied != nil && it.Kind == line.Assign && isRunning(w.state) && w.ported() && w.network == it.Network {
		again := *it
		again.Kind = line.Transfer
		it = &again
	}
	e := effect{item: it, counted: w.counted[it.key()]}
	if isNewHolder(it.Kind) || outcome == line.Revived {
		ended := it.Effective
		if w.state == line.StateEnded {
			ended = w.since
		}
		w.tenures = append(w.tenures, tenure{start: &e, endedAt: ended, first: w.state == line.StateNone})
	}
	e.tenure = len(w.tenures) - 1
	before, moved := w.state, w.moveBy(it)
	w.state = stateAfter(&it.Event, before)
	if w.state != before || it.Kind == line.GiveNotice || isNewHolder(it.Kind) || outcome == line.Revived {
		w.since = it.Effective
	}
	if it.Kind == line.GiveNotice {
		w.notice = &e
	}
	switch {
	case it.Kind == line.Port:
		w.moves = append(w.moves, moved)
		w.network, w.arrived = it.Peer, e.counted
	case it.Kind == line.Assign && it.Network != 0 && it.Network != w.network:
		w.network, w.arrived = it.Network, moment{}
	case it.Authority == line.Operator && w.network == 0:
		w.network = it.Network
	}
	w.effects = append(w.effects, e)
}

// ported says whether a port brought the line to its network.
func (w *walk) ported() bool {
	for _, e := range w.effects {
		if e.Kind == line.Port && e.tenure >= w.firstOf() {
			return true
		}
	}
	return false
}

// moveBy returns what a port moves. After an end the number is with the network of
// its range, and nobody but the halves of a port says which one that is.
func (w *walk) moveBy(port *item) move {
	m := move{item: port, donor: cmp.Or(port.Network, w.network), known: w.counted[port.key()]}
	m.unknown = len(port.halves) == 0 && (w.network == 0 || w.state == line.StateEnded)
	return m
}

func (w *walk) blacklisted() bool {
	e := w.last(func(e *effect) bool { return e.Kind == line.Blacklist || e.Kind == line.Release })
	return e != nil && e.Kind == line.Blacklist
}

// last returns the last effect that fits, or nil.
func (w *walk) last(fits func(*effect) bool) *effect {
	for i := range slices.Backward(w.effects) {
		if fits(&w.effects[i]) {
			return &w.effects[i]
		}
	}
	return nil
}
