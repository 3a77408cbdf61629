package line

import "slices"

// facts returns the facts that the baseline implies. Within a second they keep
// their own order: a tenure may start and end on the same date.
func (b *Baseline) facts() []*fact {
	events := b.impliedEvents(make([]Event, 0, 3))
	all := make([]fact, len(events))
	facts := make([]*fact, len(events), len(events)+3)
	last := &fact{Event: &Event{Effective: Never}}
	for i := range events {
		x := &all[i]
		x.Event, x.index, x.order = &events[i], implied, orderOf[events[i].Kind]
		if x.Effective == last.Effective {
			x.order = max(x.order, last.order)
		}
		facts[i], last = x, x
	}
	return facts
}

// over returns what is known after a later snapshot said b and an earlier one said
// before: what the later one does not know stays.
func (b *Baseline) over(before *Baseline) Baseline {
	merged := *b
	if before == nil {
		return merged
	}
	if b.Tenure == Never && before.Tenure != Never {
		merged.Tenure = before.Tenure
		merged.Bits |= before.Bits & TenureDay
	}
	if b.Bits.has(SIMUnknown) && !before.Bits.has(SIMUnknown) {
		merged.SIM = before.SIM
		merged.Bits = merged.Bits&^SIMUnknown | before.Bits&SIMDay
	}
	return merged
}

// placeBase sets with which network the line was when each implied event took
// effect. If the first port after it brought the number to the network of the
// snapshot, it was with another one before. A port after the snapshot did not bring it
// there: it had the number already.
func (f *fold) placeBase(facts []*fact) {
	for _, x := range facts {
		i := slices.IndexFunc(f.ports, func(p *fact) bool { return byEffect(p, x) > 0 })
		if i >= 0 && f.ports[i].Peer == f.base.Network && f.ports[i].Effective <= f.base.AsOf {
			x.Network = f.ports[i].Network // 0 where the clearing house reported the port
		}
	}
}

// IsOver reports whether the tenure had ended before an instant, by what the baseline says.
func (b *Baseline) IsOver(at Instant) bool {
	return b != nil && (b.State == StateEnded && at > b.StateSince || b.State == StateNoticed && at >= b.Until)
}

// LastSIM returns when the SIM last changed: of a tenure that has ended, no later than its end.
func (b *Baseline) LastSIM() Instant {
	if b.State == StateEnded {
		return min(b.SIM, max(b.StateSince, b.Tenure))
	}
	return b.SIM
}

// impliedEvents appends the events that would have led to the baseline, in the
// order of their effect. Each of them applies, because a state is taken to be no
// older than its tenure, and a SIM change no later than the end of the tenure.
func (b *Baseline) impliedEvents(to []Event) []Event {
	add := func(k Kind, at Instant, code Code, day Bits) {
		to = append(to, Event{
			Kind: k, Effective: at, Day: b.Bits.has(day), Authority: Operator, Network: b.Network, Code: code, Until: Never, EndedAfter: Never,
		})
	}
	since, sim := max(b.StateSince, b.Tenure), b.LastSIM()
	if b.Tenure != Never {
		add(Assign, b.Tenure, 0, TenureDay)
	}
	swapped := sim > b.Tenure // an earlier SIM change belongs to the start of the tenure
	if swapped && sim <= since {
		add(ChangeSIM, sim, 0, SIMDay)
	}
	switch b.State {
	case StateInactive:
		add(Deactivate, since, 0, 0)
	case StateParked:
		add(Park, since, 0, 0)
	case StateNoticed:
		add(GiveNotice, since, 0, 0)
		to[len(to)-1].Until = max(b.Until, since+1, sim+1) // what the row says happened in the tenure
	case StateBarred:
		add(Bar, since, ReasonOther, 0)
	case StateEnded:
		add(End, since, ReasonChurned, EndDay)
	default:
		if len(to) == 0 {
			add(Use, since, 0, 0) // nothing is known but that the line is in use
		}
	}
	if swapped && sim > since {
		add(ChangeSIM, sim, 0, SIMDay)
	}
	return to
}
