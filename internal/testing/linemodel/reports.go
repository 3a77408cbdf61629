package linemodel

import (
	"cmp"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// A report is an event, with what others say about it.
type report struct {
	line.Event

	counts                   *line.Event // since when it counts: its report, or the confirmation
	implied                  bool        // by a baseline
	order                    int         // in a second; -1 of what is about other reports
	held, confirmed          bool
	voided, contested, waits bool
}

// A model has everything that was reported about a number.
type model struct {
	terms   line.TermsAt
	base    *line.Baseline // the one that counts
	all     []*report      // of events, in the order of the history
	reports []*report      // that may apply, in the order of their effect
}

// order is that of events in a second.
var order = []line.Kind{
	line.End, line.Reinstate, line.Release, line.Assign, line.Transfer, line.Port, line.ReleasePort, line.ClaimPort, line.ChangeSIM, line.Use,
	line.Deactivate, line.Park, line.GiveNotice, line.Unbar, line.Bar, line.Unflag, line.Flag, line.Blacklist,
}

func inOrder(a, b *report) int {
	return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.order, b.order), byReport(&a.Event, &b.Event))
}

func asTheyCount(a, b *report) int { return byReport(a.counts, b.counts) }

// applies says in which states an event applies.
func (r *report) applies(s line.State) bool {
	switch {
	case r.Kind == line.Release || r.Kind == line.Assign || r.Kind == line.Blacklist:
		return true
	case r.Authority == line.Regulator && (r.Kind == line.Bar && r.Number || r.Kind == line.Unbar):
		return true
	case r.Kind == line.Reinstate:
		return s == line.StateEnded
	case r.Kind == line.Deactivate:
		return s == line.StateNone || s == line.StateActive
	case r.Kind == line.Park || r.Kind == line.GiveNotice:
		return s != line.StateEnded && s != line.StateParked
	}
	return s != line.StateEnded
}

// decided returns the outcome of a report that is not applied, otherwise another one.
func (r *report) decided(otherwise line.Outcome) line.Outcome {
	switch {
	case r.voided:
		return line.Voided
	case r.held:
		return line.Held
	case r.waits:
		return line.Waiting
	}
	return otherwise
}

// Model returns the row of a line and the outcome of each event.
func Model(h *line.History, terms line.TermsAt, until line.Instant) (line.Row, []line.Outcome) {
	row, outcomes, heldSince := compute(h, terms, until, 0)
	if heldSince != line.Never {
		confirmed, _, _ := compute(h, terms, until, row.Network)
		if !confirmed.Same(&row) || confirmed.DoubtAt != row.DoubtAt {
			row.DoubtAt = earliest(row.DoubtAt, heldSince)
		}
	}
	return row, outcomes
}

// compute is the same, but for the doubt of what is held: of that it returns since when there is some. What one network
// reported counts as confirmed.
func compute(h *line.History, terms line.TermsAt, until line.Instant, confirmed numbering.Network) (line.Row, []line.Outcome, line.Instant) {
	m := &model{terms: terms}
	for _, e := range h.Events {
		r := &report{Event: e, order: slices.Index(order, e.Kind)}
		r.counts, r.confirmed = &r.Event, confirmed != 0 && r.Network == confirmed && r.Hold != 0
		m.all = append(m.all, r)
	}
	m.withdraw()
	m.arrange(h.Base)
	p := m.run(until, nil, nil, nil)
	m.finishHalves(h, p)
	if p.Version = int32(len(m.all)); h.Base != nil {
		p.Version, p.Baseline = p.Version+1, h.Base.Import
	}
	for _, f := range p.flags {
		levels := map[line.Code]*line.Instant{line.LevelMedium: &p.MediumAt, line.LevelHigh: &p.HighAt, line.LevelVeryHigh: &p.VeryHighAt} //nolint:exhaustive // reasons are no levels
		*levels[f.Code] = max(*levels[f.Code], f.Effective)
	}
	claims := func(r *report) bool { return r.Outside && p.outcomes[r] != line.Voided }
	p.Bits = with(p.Bits, line.Claimed, p.State == line.StateNone && slices.ContainsFunc(m.all, claims))
	p.Bits = with(p.Bits, line.OwnSnapshot, m.base != nil && m.base.Network == p.Network)
	p.DoubtAt = m.since(p, func(r *report) bool {
		return p.outcomes[r] == line.Waiting && (r.Kind == line.ReleasePort || r.Kind == line.Void)
	})
	outcomes := make([]line.Outcome, len(m.all))
	for i, r := range m.all {
		outcomes[i] = p.outcomes[r]
	}
	return p.Row, outcomes, m.since(p, func(r *report) bool { return p.outcomes[r] == line.Held })
}

// about returns what was reported about an event and counts.
func (m *model) about(kind line.Kind, e *report) (about []*report) {
	for _, r := range m.all {
		if r.Kind == kind && r.Target == e.Seq && !r.held {
			about = append(about, r)
		}
	}
	slices.SortFunc(about, asTheyCount)
	return about
}

// withdraw decides what is held, and what is withdrawn.
func (m *model) withdraw() {
	for _, r := range m.all {
		if confirmations := m.about(line.Confirm, r); len(confirmations) > 0 {
			if r.confirmed = true; r.Hold != 0 {
				r.counts = &confirmations[0].Event
			}
		}
		r.held = r.Hold != 0 && !r.confirmed
	}
	for _, r := range m.all {
		r.voided = len(m.about(line.Void, r)) > 0
	}
	for _, r := range m.all {
		voids := m.about(line.Void, r)
		byRegulator := slices.ContainsFunc(voids, func(v *report) bool { return v.Authority == line.Regulator })
		if len(voids) == 0 || byRegulator || r.held {
			continue
		}
		brought := func(p *report) bool {
			return p.Kind == line.Port && !p.voided && p.Peer == r.Network && asTheyCount(p, voids[0]) < 0
		}
		slip := !voids[0].ReportedAt.After(r.ReportedAt.Add(time.Hour))
		change := r.Kind == line.ChangeSIM || r.Kind.StartsTenure() || r.Kind == line.Port
		r.contested = change && !slip && (!r.Outside || slices.ContainsFunc(m.all, brought))
	}
}

// finishHalves gives halves that have met the outcome of their port, and lets the void of one wait for that of the other.
func (m *model) finishHalves(h *line.History, p *pass) {
	bySeq := map[int64]*report{}
	for _, r := range m.all {
		if bySeq[r.Seq] = r; r.order < 0 {
			p.outcomes[r] = r.decided(line.Applied)
		}
	}
	for _, met := range h.Met() {
		port := bySeq[met.Port.Seq]
		for _, half := range []*report{bySeq[met.Claim.Seq], bySeq[met.Release.Seq]} {
			if port.voided {
				continue
			}
			p.outcomes[half] = half.decided(p.outcomes[port])
			for _, v := range m.about(line.Void, half) {
				if v.Authority == line.Operator {
					p.outcomes[v] = line.Waiting
				}
			}
		}
	}
	for _, v := range m.all {
		if t := bySeq[v.Target]; v.Kind == line.Void && v.held && t != nil && t.voided {
			p.outcomes[v] = line.Voided // nothing is left to decide
		}
	}
}

// since returns when the network that serves a line reported the first of some events. A later port ends a doubt, and a
// later file that has the line.
func (m *model) since(p *pass, causes func(*report) bool) line.Instant {
	first := line.Never
	for _, r := range m.all {
		ended := slices.ContainsFunc(m.all, func(x *report) bool {
			file := x.Kind == line.Restate && !x.voided && !x.held && !x.Outside && x.Network == p.Network
			return (file || x.Kind == line.Port && p.outcomes[x] == line.Applied) && byReport(x.counts, &r.Event) >= 0
		})
		if r.Authority == line.Operator && r.Network == p.Network && p.State.Ongoing() && causes(r) && !ended {
			first = earliest(first, line.InstantOf(r.ReportedAt))
		}
	}
	return first
}

func earliest(a, b line.Instant) line.Instant {
	if a == line.Never || b == line.Never {
		return max(a, b)
	}
	return min(a, b)
}
