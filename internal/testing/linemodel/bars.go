package linemodel

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

type bar struct {
	at, until line.Instant // until is Never for a bar that does not end by itself
	reason    line.Code
}

// operatorBar returns the operator's bar, which ends with the tenure.
func (w *walk) operatorBar() (at line.Instant, reason line.Code) {
	e := w.last(func(e *effect) bool {
		return e.Kind == line.Unbar || e.Kind == line.Bar && e.Authority == line.Operator
	})
	if e == nil || e.Kind == line.Unbar || e.tenure != len(w.tenures)-1 {
		return line.Never, 0
	}
	return e.Effective, e.Code
}

// regulatorBar returns the regulator's bar on the number or on the holder. Of several
// in force the newest is shown, until the last of them ends.
func (w *walk) regulatorBar(number bool, terms line.TermsAt) bar {
	shown := bar{line.Never, line.Never, 0}
	for i, e := range w.effects {
		if e.Kind != line.Bar || e.Authority != line.Regulator || e.Number != number || w.unbarred(w.effects[i+1:]) {
			continue
		}
		until := e.Until
		if !number {
			var over bool
			if until, over = w.afterTenures(e, terms); over {
				continue
			}
		}
		if shown.at != line.Never {
			until = laterEnd(shown, until, e.Effective)
		}
		shown = bar{e.Effective, until, e.Code}
	}
	return shown
}

// laterEnd returns when the last of two bars ends. A bar that was over when the other
// began says nothing.
func laterEnd(old bar, until, began line.Instant) line.Instant {
	switch {
	case old.until == line.Never || until == line.Never:
		return line.Never
	case old.until <= began:
		return until
	}
	return max(old.until, until)
}

func (w *walk) unbarred(later []effect) bool {
	return slices.ContainsFunc(later, func(e effect) bool { return e.Kind == line.Unbar && e.Authority == line.Regulator })
}

// afterTenures returns when a bar on the holder ends by itself: when the rest after
// its tenure is over. It is over at once where the rest is over before the next
// tenure, or where the regulator confirmed a held early ASSIGNED.
func (w *walk) afterTenures(b effect, terms line.TermsAt) (until line.Instant, over bool) {
	until = b.Until
	for _, t := range w.tenures[b.tenure+1:] {
		if t.start.Kind == line.Transfer {
			continue
		}
		rest := t.endedAt.Add(terms(t.start.ReportedAt).Rest)
		early := t.start.Effective < rest
		if !early || t.start.Hold != 0 {
			return line.Never, true
		}
		if until == line.Never || until > rest {
			until = rest
		}
	}
	return until, false
}
