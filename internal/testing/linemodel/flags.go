package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// firstOf returns the oldest tenure whose port, flags and regulator's bars have
// passed to the present one: each TRANSFERRED passes them on.
func (w *walk) firstOf() int {
	i := len(w.tenures) - 1
	for i > 0 && w.tenures[i].start.Kind == line.Transfer {
		i--
	}
	return i
}

// flags returns the flags of the present tenure that nobody withdrew.
func (w *walk) flags() (in []effect) {
	for i, e := range w.effects {
		if e.Kind == line.Flag && e.tenure >= w.firstOf() && !w.unflagged(e, w.effects[i+1:]) {
			in = append(in, e)
		}
	}
	return in
}

func (w *walk) unflagged(flag effect, later []effect) bool {
	for _, e := range later {
		if e.Kind == line.Unflag && (e.Authority == line.Regulator || e.Supplier == flag.Supplier) {
			return true
		}
	}
	return false
}

func (w *walk) hasFlagOf(sector int32) bool {
	return slices.ContainsFunc(w.flags(), func(f effect) bool { return f.Supplier == sector })
}

// flagAt returns the newest flag of a level.
func (w *walk) flagAt(level line.Code) line.Instant {
	at := line.Never
	for _, f := range w.flags() {
		if f.Code == level {
			at = f.Effective
		}
	}
	return at
}
