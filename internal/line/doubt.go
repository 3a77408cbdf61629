package line

// doubt returns since when the network that serves the line contradicts itself or
// somebody else, or Never. A port ends the doubt, and so does a later file that
// has the line.
func (f *fold) doubt() Instant {
	if !f.State.Ongoing() {
		return Never
	}
	var settled moment
	for _, p := range f.ports {
		if _, moved := f.found.moved[p.last.Seq]; moved {
			settled = later(settled, p.counted)
		}
	}
	for _, x := range f.facts {
		if (x.Kind == Name || x.Kind == Restate) && !x.decided && x.Network == f.Network {
			settled = later(settled, x.reported())
		}
	}
	since := Forever
	for _, x := range f.facts {
		if x.Authority != Operator || x.Network != f.Network || !settled.before(x.reported()) {
			continue
		}
		if x.outcome == Held || x.outcome == Locked || x.outcome == HalfPort && x.Kind == ReleasePort || x.Kind == Miss && !x.decided {
			since = min(since, InstantOf(x.ReportedAt))
		}
	}
	if since == Forever {
		return Never
	}
	return since
}
