package supply

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linechange"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply/share"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// holdReason returns why an event must wait for the regulator, or 0. The event has
// just been applied to the change; before is the row without it. What only adds caution is never held for its age.
func (cs *changeSet) holdReason(e *line.Event, before *line.Row, c *linechange.Change) line.Hold {
	if e.Authority == line.Regulator || e.Kind == line.ChangeSIM || e.Kind == line.Bar || e.Kind == line.Flag {
		return 0
	}
	outdated := cs.isBackdated(e) || e.Authority == line.Operator && e.Kind.Lifts() && e.Effective < cs.lastSnapshot[e.Network]
	moves := e.Kind == line.Port || e.Kind.IsHalf()
	switch {
	case e.Kind == line.Assign && c.ShedsBarOrFlag(e, cs.policy):
		return line.HoldEarly
	case c.IsDonorLate():
		return line.HoldDonorLate
	case outdated && e.Kind != line.Void && (moves && c.OutcomeOf(e.Seq) != line.NoEffect || cs.isMilder(before, &c.Row)):
		return line.HoldTooOld
	}
	return 0
}

// isMilder reports whether a line has a less grave status by the new row than by the old one.
func (cs *changeSet) isMilder(before, after *line.Row) bool {
	now := line.InstantOf(cs.now)
	return line.Severity(after, cs.policy, now) < line.Severity(before, cs.policy, now)
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

// countShare counts the line that an event has ended, moved or given to a new holder,
// and has the event held if its supplier has changed too many of the network's. The
// event has just been applied to the change; before is the row without it.
func (cs *changeSet) countShare(ctx context.Context, e *line.Event, before *line.Row, c *linechange.Change) error {
	if cs.share == nil || e.Hold != 0 || e.Authority == line.Regulator {
		return nil
	}
	network, affected := share.Affected(before, &c.Row, e)
	if !affected || e.Authority == line.ClearingHouse && cs.coverage(line.Nation).Ports.CompleteSince.IsZero() {
		return nil
	}
	// A number that leaves another network counts each time.
	var last time.Time
	own := e.Authority == line.Operator && network == e.Network
	if own {
		last = c.LastCounted(e.Supplier)
	}
	verdict, err := cs.share.Count(ctx, e.Supplier, network, last)
	switch {
	case err != nil:
		return err
	case verdict == share.Counted && own:
		e.Counted = true
		c.MarkCounted()
	case verdict == share.Beyond:
		e.Hold = line.HoldMass
		if cs.held == nil {
			cs.held = make(map[line.Topic]line.Instant)
		}
		topic, _ := e.Topic()
		from := e.Effective
		if e.Day {
			from = line.DayStart(from, cs.policy.Zone())
		}
		if at, ok := cs.held[topic]; !ok || from <= at {
			cs.held[topic] = from - 1
		}
	}
	return nil
}

// holdCoverage sets the coverage back to before the events that are held because they
// are beyond the share, and releases that of the networks in settled if none is left.
func (cs *changeSet) holdCoverage(ctx context.Context, tx pg.Tx, settled map[numbering.Network]bool) error {
	for _, n := range slices.Sorted(maps.Keys(settled)) {
		topic := line.TopicLifecycle
		if n == line.Nation {
			topic = line.TopicPort
		}
		if err := linestore.ReleaseCoverage(ctx, tx, n, topic, cs.now); err != nil {
			return err
		}
	}
	for topic, before := range cs.held {
		network := cs.supplier.network
		if topic == line.TopicPort {
			network = line.Nation
		}
		if err := linestore.HoldCoverage(ctx, tx, network, topic, before.Time(), cs.now); err != nil {
			return err
		}
	}
	return nil
}

// deadline returns how soon after its effect an event is to be reported, and whether the policy
// names that for its kind. For the others it is that of a SIM change, the shortest.
func (r *rules) deadline(k line.Kind) (after time.Duration, named bool) {
	switch k {
	case line.ChangeSIM:
		return r.policy.SIMReport(), true
	case line.Port, line.ClaimPort, line.ReleasePort:
		return r.policy.PortReport(), true
	case line.Bar:
		return r.policy.BarReport(), true
	case line.End:
		return r.policy.ChurnReport(), true
	default:
		return r.policy.SIMReport(), false
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
