// Package linemodel is an independent implementation of [line.Fold], for tests. It
// shares no code with package line, is written in a different way, and prefers
// simplicity to speed.
package linemodel

import (
	"sort"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// Replay returns the row that package line must compute for a baseline and events.
func Replay(base *line.Baseline, events []line.Event) line.Row {
	withdrawn := map[int64]bool{}
	for i := range events {
		if events[i].Kind == line.Void {
			withdrawn[events[i].Voids] = true
		}
	}
	var all []entry
	if base != nil {
		all = baselineEntries(base)
	}
	for i := range events {
		if e := &events[i]; e.Kind != line.Void && !withdrawn[e.Seq] {
			all = append(all, entry{*e, order[e.Kind]})
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		if a.Effective != b.Effective {
			return a.Effective < b.Effective
		}
		if a.order != b.order {
			return a.order < b.order
		}
		return a.Seq < b.Seq
	})
	n := number{newest: line.Never, blacklisted: line.Never, tenure: noTenure()}
	for i := range all {
		n.apply(&all[i].Event)
	}
	row := n.row()
	row.Version = int32(len(events))
	if base != nil {
		row.Version, row.Baseline = row.Version+1, base.Import
	}
	return row
}

// entry is an event with its order among those of the same second.
type entry struct {
	line.Event

	order int
}

// order is the order of events of the same second: first the end of a tenure, then the
// start of one, then what happens to it.
var order = [...]int{
	line.End: 1, line.Reinstate: 2, line.Release: 3, line.Assign: 4,
	line.Port: 5, line.ReleasePort: 6, line.ClaimPort: 7, line.ChangeSIM: 8,
	line.Return: 9, line.Use: 10, line.Deactivate: 11, line.Park: 12, line.GiveNotice: 13,
	line.Unbar: 14, line.Bar: 15, line.Unflag: 16, line.Flag: 17, line.Blacklist: 18,
}

// baselineEntries returns the events that a baseline implies.
func baselineEntries(b *line.Baseline) []entry {
	var all []entry
	add := func(kind line.Kind, at line.Instant, order int) {
		all = append(all, entry{line.Event{
			Kind: kind, Effective: at, Authority: line.Operator, Network: b.Network, Code: line.ReasonOther, Until: line.Never, EndedAfter: line.Never,
		}, order})
	}
	since := max(b.StateSince, b.Tenure)
	sim := b.SIM
	if b.State == line.StateEnded && sim > since {
		sim = since
	}
	if b.Tenure != line.Never {
		add(line.Assign, b.Tenure, order[line.Assign])
	}
	if sim > b.Tenure {
		add(line.ChangeSIM, sim, order[line.ChangeSIM])
	}
	kinds := [...]line.Kind{
		line.StateInactive: line.Deactivate, line.StateParked: line.Park, line.StateNoticed: line.GiveNotice, line.StateBarred: line.Bar,
	}
	if kind := kinds[b.State]; kind != 0 {
		add(kind, since, order[kind])
		return all
	}
	if b.State == line.StateEnded {
		endOrder := order[line.End] // but not before the start of the tenure
		for _, earlier := range all {
			if earlier.Effective == since {
				endOrder = earlier.order
			}
		}
		add(line.End, since, endOrder)
		return all
	}
	if b.Tenure == line.Never && (sim == line.Never || since < sim) {
		add(line.Use, since, order[line.Use])
	}
	return all
}

// number has what does not end with a tenure, and the current tenure.
type number struct {
	newest, blacklisted line.Instant
	tenure              *tenure
}

// tenure has everything that ends with a tenure. A new one starts empty.
type tenure struct {
	state        line.State
	since, start line.Instant
	network      numbering.Network
	marks        map[string]mark // by name
	flags        map[int32]mark  // by supplier
	claims       map[numbering.Network]bool
	releasedBy   numbering.Network
	releasedTo   numbering.Network
}

type mark struct {
	at   line.Instant
	code line.Code
	nth  int // counts the flags, so that the last one can be found
}

func noTenure() *tenure {
	return &tenure{since: line.Never, start: line.Never, marks: map[string]mark{}, flags: map[int32]mark{}, claims: map[numbering.Network]bool{}}
}

// next returns the state after an event; ok is false when the event does not apply in
// the state before.
func next(e *line.Event, s line.State) (to line.State, ok bool) {
	ended := s == line.StateEnded
	switch e.Kind {
	case line.Assign:
		return line.StateActive, true
	case line.Reinstate:
		return line.StateActive, ended
	case line.End:
		return line.StateEnded, !ended
	case line.Port:
		return line.StateActive, !ended
	case line.Return:
		return line.StateActive, s == line.StateParked || s == line.StateNone
	case line.Use:
		return line.StateActive, !ended && s != line.StateParked
	case line.Deactivate:
		return line.StateInactive, s == line.StateActive || s == line.StateNone
	case line.Park:
		return line.StateParked, !ended && s != line.StateParked
	case line.GiveNotice:
		return line.StateNoticed, !ended && s != line.StateParked
	case line.Blacklist, line.Release:
		return s, true
	case line.ChangeSIM, line.Bar, line.Unbar:
		if s == line.StateNone && e.Authority == line.Operator {
			return line.StateActive, true
		}
		return s, !ended
	default: // flags and halves of ports
		return s, !ended
	}
}

// apply applies an event that comes after all events applied before.
func (n *number) apply(e *line.Event) {
	if e.Effective > n.newest {
		n.newest = e.Effective
	}
	t := n.tenure
	to, ok := next(e, t.state)
	if !ok || e.Kind == line.Assign && n.blacklisted != line.Never {
		return
	}
	ownNumber := t.state == line.StateNone || t.network == e.Network || e.Kind == line.ClaimPort || e.Kind == line.Assign && t.state == line.StateEnded
	if e.Authority == line.Operator && !ownNumber {
		return
	}
	switch e.Kind {
	case line.Assign:
		n.tenure = noTenure()
		n.tenure.state, n.tenure.since, n.tenure.start, n.tenure.network = to, e.Effective, e.Effective, e.Network
		return
	case line.Blacklist:
		n.blacklisted = e.Effective
		return
	case line.Release:
		n.blacklisted = line.Never
		return
	case line.Port:
		t.moveTo(e.Peer, e.Effective)
		return
	case line.ClaimPort, line.ReleasePort:
		t.portHalf(e)
		return
	default:
		t.setMarks(e)
	}
	if to != t.state || e.Kind == line.GiveNotice {
		t.state, t.since = to, e.Effective
	}
	if e.Authority == line.Operator {
		t.network = e.Network
	}
}

// portHalf applies the claim or the release of a port.
func (t *tenure) portHalf(e *line.Event) {
	if e.Kind == line.ReleasePort {
		t.releasedBy, t.releasedTo = e.Network, e.Peer
	} else if e.Network != t.network {
		t.claims[e.Network] = true
	}
	if t.claims[t.releasedTo] && (t.state == line.StateNone || t.releasedBy == t.network) {
		t.moveTo(t.releasedTo, e.Effective)
	}
}

func (t *tenure) moveTo(n numbering.Network, at line.Instant) {
	if t.state != line.StateActive {
		t.state, t.since = line.StateActive, at
	}
	t.network, t.claims, t.releasedBy, t.releasedTo = n, map[numbering.Network]bool{}, 0, 0
	t.marks["port"] = mark{at: at}
	delete(t.marks, "churn")
}

// setMarks applies everything that an event changes except the state.
func (t *tenure) setMarks(e *line.Event) {
	switch e.Kind {
	case line.ChangeSIM:
		t.marks["sim"] = mark{at: e.Effective}
	case line.Bar:
		t.marks[bars[e.Authority]] = mark{at: e.Effective, code: e.Code}
	case line.Unbar:
		delete(t.marks, "bar")
		delete(t.marks, bars[e.Authority])
	case line.Flag:
		t.flags[e.Supplier] = mark{at: e.Effective, code: e.Code, nth: t.lastFlag().nth + 1}
	case line.Unflag:
		if e.Authority == line.Regulator {
			clear(t.flags)
		}
		delete(t.flags, e.Supplier)
	case line.GiveNotice:
		t.marks["churn"] = mark{at: e.Until}
	case line.End:
		delete(t.marks, "churn")
		t.marks["after"] = mark{at: e.EndedAfter}
	case line.Reinstate:
		delete(t.marks, "after")
	default: // a state event cancels an announced churn
		delete(t.marks, "churn")
	}
}

var bars = [...]string{line.Operator: "bar", line.Regulator: "order"}

// lastFlag returns the flag that was set last.
func (t *tenure) lastFlag() mark {
	last := mark{at: line.Never}
	for _, m := range t.flags {
		if m.nth > last.nth {
			last = m
		}
	}
	return last
}

func (n *number) row() line.Row {
	t := n.tenure
	at := func(what string) line.Instant {
		if m, ok := t.marks[what]; ok {
			return m.at
		}
		return line.Never
	}
	row := line.Row{
		Network: t.network, State: t.state, StateSince: t.since, Tenure: t.start, SIM: at("sim"), Newest: n.newest, Until: at("churn"),
		EndedAfter: at("after"), PortAt: at("port"), BarAt: at("bar"), BarReason: t.marks["bar"].code, OrderAt: at("order"),
		OrderReason: t.marks["order"].code, FlagAt: t.lastFlag().at, FlagLevel: t.lastFlag().code, BlackAt: n.blacklisted,
	}
	for by, m := range t.flags {
		if m == t.lastFlag() {
			row.FlagBy = by
		}
	}
	return row
}
