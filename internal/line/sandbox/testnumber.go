package sandbox

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// TestNumber is one test number, with the line, error or delay that it simulates.
type TestNumber struct {
	Number     phone.Number // in the simulator's region
	Title      string       // one sentence that describes it
	IsScenario bool         // it is a scenario: its line changes with the test clock

	digits    int               // the last two of the number
	network   numbering.Network // to which its range is allocated
	allocated relativeTime      // when the range was allocated; nil: always
	events    []scriptedEvent   // in the order of their effect
	supplyGap dayRange          // when the network supplies nothing
	outage    dayRange          // when the service is unavailable
	fault     *fault.Error      // returned instead of any answer
	delay     time.Duration
}

// scriptedEvent is one event of a simulated line, or only a text about something
// that is not an event of the line, such as an outage.
type scriptedEvent struct {
	effective  relativeTime
	reported   relativeTime      // nil: at the time of effect
	kind       line.Kind         // 0: only a text
	authority  line.Authority    // 0: the usual one for the kind
	network    numbering.Network // 0: that of the test number
	peer       numbering.Network
	code       line.Code
	supplier   int32
	until      relativeTime // nil: none
	endedAfter relativeTime // nil: none
	text       string
}

// dayRange is a range of days of the test clock, without the last one. The zero
// dayRange is empty.
type dayRange struct{ from, until int }

func (r dayRange) contains(now *moment) bool {
	return r != dayRange{} && now.at >= now.day(r.from) && now.at < now.day(r.until)
}

// moment is the time, by the test clock, for which a test number is simulated.
type moment struct {
	start  line.Instant // day 0 of the test clock
	at     line.Instant
	policy *policy.Policy
}

// day returns the start of a day of the test clock.
func (m *moment) day(n int) line.Instant { return m.start.Add(time.Duration(n) * day) }

// today returns the day of the test clock.
func (m *moment) today() int { return int(m.at.Time().Sub(m.start.Time()) / day) }

// relativeTime is a time in a fixture, relative to the moment that is simulated
// or to day 0 of the test clock.
type relativeTime func(*moment) line.Instant

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// onDay is a day of the test clock.
func onDay(n int) relativeTime { return func(m *moment) line.Instant { return m.day(n) } }

// ago is d before the moment, whatever the test clock shows.
func ago(d time.Duration) relativeTime { return func(m *moment) line.Instant { return m.at.Add(-d) } }

// fromNow is d after the moment, whatever the test clock shows.
func fromNow(d time.Duration) relativeTime { return ago(-d) }

// notYet is later than every moment.
func notYet(*moment) line.Instant { return line.Forever }

// window is how long a change counts by the policy.
type window func(policy.Policy) time.Duration

// insideWindow is d before the moment, or half of the shortest window before it
// if that is less: the windows have not ended.
func insideWindow(d time.Duration, windows ...window) relativeTime {
	return func(m *moment) line.Instant {
		shortest := d
		for _, w := range windows {
			shortest = min(shortest, w(*m.policy)/2)
		}
		return m.at.Add(-shortest)
	}
}

// afterWindow is so long before the moment that the window ended a day ago.
func afterWindow(w window) relativeTime {
	return func(m *moment) line.Instant { return m.at.Add(-w(*m.policy) - day) }
}

// halfOf is half of a window.
func halfOf(w window) window { return func(p policy.Policy) time.Duration { return w(p) / 2 } }

// faultAt returns the error that is simulated instead of an answer, or nil.
func (n *TestNumber) faultAt(now *moment) *fault.Error {
	if n.outage.contains(now) {
		return errUnavailable
	}
	return n.fault
}

// facts returns what the service would know of the line.
func (n *TestNumber) facts(now *moment) line.Facts {
	var events []line.Event
	for i := range n.events {
		if e := &n.events[i]; e.kind != 0 && e.reportedAt(now) <= now.at {
			events = append(events, e.event(n, now, int64(i+1)))
		}
	}
	f := line.Facts{Row: line.NoRow(), Planned: true, Allocated: n.allocated == nil || n.allocated(now) <= now.at, Coverage: n.coverage(now)}
	if f.Allocated {
		f.Holder = n.network
	}
	if len(events) > 0 {
		f.Row, _ = line.Fold(&line.History{Events: events}, line.TermsOf([]policy.Policy{*now.policy}), now.at)
		f.Row.Version = 0 // the row is not in the database
	}
	return f
}

func (e *scriptedEvent) reportedAt(now *moment) line.Instant {
	if e.reported != nil {
		return e.reported(now)
	}
	return e.effective(now)
}

// event returns the event as the service would store it.
func (e *scriptedEvent) event(n *TestNumber, now *moment, seq int64) line.Event {
	stored := line.Event{
		Seq: seq, Kind: e.kind, Effective: e.effective(now), Authority: e.authority, Peer: e.peer, Code: e.code, Supplier: e.supplier,
		Until: line.Never, EndedAfter: line.Never, ReportedAt: e.reportedAt(now).Time(),
	}
	if stored.Authority == 0 {
		stored.Authority = usualAuthority(e.kind)
	}
	if stored.Authority == line.Operator {
		if stored.Network = e.network; stored.Network == 0 {
			stored.Network = n.network
		}
	}
	if e.until != nil {
		stored.Until = e.until(now)
	}
	if e.endedAfter != nil {
		stored.EndedAfter = e.endedAfter(now)
	}
	return stored
}

// usualAuthority returns which authority usually reports events of a kind.
func usualAuthority(k line.Kind) line.Authority {
	switch k {
	case line.Port:
		return line.ClearingHouse
	case line.Flag, line.Unflag:
		return line.Sector
	case line.Blacklist, line.Release:
		return line.Regulator
	default:
		return line.Operator
	}
}

// coverage returns the coverage of each network's supply: most supply up to the
// moment, one stopped supplying for good, and one has never supplied.
func (n *TestNumber) coverage(now *moment) func(numbering.Network) line.Coverage {
	return func(network numbering.Network) line.Coverage {
		all := line.Span{KnownSince: now.start.Add(-5 * year).Time(), Through: now.at.Time()}
		all.CompleteSince = all.KnownSince
		own := all
		switch {
		case network == mute, network == 0:
			return line.Coverage{Ports: all}
		case network == silent:
			own.Through = afterWindow(staleAfter)(now).Time()
		case network == n.network && n.supplyGap.contains(now):
			own.Through = n.lastSupply(now).Time()
		}
		return line.Coverage{Lifecycle: own, SIM: own, Ports: all}
	}
}

// lastSupply is when the operator last supplied before its gap: at noon of the day,
// so that by the default policy (36 hours for SIM changes) the supply is stale from
// the start of a day on.
func (n *TestNumber) lastSupply(now *moment) line.Instant {
	return min(now.day(n.supplyGap.from).Add(12*time.Hour), now.at)
}

// staleAfter is how old a supply may be in which no topic is newer than another:
// the policy allows each topic an age of its own, and the shortest one counts.
func staleAfter(p policy.Policy) time.Duration {
	shortest := p.LifecycleFreshness()
	if sim := p.SIMFreshness(); shortest == 0 || sim > 0 && sim < shortest {
		shortest = sim
	}
	return shortest
}
