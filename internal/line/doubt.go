package line

// doubtOfHalves returns since when the network that serves the line has released it while nobody has claimed it, or
// has withdrawn its half of a port, or Never.
func (f *fold) doubtOfHalves() Instant {
	return f.reportedFirst(func(x *fact) bool { return (x.Kind == ReleasePort || x.Kind == Void) && x.outcome == Waiting })
}

// doubtOfHeld returns since when an event that the network that serves the line has reported is held, or
// Never. An event that would change nothing if it counted puts nothing in doubt.
func (f *fold) doubtOfHeld(until Instant) Instant {
	held := f.reportedFirst(func(x *fact) bool { return x.outcome == Held })
	if held == Never {
		return Never
	}
	other := newFold(f.history, f.terms)
	for _, x := range other.facts {
		x.confirmed = x.confirmed || x.Hold != 0 && x.Authority == Operator && x.Network == f.Network
	}
	other.run(until)
	if other.Same(&f.Row) && other.DoubtAt == f.DoubtAt {
		return Never
	}
	return held
}

// says returns the row without what is about its events.
func (r *Row) says() Row {
	without := *r
	without.Version, without.Newest, without.DoubtAt = 0, Never, Never
	if r.State == StateActive {
		without.StateSince = Never
	}
	return without
}

// reportedFirst returns when the first of the selected events of the network that serves the line was reported,
// or Never. A port ends a doubt, and so does a later file that has the line.
func (f *fold) reportedFirst(selected func(*fact) bool) Instant {
	if !f.State.Ongoing() {
		return Never
	}
	var settled moment
	for _, x := range f.facts {
		moved := x.Kind == Port && x.outcome == Applied
		named := x.Kind == Restate && !x.decided && !x.Outside && x.Network == f.Network
		if (moved || named) && settled.compare(x.counted) < 0 {
			settled = x.counted
		}
	}
	first := Never
	for _, x := range f.facts {
		if x.Authority == Operator && x.Network == f.Network && settled.compare(moment{x.ReportedAt, x.Seq}) < 0 && selected(x) {
			first = earliest(first, InstantOf(x.ReportedAt))
		}
	}
	return first
}

// earliest returns the earlier of two times of which either can be Never.
func earliest(a, b Instant) Instant {
	if a == Never || b == Never {
		return max(a, b)
	}
	return min(a, b)
}
