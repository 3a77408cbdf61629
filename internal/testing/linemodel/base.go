package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// arrange puts in order what may apply: what the baseline stands for, what a later file took away from it, and the events.
func (m *model) arrange(first *line.Baseline) {
	var events, ports, contested []*report
	for _, r := range slices.SortedFunc(slices.Values(m.all), inOrder) {
		if r.order >= 0 {
			events = append(events, r)
		}
		if r.Kind == line.Port && !r.held && !r.voided {
			ports = append(ports, r)
		}
	}
	m.base = first
	for _, r := range slices.SortedFunc(slices.Values(m.all), asTheyCount) {
		if !r.Restates() || r.held || r.voided {
			continue
		}
		has := first == nil || first.Network == r.Network
		for _, p := range slices.Backward(ports) {
			if p.Effective <= r.Effective { // the last one
				has = has || p.Peer == r.Network
				break
			}
		}
		if r.waits = r.Outside || !has; !r.waits {
			next := merge(r.Base, m.base)
			contested = append(contested, taken(m.base, next, r.Effective)...)
			m.base = next
		}
	}
	said := implied(m.base)
	for _, r := range said {
		i := slices.IndexFunc(ports, func(p *report) bool { return inOrder(p, r) > 0 })
		if i >= 0 && ports[i].Peer == m.base.Network && ports[i].Effective <= m.base.AsOf {
			r.Network = ports[i].Network // none if the clearing house reported the port
		}
	}
	m.reports = slices.Concat(said, contested, events)
	slices.SortStableFunc(m.reports, inOrder)
}

// merge returns what a later file says, and what it does not know from before.
func merge(later, before *line.Baseline) *line.Baseline {
	b := *later
	if before != nil && b.Tenure == line.Never {
		b.Tenure, b.Bits = before.Tenure, b.Bits&^line.TenureDay|before.Bits&line.TenureDay
	}
	if before != nil && b.Bits&line.SIMUnknown != 0 && before.Bits&line.SIMUnknown == 0 {
		b.SIM, b.Bits = before.SIM, b.Bits&^line.SIMUnknown&^line.SIMDay|before.Bits&line.SIMDay
	}
	return &b
}

// taken returns the holders and SIMs of the last 400 days that a later file takes away or moves earlier.
func taken(before, next *line.Baseline, at line.Instant) (taken []*report) {
	for _, r := range implied(before) {
		stays := func(s *report) bool { return s.Kind == r.Kind && s.Effective >= r.Effective }
		recent := (r.Kind == line.Assign || r.Kind == line.ChangeSIM) && r.Effective > at-400*day
		if recent && !slices.ContainsFunc(implied(next), stays) {
			r.voided, r.contested = true, true
			taken = append(taken, r)
		}
	}
	return taken
}

// implied returns the events for which a baseline stands.
func implied(base *line.Baseline) (all []*report) {
	if base == nil {
		return nil
	}
	b := *base
	add := func(kind line.Kind, at, until line.Instant, code line.Code, isDay line.Bits) {
		r := &report{implied: true, order: slices.Index(order, kind), Event: line.Event{
			Kind: kind, Effective: at, Until: until, Code: code, Day: b.Bits&isDay != 0, EndedAfter: line.Never,
			Authority: line.Operator, Network: b.Network,
		}}
		if last := len(all) - 1; last >= 0 && all[last].Effective == at {
			r.order = max(r.order, all[last].order)
		}
		all = append(all, r)
	}
	if b.StateSince = max(b.StateSince, b.Tenure); b.State == line.StateEnded {
		b.SIM = min(b.SIM, b.StateSince)
	}
	if b.Tenure != line.Never {
		add(line.Assign, b.Tenure, line.Never, 0, line.TenureDay)
	}
	if b.SIM > b.Tenure {
		add(line.ChangeSIM, b.SIM, line.Never, 0, line.SIMDay)
	}
	switch {
	case b.State == line.StateEnded:
		add(line.End, b.StateSince, line.Never, line.ReasonChurned, line.EndDay)
	case b.State == line.StateBarred:
		add(line.Bar, b.StateSince, line.Never, line.ReasonOther, 0)
	case b.State == line.StateNoticed:
		add(line.GiveNotice, b.StateSince, max(b.Until, b.StateSince+1, b.SIM+1), 0, 0)
	case b.State != line.StateActive || len(all) == 0 || all[0].Effective > b.StateSince:
		kind := map[line.State]line.Kind{line.StateInactive: line.Deactivate, line.StateParked: line.Park, line.StateActive: line.Use} //nolint:exhaustive // the others follow
		add(kind[b.State], b.StateSince, line.Never, 0, 0)
	}
	return all
}
