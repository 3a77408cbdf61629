package rehearsal

import (
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/policy"
)

// Role is what a test number plays.
type Role struct {
	Number phone.Number // in the region of the stage
	Title  string       // a sentence that says what it is
	Life   bool         // it changes with the test clock

	digits    int               // the last two of its number
	network   numbering.Network // that holds its range
	allocated when              // since when the range is; nil for always
	told      []told            // in the order in which it took effect
	silence   span              // of the network, in the days of the test clock
	outage    span              // of the service
	fault     *fault.Error      // instead of every answer
	delay     time.Duration
}

// told is one thing that the service is told about the line, or that happens
// around it.
type told struct {
	at       when
	heard    when      // nil when it is told at once
	kind     line.Kind // 0 for what is no event of the line
	by       line.Authority
	network  numbering.Network // 0 for that of the role
	peer     numbering.Network
	code     line.Code
	supplier int32
	until    when // nil for never
	after    when // nil for never
	text     string
}

// span is a stretch of days of the test clock, the last one excluded. The zero
// span is none.
type span struct{ from, until int }

func (s span) holds(now *present) bool {
	return s != span{} && now.at >= now.day(s.from) && now.at < now.day(s.until)
}

// present is the moment at which a role is played.
type present struct {
	begun line.Instant // day 0 of the test clock
	at    line.Instant
	rules *policy.Policy
}

func (p *present) day(n int) line.Instant { return p.begun.Add(time.Duration(n) * day) }

// when is a moment in a role, seen from the present.
type when func(*present) line.Instant

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// onDay is a day of the test clock.
func onDay(n int) when { return func(p *present) line.Instant { return p.day(n) } }

// ago is always as long ago, wherever the test clock stands.
func ago(d time.Duration) when { return func(p *present) line.Instant { return p.at.Add(-d) } }

// hence is always as far ahead.
func hence(d time.Duration) when { return ago(-d) }

// never is later than every moment.
func never(*present) line.Instant { return line.Forever }

// window is how long a change counts by the policy.
type window func(policy.Policy) time.Duration

// within is so long ago that the windows are still open: a while, or half of
// the shortest window where that is less.
func within(a time.Duration, windows ...window) when {
	return func(p *present) line.Instant {
		d := a
		for _, w := range windows {
			d = min(d, w(*p.rules)/2)
		}
		return p.at.Add(-d)
	}
}

// beyond is so long ago that the window is over since a day.
func beyond(w window) when {
	return func(p *present) line.Instant { return p.at.Add(-w(*p.rules) - day) }
}

// faultAt returns the error that is played instead of an answer, if there is
// one.
func (r *Role) faultAt(now *present) *fault.Error {
	if r.outage.holds(now) {
		return errUnavailable
	}
	return r.fault
}

// facts are what the service knows of the line.
func (r *Role) facts(now *present) line.Facts {
	var events []line.Event
	for i := range r.told {
		if t := &r.told[i]; t.kind != 0 && t.heardAt(now) <= now.at {
			events = append(events, t.event(r, now, int64(i+1)))
		}
	}
	f := line.Facts{Row: line.NoRow(), Planned: true, Allocated: r.allocated == nil || r.allocated(now) <= now.at, Coverage: r.coverage(now)}
	if f.Allocated {
		f.Holder = r.network
	}
	if len(events) > 0 {
		f.Row, _ = line.Fold(nil, events, now.at)
		f.Row.Version = 0 // of a row that no database has
	}
	return f
}

func (t *told) heardAt(now *present) line.Instant {
	if t.heard != nil {
		return t.heard(now)
	}
	return t.at(now)
}

// event returns what is told as the service would keep it.
func (t *told) event(r *Role, now *present, seq int64) line.Event {
	e := line.Event{
		Seq: seq, Kind: t.kind, Effective: t.at(now), By: t.by, Peer: t.peer, Code: t.code, Supplier: t.supplier, Until: line.Never, After: line.Never,
	}
	if e.By == 0 {
		e.By = usualAuthority(t.kind)
	}
	if e.By == line.Operator {
		if e.Network = t.network; e.Network == 0 {
			e.Network = r.network
		}
	}
	if t.until != nil {
		e.Until = t.until(now)
	}
	if t.after != nil {
		e.After = t.after(now)
	}
	return e
}

// usualAuthority returns who tells events of a kind, as a rule.
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

// coverage is how far the networks supply: some always up to the present, one
// fell silent for good, one never said a word.
func (r *Role) coverage(now *present) func(numbering.Network) line.Coverage {
	return func(n numbering.Network) line.Coverage {
		c := line.Coverage{KnownSince: now.begun.Add(-5 * year).Time(), Through: now.at.Time()}
		c.CompleteSince = c.KnownSince
		switch {
		case n == mute, n == 0:
			return line.Coverage{}
		case n == silent:
			c.Through = beyond(policy.Policy.Freshness)(now).Time()
		case n == r.network && r.silence.holds(now):
			c.Through = now.day(r.silence.from).Time()
		}
		return c
	}
}
