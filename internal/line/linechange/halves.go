package linechange

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// SettleHalves adds the ports whose two halves have met, and withdraws those whose halves are withdrawn. It is
// called after each event that may complete one.
func (c *Change) SettleHalves(r Rules) error {
	for {
		h := c.History()
		if !slices.ContainsFunc(h.Events, func(e line.Event) bool { return e.Kind.IsHalf() }) {
			return nil
		}
		_, outcomes := line.Fold(h, c.Terms, line.Forever)
		e, ok := withdrawnPort(h, outcomes)
		if !ok {
			var met line.Halves
			if met, ok = h.Meet(c.Terms, outcomes); !ok {
				return nil
			}
			e = met.Event()
		}
		var err error
		if e.Seq, err = r.Next(); err != nil {
			return err
		}
		last := &h.Events[len(h.Events)-1]
		e.Supplier, e.Import, e.ReportedAt = last.Supplier, last.Import, r.Now
		c.Add(e)
	}
}

// withdrawnPort returns the void of a port whose two halves their networks have withdrawn, or one the regulator.
func withdrawnPort(h *line.History, outcomes []line.Outcome) (line.Event, bool) {
	outcomeOf := func(e *line.Event) line.Outcome {
		return outcomes[slices.IndexFunc(h.Events, func(o line.Event) bool { return o.Seq == e.Seq })]
	}
	for _, met := range h.Met() {
		if outcomeOf(met.Port) == line.Voided {
			continue
		}
		by := line.Operator
		gone := outcomeOf(met.Claim) == line.Voided && outcomeOf(met.Release) == line.Voided
		for i := range h.Events {
			v := &h.Events[i]
			if v.Kind == line.Void && v.Authority == line.Regulator && (v.Target == met.Claim.Seq || v.Target == met.Release.Seq) {
				gone, by = true, line.Regulator
			}
		}
		if gone {
			void := line.Event{
				Kind: line.Void, Authority: by, Target: met.Port.Seq, Effective: met.Port.Effective, Until: line.Never, EndedAfter: line.Never,
			}
			if by == line.Operator {
				void.Network = met.Port.Network
			}
			return void, true
		}
	}
	return line.Event{}, false
}

// LoneHalf returns the half of a port to a network that was reported first and still waits for the other one.
func (c *Change) LoneHalf(kind line.Kind, to numbering.Network) (half line.Event, ok bool) {
	h := c.History()
	_, outcomes := line.Fold(h, c.Terms, line.Forever)
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == kind && outcomes[i] == line.Waiting && (to == 0 || e.Recipient() == to) {
			return *e, true
		}
	}
	return line.Event{}, false
}
