package outbox

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Rules are what the status of a line depends on beside its row.
type Rules struct {
	Policy *policy.Policy
	Plan   *numbering.Plan
	Now    time.Time
}

// Describe compares the stored row of a line with its new one. The kind is [Past] if
// nothing differs that an answer shows now: the signals, the network, the tenure. The
// status alone would not do: a SIM swap of a barred line must be told.
//
// Whether the supply is fresh is left out here: that changes by the clock and for all
// lines of a network at once. Whoever passes the change on takes it into account.
func (r *Rules) Describe(n phone.Number, stored, row *line.Row, events []line.Event) Change {
	before, after := r.view(n, stored), r.view(n, row)
	sameTenure := stored.Tenure == row.Tenure && stored.State.Ongoing() == row.State.Ongoing()
	kind, at := kindOf(&before, &after)
	if before.Status == after.Status && before.Reason == after.Reason && before.Network == after.Network && sameTenure && slices.Equal(before.Signals, after.Signals) {
		kind, at = Past, line.Never
	}
	c := Change{
		Number: n, FromVersion: stored.Version, Version: row.Version, ReportedAt: r.Now, Kind: kind, Effective: at, Before: before.Status, After: after.Status,
		FromNetwork: before.Network, Network: after.Network, Until: untilOf(&after),
	}
	for i := range events {
		e := &events[i]
		c.Import = e.Import
		c.Correction = c.Correction || e.Kind == line.Void || e.Kind == line.Restate || e.Effective < stored.Newest
		if at == line.Never {
			c.Effective = max(c.Effective, e.Effective)
		}
	}
	return c
}

// view is the status that a row gives a line while the supply is fresh.
func (r *Rules) view(n phone.Number, row *line.Row) line.View {
	held, allocated := r.Plan.RangeOf(n, r.Now)
	return line.At(&line.Facts{
		Row: *row, Planned: !r.Plan.Empty(), Allocated: allocated, Holder: held.Network,
		Coverage: func(numbering.Network) line.Coverage {
			fresh := line.Span{KnownSince: r.Now, CompleteSince: r.Now, Through: r.Now}
			return line.Coverage{Lifecycle: fresh, SIM: fresh, Ports: fresh}
		},
	}, r.Policy, r.Now)
}

// kindOf names what happened between two views of a line, and when it took effect;
// Never if no signal tells. What is new comes before what has gone.
func kindOf(before, after *line.View) (Kind, line.Instant) {
	appeared, gone := without(after.Signals, before.Signals), without(before.Signals, after.Signals)
	lead := line.Leading(appeared)
	ended := slices.ContainsFunc(gone, func(s line.Signal) bool { return s.Status == line.Quarantined }) && lead.Status != line.Quarantined
	first := slices.IndexFunc(appeared, func(s line.Signal) bool { return s.Status == line.New })
	left := line.Leading(gone).Status
	gained, _ := ofSignal(lead.Status)
	_, lost := ofSignal(left)
	switch {
	case first >= 0 && lead.Status == "":
		return Assigned, appeared[first].Since
	case ended && lead.Status != line.Recycled && lead.Status != line.Ported:
		return Reinstated, line.Never // with it comes back what the end had hidden
	case gained != 0:
		return gained, lead.Since
	case before.Network != after.Network:
		return Ported, line.Never
	case lost != 0:
		return lost, line.Never
	case left == "" && after.Reason == line.ReasonDisputed:
		return Disputed, line.Never
	case left == "" && before.Reason == line.ReasonDisputed:
		return Settled, line.Never
	}
	return Corrected, line.Never
}

// without returns the signals that are not among others.
func without(signals, others []line.Signal) (rest []line.Signal) {
	for _, s := range signals {
		if !slices.Contains(others, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// untilOf returns when the status of a view ends by itself; Never if it does not.
func untilOf(v *line.View) (until line.Instant) {
	until = line.Never
	for _, s := range v.Signals {
		switch {
		case s.Status != v.Status, s.Status == line.Swapped && s.Source == line.ClearingHouse: // the SIM of a port never is the status
		case s.Until == line.Never:
			return line.Never
		default:
			until = max(until, s.Until)
		}
	}
	return until
}
