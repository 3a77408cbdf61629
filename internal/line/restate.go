package line

import "slices"

// givenBase returns the baseline of a history, or nil if the snapshot that gave it was
// voided.
func (f *fold) givenBase(h *History) *Baseline {
	if slices.ContainsFunc(f.facts, func(x *fact) bool { return x.outcome == Voided && h.gaveBase(x.Event) }) {
		return nil
	}
	return h.Base
}

// chooseBase sets the baseline that counts, the first or the last restatement of it,
// and returns since when each of its implied events counts.
func (f *fold) chooseBase(base *Baseline) (since []moment) {
	f.base = base
	var restatements []*fact
	for _, x := range f.facts {
		if x.Kind == Restate && !x.decided {
			if !f.hasLine(x, base) {
				x.outcome = Pending
				continue
			}
			x.counted = later(x.counted, f.prior.placed[x.Seq])
			restatements = append(restatements, x)
		}
	}
	slices.SortFunc(restatements, func(a, b *fact) int { return a.counted.compare(b.counted) })
	said := f.base.implications()
	since = make([]moment, len(said))
	for _, x := range restatements {
		restated := x.Base.over(f.base)
		next := restated.implications()
		counts := make([]moment, len(next))
		for i := range next {
			counts[i] = restatedAt(said, since, &next[i], x.counted)
		}
		f.base, said, since = &restated, next, counts
	}
	return since
}

// restatedAt returns since when a restated fact counts: with the restatement where it
// adds a change or moves it later, and otherwise as before.
func restatedAt(said []Event, since []moment, e *Event, now moment) moment {
	for i := range said {
		switch {
		case said[i].Kind != e.Kind:
		case said[i].Effective == e.Effective:
			return since[i]
		case said[i].Effective > e.Effective:
			return moment{}
		}
	}
	return now
}

// hasLine reports whether a restatement is by a network that has the line: that of
// the baseline, or one to which a port brought it.
func (f *fold) hasLine(x *fact, base *Baseline) bool {
	_, ported := f.prior.placed[x.Seq]
	return ported || base == nil && !x.Outside || base != nil && base.Network == x.Network
}

// placeRestatements notes the restatements of networks to which a port brought the
// line before their time.
func (f *fold) placeRestatements(base *Baseline) {
	for _, x := range f.facts {
		if x.Kind != Restate || base != nil && base.Network == x.Network {
			continue
		}
		for _, p := range f.ports {
			if _, moved := f.found.moved[p.last.Seq]; !moved || p.last.Effective > x.Effective {
				continue
			}
			if delete(f.found.placed, x.Seq); p.to == x.Network { // the next port takes it away
				f.found.placed[x.Seq] = p.counted
			}
		}
	}
}
