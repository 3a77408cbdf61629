// Package linemodel computes lines as docs/explanation/lines.md says, in another way than the
// service does, to compare the two on random histories.
package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

const grace = 3 * day // around a port

// A pass applies reports once, in the order of their effect. Where an end may be taken back, another
// pass over what came before shows the line as if it had not ended.
type pass struct {
	line.Row
	m        *model
	outcomes map[*report]line.Outcome
	waiting  []*report // of networks that did not have the number
	flags    []*report // that are in force
	notice   *report   // the newest
	ends     []*report // of the tenure that has ended: the notice whose date has come, and each ENDED
	never    []*report // the ends that never were
	beside   bool      // it has passed them
	late     *report   // the port after which late reports are applied
}

// run applies every report, or those before one: before it is heard again after a port, if there is one.
func (m *model) run(until line.Instant, never []*report, stop, late *report) *pass {
	p := &pass{Row: line.NoRow(), m: m, outcomes: map[*report]line.Outcome{}, never: never}
	if m.base != nil {
		p.Bits = m.base.Bits & line.SIMUnknown
	}
	for _, r := range m.reports {
		if r.Effective > until {
			p.outcomes[r] = r.decided(line.NotYet)
			continue
		}
		if r.contested || !r.voided && !r.held {
			p.passDate(r.Effective)
		}
		if r == stop && late == nil {
			return p
		}
		if p.outcomes[r] = p.hear(r); r.Kind != line.Port || p.outcomes[r] != line.Applied {
			continue
		}
		isHeard := func(w *report) bool { return w.Network == r.Peer && w.Effective >= r.Effective-grace }
		waiting := p.waiting
		p.waiting, p.late = slices.DeleteFunc(slices.Clone(waiting), isHeard), r
		for _, w := range waiting {
			switch {
			case w == stop && r == late:
				return p
			case isHeard(w) && w.Kind == line.ChangeSIM:
				p.outcomes[w] = line.NoEffect // it came with the port
			case isHeard(w):
				p.outcomes[w] = p.hear(w)
			}
		}
		p.late = nil
	}
	if until != line.Forever {
		p.passDate(until)
	}
	return p
}

// notEnded returns the line as if its tenure had not ended, before a report.
func (p *pass) notEnded(before *report) *pass {
	return p.m.run(line.Forever, slices.Concat(p.never, p.ends), before, p.late)
}

// takeBack makes the line one that has not ended.
func (p *pass) takeBack(q *pass, at line.Instant, ends line.Outcome) {
	for r, o := range p.outcomes {
		if r.Kind == line.Port {
			q.outcomes[r] = o // only a port that takes back the end is about the line as if it had not ended
		} else if r.Kind == line.End && slices.Contains(p.ends, r) {
			q.outcomes[r] = ends
		}
	}
	q.never, q.beside, q.late, q.Newest = p.never, p.beside, p.late, p.Newest
	*p = *q
	p.become(line.StateActive, at)
	p.Until = line.Never
}

// passDate ends the tenure when the churn date that was announced has come.
func (p *pass) passDate(now line.Instant) {
	if p.State != line.StateNoticed || p.Until > now || p.beside {
		return
	}
	if p.beside = slices.Contains(p.never, p.notice); !p.beside {
		p.ends = []*report{p.notice}
		p.become(line.StateEnded, p.Until)
		p.Until, p.EndedAfter = line.Never, line.Never
	}
}

// hadNumber says whether the network had the number about which it reports.
func (p *pass) hadNumber(r *report) bool {
	switch {
	case r.Authority != line.Operator || r.implied && (r.Network == 0 || r.Kind == line.Assign):
		return true
	case p.State.Ongoing() || p.State == line.StateEnded && r.Kind == line.Reinstate:
		return p.Network == r.Network || p.Network == 0 && !r.Outside
	default:
		return !r.Outside
	}
}

var showUse = []line.Kind{line.Use, line.ChangeSIM, line.Deactivate, line.Park, line.GiveNotice, line.Transfer}

// hear applies a report.
func (p *pass) hear(r *report) line.Outcome {
	if r.contested {
		p.contest(r)
	}
	if r.voided || r.held {
		return r.decided(line.Applied)
	}
	if p.Newest = max(p.Newest, r.Effective); r.Kind == line.Port {
		return p.port(r)
	}
	if p.State == line.StateEnded && r.Authority == line.Operator {
		unconfirmed := len(p.ends) == 1 && p.ends[0].Kind == line.GiveNotice
		if q := p.notEnded(r); r.Kind == line.End && q.hadNumber(r) {
			p.ends = append(slices.Clip(p.ends), r)
		} else if unconfirmed && slices.Contains(showUse, r.Kind) && q.hadNumber(r) {
			p.takeBack(q, r.Effective, line.Applied)
		}
	}
	switch {
	case r.Kind.IsHalf() && (p.State == line.StateEnded || r.Kind == line.ClaimPort && p.State.Ongoing() && p.Network == r.Network):
		return line.NoEffect
	case r.Kind.IsHalf():
		return line.Waiting
	case !p.hadNumber(r):
		p.waiting = append(p.waiting, r)
		return line.Waiting
	case !r.applies(p.State):
		return line.NoEffect
	case p.BlackAt != line.Never && r.Kind.StartsTenure():
		return line.Blocked
	}
	outcome := p.apply(r)
	if r.Authority == line.Operator && r.Network != 0 {
		p.Network = r.Network
	}
	if r.Authority == line.Operator && p.State == line.StateNone {
		p.become(line.StateActive, r.Effective)
	}
	return outcome
}

func (p *pass) become(to line.State, at line.Instant) {
	if p.State != to {
		p.State, p.StateSince, p.Bits = to, at, p.Bits&^line.EndDay
	}
}

// apply applies an event that does.
func (p *pass) apply(r *report) line.Outcome {
	at := r.Effective
	switch r.Kind {
	case line.End:
		if p.beside = p.beside || slices.Contains(p.never, r); !p.beside {
			p.become(line.StateEnded, at)
			p.ends, p.Until, p.EndedAfter, p.Bits = []*report{r}, line.Never, r.EndedAfter, with(p.Bits, line.EndDay, r.Day)
		}
	case line.Reinstate:
		p.takeBack(p.notEnded(r), at, line.Applied)
	case line.Assign:
		p.begin(r)
	case line.Transfer:
		p.newHolder(r)
	case line.ChangeSIM:
		p.SIM, p.Bits = at, with(p.Bits, line.SIMDay, r.Day)
	case line.Use, line.Deactivate, line.Park:
		to := map[line.Kind]line.State{line.Use: line.StateActive, line.Deactivate: line.StateInactive, line.Park: line.StateParked} //nolint:exhaustive // the only ones
		p.become(to[r.Kind], at)
		p.Until = line.Never
	case line.GiveNotice:
		p.State, p.StateSince, p.Until, p.notice = line.StateNoticed, at, r.Until, r
	case line.Bar:
		p.bar(r)
	case line.Unbar:
		if p.BarAt, p.BarReason = line.Never, 0; r.Authority == line.Regulator {
			p.HolderBarAt, p.HolderBarUntil, p.HolderBarReason = line.Never, line.Never, 0
			p.NumberBarAt, p.NumberBarUntil, p.NumberBarReason = line.Never, line.Never, 0
		}
	case line.Flag:
		p.flags = append(p.flags, r)
	case line.Unflag:
		before := len(p.flags)
		p.flags = slices.DeleteFunc(p.flags, func(f *report) bool { return r.Authority == line.Regulator || f.Supplier == r.Supplier })
		if r.Authority == line.Sector && len(p.flags) == before {
			return line.NoEffect
		}
	case line.Blacklist:
		p.BlackAt = at
	case line.Release:
		p.BlackAt = line.Never
	default:
	}
	return line.Applied
}

// bar puts a bar on the line. A second one of the regulator's never shortens the first.
func (p *pass) bar(r *report) {
	at, until, reason := &p.HolderBarAt, &p.HolderBarUntil, &p.HolderBarReason
	if r.Number {
		at, until, reason = &p.NumberBarAt, &p.NumberBarUntil, &p.NumberBarReason
	}
	switch permanent := r.confirmed || r.Until == line.Never; {
	case r.Authority == line.Operator:
		p.BarAt, p.BarReason = r.Effective, r.Code
		return
	case permanent || *at != line.Never && *until == line.Never:
		*until = line.Never
	default:
		*until = max(*until, r.Until)
	}
	*at, *reason = r.Effective, r.Code
}

// begin begins a tenure: flags and the port end, and the regulator's bar on the last holder when the rest is over.
func (p *pass) begin(r *report) {
	if r.implied && p.State.Ongoing() && p.PortAt != line.Never && p.Network == r.Network {
		p.newHolder(r)
		return
	}
	end, first := r.Effective, r.First && p.State == line.StateNone
	if p.State == line.StateEnded {
		end, p.Network = p.StateSince, 0
	}
	rested := end.Add(p.m.terms(r.ReportedAt).Rest)
	if r.Effective >= rested || r.Hold != 0 {
		p.HolderBarAt, p.HolderBarUntil, p.HolderBarReason = line.Never, line.Never, 0
	} else if p.HolderBarAt != line.Never && (p.HolderBarUntil == line.Never || p.HolderBarUntil > rested) {
		p.HolderBarUntil = rested
	}
	p.newHolder(r)
	p.flags, p.PortAt = nil, line.Never
	p.Bits = with(p.Bits, line.FirstHolder, first) &^ line.PortDay
}

// newHolder gives the line to a new holder, who has a SIM of its own.
func (p *pass) newHolder(r *report) {
	p.State, p.StateSince, p.Tenure = line.StateActive, r.Effective, r.Effective
	p.SIM, p.Until, p.EndedAfter, p.BarAt, p.BarReason = line.Never, line.Never, line.Never, line.Never, 0
	p.ContestedTenure, p.ContestedSIM, p.ContestedPort = line.Never, line.Never, line.Never
	if p.Bits = with(p.Bits&line.PortDay, line.TenureDay, r.Day); r.implied {
		p.Bits |= p.m.base.Bits & line.SIMUnknown
	}
}

// port moves the number.
func (p *pass) port(r *report) line.Outcome {
	at, before := r.Effective, p
	if p.State == line.StateEnded && at <= p.StateSince+grace {
		before = p.notEnded(r)
	}
	switch {
	case p.beside || p.State.Ongoing() && p.Network == r.Peer:
		return line.NoEffect
	case r.Authority == line.Operator && before.State.Ongoing() && before.Network != 0 && before.Network != r.Network:
		return line.Waiting
	case before != p && before.Network != r.Peer:
		p.takeBack(before, at, line.GaveWay)
	case p.State == line.StateEnded && p.BlackAt != line.Never:
		return line.Blocked
	case p.State == line.StateEnded:
		p.begin(r)
	}
	p.become(line.StateActive, at)
	p.Network, p.PortAt, p.Until, p.Bits = r.Peer, at, line.Never, with(p.Bits, line.PortDay, r.Day)
	return line.Applied
}

// contest keeps the signal of a change that was withdrawn by who reported it.
func (p *pass) contest(r *report) {
	mark := &p.ContestedTenure
	switch {
	case r.Kind == line.Port:
		mark = &p.ContestedPort
	case !p.hadNumber(r) || !r.applies(p.State) || r.Kind.StartsTenure() && p.BlackAt != line.Never:
		return
	case r.Kind == line.ChangeSIM:
		mark = &p.ContestedSIM
	}
	p.Newest, *mark = max(p.Newest, r.Effective), max(*mark, r.Effective)
}

func with(b, mask line.Bits, on bool) line.Bits {
	if on {
		return b | mask
	}
	return b &^ mask
}
