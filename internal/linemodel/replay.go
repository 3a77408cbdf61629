// Package linemodel is a second opinion, for tests, on what a baseline and
// events make of a number. It shares no code with package line, is written in
// another way, and is slow where that keeps it plain.
package linemodel

import (
	"sort"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
)

// Replay returns the row that package line must have for a number.
func Replay(base *line.Baseline, events []line.Event) line.Row {
	withdrawn := map[int64]bool{}
	for i := range events {
		if events[i].Kind == line.Void {
			withdrawn[events[i].Voids] = true
		}
	}
	var story []entry
	if base != nil {
		story = before(base)
	}
	for i := range events {
		if e := &events[i]; e.Kind != line.Void && !withdrawn[e.Seq] {
			story = append(story, entry{*e, order[e.Kind]})
		}
	}
	sort.SliceStable(story, func(i, j int) bool {
		a, b := &story[i], &story[j]
		if a.Effective != b.Effective {
			return a.Effective < b.Effective
		}
		if a.order != b.order {
			return a.order < b.order
		}
		return a.Seq < b.Seq
	})
	n := number{newest: line.Never, blacklisted: line.Never, tenure: nobody()}
	for i := range story {
		n.hear(&story[i].Event)
	}
	row := n.row()
	row.Version = int32(len(events)) //nolint:gosec // a few
	if base != nil {
		row.Version, row.Baseline = row.Version+1, base.Import
	}
	return row
}

// entry is a thing that was said, with its place among those of the same second.
type entry struct {
	line.Event

	order int
}

// order is how events of the same second follow each other: first what ends,
// then what begins, then what happens to it.
var order = [...]int{
	line.End: 1, line.Reinstate: 2, line.Release: 3, line.Assign: 4,
	line.Port: 5, line.ReleasePort: 6, line.ClaimPort: 7, line.ChangeSIM: 8,
	line.Return: 9, line.Use: 10, line.Deactivate: 11, line.Park: 12, line.GiveNotice: 13,
	line.Unbar: 14, line.Bar: 15, line.Unflag: 16, line.Flag: 17, line.Blacklist: 18,
}

// before tells what a snapshot says as a story.
func before(b *line.Baseline) []entry {
	var story []entry
	say := func(kind line.Kind, at line.Instant, order int) {
		story = append(story, entry{line.Event{
			Kind: kind, Effective: at, By: line.Operator, Network: b.Network, Code: line.ReasonOther, Until: line.Never, After: line.Never,
		}, order})
	}
	since := max(b.StateSince, b.Tenure)
	sim := b.SIM
	if b.State == line.StateEnded && sim > since {
		sim = since
	}
	if b.Tenure != line.Never {
		say(line.Assign, b.Tenure, order[line.Assign])
	}
	if sim > b.Tenure {
		say(line.ChangeSIM, sim, order[line.ChangeSIM])
	}
	kinds := [...]line.Kind{
		line.StateInactive: line.Deactivate, line.StateParked: line.Park, line.StateNoticed: line.GiveNotice, line.StateBarred: line.Bar,
	}
	if kind := kinds[b.State]; kind != 0 {
		say(kind, since, order[kind])
		return story
	}
	if b.State == line.StateEnded {
		place := order[line.End] // but never before what it ends
		for _, earlier := range story {
			if earlier.Effective == since {
				place = earlier.order
			}
		}
		say(line.End, since, place)
		return story
	}
	if b.Tenure == line.Never && (sim == line.Never || since < sim) {
		say(line.Use, since, order[line.Use])
	}
	return story
}

// number is all that outlives a tenure, and the tenure.
type number struct {
	newest, blacklisted line.Instant
	tenure              *tenure
}

// tenure is everything that ends with it. A new one begins with nothing.
type tenure struct {
	state        line.State
	since, began line.Instant
	network      numbering.Network
	marks        map[string]mark // by what they are
	flags        map[int32]mark  // by who flagged
	claims       map[numbering.Network]bool
	releasedBy   numbering.Network
	releasedTo   numbering.Network
}

type mark struct {
	at   line.Instant
	code line.Code
	nth  int // of all flags, so that the last one is known
}

func nobody() *tenure {
	return &tenure{since: line.Never, began: line.Never, marks: map[string]mark{}, flags: map[int32]mark{}, claims: map[numbering.Network]bool{}}
}

// next returns the state after an event; ok is false when the event means
// nothing in the state before.
func next(e *line.Event, s line.State) (to line.State, ok bool) {
	over := s == line.StateEnded
	switch e.Kind {
	case line.Assign:
		return line.StateActive, true
	case line.Reinstate:
		return line.StateActive, over
	case line.End:
		return line.StateEnded, !over
	case line.Port:
		return line.StateActive, !over
	case line.Return:
		return line.StateActive, s == line.StateParked || s == line.StateNone
	case line.Use:
		return line.StateActive, !over && s != line.StateParked
	case line.Deactivate:
		return line.StateInactive, s == line.StateActive || s == line.StateNone
	case line.Park:
		return line.StateParked, !over && s != line.StateParked
	case line.GiveNotice:
		return line.StateNoticed, !over && s != line.StateParked
	case line.Blacklist, line.Release:
		return s, true
	case line.ChangeSIM, line.Bar, line.Unbar:
		if s == line.StateNone && e.By == line.Operator {
			return line.StateActive, true
		}
		return s, !over
	default: // flags and halves of ports
		return s, !over
	}
}

func (n *number) hear(e *line.Event) {
	if e.Effective > n.newest {
		n.newest = e.Effective
	}
	t := n.tenure
	to, ok := next(e, t.state)
	if !ok || e.Kind == line.Assign && n.blacklisted != line.Never {
		return
	}
	theirs := t.state == line.StateNone || t.network == e.Network || e.Kind == line.ClaimPort || e.Kind == line.Assign && t.state == line.StateEnded
	if e.By == line.Operator && !theirs {
		return
	}
	switch e.Kind {
	case line.Assign:
		n.tenure = nobody()
		n.tenure.state, n.tenure.since, n.tenure.began, n.tenure.network = to, e.Effective, e.Effective, e.Network
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
		t.half(e)
		return
	default:
		t.note(e)
	}
	if to != t.state || e.Kind == line.GiveNotice {
		t.state, t.since = to, e.Effective
	}
	if e.By == line.Operator {
		t.network = e.Network
	}
}

// half hears one side of a port.
func (t *tenure) half(e *line.Event) {
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

// note keeps what an event says beside the state.
func (t *tenure) note(e *line.Event) {
	switch e.Kind {
	case line.ChangeSIM:
		t.marks["sim"] = mark{at: e.Effective}
	case line.Bar:
		t.marks[bars[e.By]] = mark{at: e.Effective, code: e.Code}
	case line.Unbar:
		delete(t.marks, "bar")
		delete(t.marks, bars[e.By])
	case line.Flag:
		t.flags[e.Supplier] = mark{at: e.Effective, code: e.Code, nth: t.lastFlag().nth + 1}
	case line.Unflag:
		if e.By == line.Regulator {
			clear(t.flags)
		}
		delete(t.flags, e.Supplier)
	case line.GiveNotice:
		t.marks["churn"] = mark{at: e.Until}
	case line.End:
		delete(t.marks, "churn")
		t.marks["after"] = mark{at: e.After}
	case line.Reinstate:
		delete(t.marks, "after")
	default: // the holder is back, or has gone quiet
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
		Network: t.network, State: t.state, StateSince: t.since, Tenure: t.began, SIM: at("sim"), Newest: n.newest, Until: at("churn"),
		After: at("after"), PortAt: at("port"), BarAt: at("bar"), BarReason: t.marks["bar"].code, OrderAt: at("order"),
		OrderReason: t.marks["order"].code, FlagAt: t.lastFlag().at, FlagLevel: t.lastFlag().code, BlackAt: n.blacklisted,
	}
	for by, m := range t.flags {
		if m == t.lastFlag() {
			row.FlagBy = by
		}
	}
	return row
}
