package linemodel

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
)

// row computes each field of the row by its own rule from what took effect.
func (w *walk) row(h *line.History, r *reports, terms line.TermsAt) line.Row {
	row := line.NoRow()
	row.Version = int32(len(h.Events))
	if h.Base != nil {
		row.Version++
		row.Baseline = h.Base.Import
	}
	row.Network, row.State, row.StateSince, row.Newest = w.network, w.state, w.since, w.judged
	w.tenureFields(&row)
	w.simFields(&row, h, r, terms)
	w.portFields(&row, terms)
	w.endFields(&row, r)
	w.contestedFields(&row, terms)
	if w.state == line.StateNoticed {
		row.Until = w.notice.Until
	}
	row.BarAt, row.BarReason = w.operatorBar()
	holder, number := w.regulatorBar(false, terms), w.regulatorBar(true, terms)
	row.HolderBarAt, row.HolderBarUntil, row.HolderBarReason = holder.at, holder.until, holder.reason
	row.NumberBarAt, row.NumberBarUntil, row.NumberBarReason = number.at, number.until, number.reason
	row.MediumAt, row.HighAt, row.VeryHighAt = w.flagAt(line.LevelMedium), w.flagAt(line.LevelHigh), w.flagAt(line.LevelVeryHigh)
	if w.blacklisted() {
		row.BlackAt = w.last(func(e *effect) bool { return e.Kind == line.Blacklist }).Effective
	}
	row.DoubtAt = w.doubt(r)
	if base, _ := snapshot(h.Base, r); base != nil && base.Network == w.network {
		row.Bits |= line.OwnSnapshot
	}
	if w.state == line.StateNone && claimed(r) {
		row.Bits |= line.Claimed
	}
	return row
}

func (w *walk) tenureFields(row *line.Row) {
	start := w.tenures[len(w.tenures)-1].start
	if start == nil {
		return
	}
	row.Tenure = start.Effective
	setBit(row, line.TenureDay, start.Day)
	setBit(row, line.FirstHolder, start.Kind == line.Assign && start.First && w.tenures[len(w.tenures)-1].first)
}

func (w *walk) simFields(row *line.Row, h *line.History, r *reports, terms line.TermsAt) {
	current := len(w.tenures) - 1
	start := w.tenures[current].start
	day, unknown := false, false
	switch {
	case start == nil:
		base, _ := snapshot(h.Base, r)
		unknown = base != nil && base.Bits&line.SIMUnknown != 0
	case start.implied != nil:
		unknown = start.implied.simUnknown
	}
	for _, e := range w.effects {
		if e.Kind == line.ChangeSIM && e.tenure == current {
			row.SIM, day = e.Effective, e.Day
			row.SIMWindow = max(row.SIMWindow, e.window(terms(e.counted.at).SIMDeadline))
		}
	}
	setBit(row, line.SIMDay, day)
	setBit(row, line.SIMUnknown, unknown)
}

// window returns from when the window of a change runs: from its effect, or from its
// report if that was late. What a first snapshot says is never late.
func (e *effect) window(deadline time.Duration) line.Instant {
	if e.counted.at.After(e.Effective.Time().Add(deadline)) {
		return line.InstantOf(e.counted.at)
	}
	return e.Effective
}

func (w *walk) portFields(row *line.Row, terms line.TermsAt) {
	for _, e := range w.effects {
		if e.Kind == line.Port && e.tenure >= w.firstOf() {
			row.PortAt = e.Effective
			setBit(row, line.PortDay, e.Day)
			row.PortWindow = max(row.PortWindow, e.window(terms(e.counted.at).PortDeadline))
		}
	}
}

func (w *walk) endFields(row *line.Row, r *reports) {
	if w.state != line.StateEnded {
		return
	}
	end := w.last(func(e *effect) bool { return e.Kind == line.End })
	row.EndedAfter = end.EndedAfter
	setBit(row, line.EndDay, end.Day)
	for i := range r.events {
		v := &r.events[i]
		if v.Kind != line.Void || v.Authority != line.Operator || !r.held(v) || r.withdrawnByAuthority(v) {
			continue
		}
		// The end by an announced date has the seq of the notice.
		if target := r.find(v.Target); target != nil && target.Kind == line.End && target.Seq == end.Seq {
			setBit(row, line.EndContested, true)
		}
	}
}

func (w *walk) contestedFields(row *line.Row, terms line.TermsAt) {
	for _, s := range w.signals {
		if s.tenure != len(w.tenures)-1 {
			continue
		}
		switch s.Kind {
		case line.ChangeSIM:
			row.ContestedSIM = s.Effective
			row.ContestedSIMWindow = max(row.ContestedSIMWindow, s.window(terms(s.counted.at).SIMDeadline))
		case line.Port:
			row.ContestedPort = s.Effective
			row.ContestedPortWindow = max(row.ContestedPortWindow, s.window(terms(s.counted.at).PortDeadline))
		default:
			row.ContestedTenure = s.Effective
		}
	}
}

func setBit(row *line.Row, bit line.Bits, on bool) {
	row.Bits &^= bit
	if on {
		row.Bits |= bit
	}
}
