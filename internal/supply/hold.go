package supply

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linechange"
)

// holdReason returns why an event must wait for the regulator, or 0. The event has
// just been applied to the change.
func (cs *changeSet) holdReason(e *line.Event, c *linechange.Change) line.Hold {
	switch {
	case e.Authority == line.Regulator:
		return 0
	case e.Kind == line.Void:
		if of := c.BySeq(e.Target); e.Authority == line.Operator && of != nil && of.Kind == line.End {
			return line.HoldEndVoid
		}
		return 0
	case e.Kind == line.Assign && c.ShedsBarOrFlag(e, cs.policy):
		return line.HoldEarly
	case cs.isBackdated(e):
		return line.HoldBackdated
	case e.Authority == line.Operator && e.Kind.Lifts() && e.Effective < cs.lastSnapshot[e.Network]:
		return line.HoldSnapshot
	}
	return 0
}

// isBackdated reports whether an event took effect longer ago than the policy
// allows. The clearing house may report any port until it has supplied its first
// base.
func (cs *changeSet) isBackdated(e *line.Event) bool {
	if e.Authority == line.ClearingHouse && cs.coverage(line.Nation).Ports.CompleteSince.IsZero() {
		return false
	}
	return cs.now.Sub(e.Latest(cs.policy.Zone()).Time()) > cs.policy.Backdating()
}

// isLate reports whether an event was reported after the policy's deadline for its
// kind.
func (r *rules) isLate(e *line.Event, delay time.Duration) bool {
	switch e.Kind {
	case line.ChangeSIM:
		return delay > r.policy.SIMReport()
	case line.Port, line.ClaimPort, line.ReleasePort:
		return delay > r.policy.PortReport()
	case line.Bar:
		return delay > r.policy.BarReport()
	case line.End:
		return delay > r.policy.ChurnReport()
	default:
		return false
	}
}

// isFirstHolder reports whether the mark of a first holder is granted: the supply
// has been complete for so long that an earlier holder would be known, or the range
// is new. That nothing earlier is known of the number is up to the fold.
func (cs *changeSet) isFirstHolder(i *item) bool {
	at := i.event.Effective.Time()
	complete := cs.coverage(i.event.Network).Lifecycle.CompleteSince
	if !complete.IsZero() && !at.Before(complete.Add(cs.policy.Quarantine()+30*24*time.Hour)) {
		return true
	}
	held, ok := cs.plan.RangeOf(i.number, at)
	return ok && at.Sub(held.Allocated) <= 365*24*time.Hour
}

// maxPending returns how many events of an operator may wait for a port.
func maxPending(lines int64) int64 { return max(lines/100, 10_000) }
