package line

import "slices"

// builder applies facts to a row, one after the other in the order of their effect. The fields
// beyond the row are needed only while the history is read.
type builder struct {
	Row

	terms    TermsAt
	base     *Baseline    // that counts: the first, or a restatement
	flags    []activeFlag // of this tenure, the newest last
	waiting  []*fact      // of networks that did not serve the line then
	ends     []*fact      // the ENDED of the tenure that has ended; none after an announced date that nobody has confirmed
	ongoing  *builder     // the line as if its tenure had not ended; nil while it runs
	followed []follower   // what was applied to a line as if its tenure had not ended
}

// activeFlag is the flag of one sector regulator.
type activeFlag struct {
	at    Instant
	level Code
	by    int32
}

// follower is a fact, and its outcome on the line as if its tenure had not ended.
type follower struct {
	fact    *fact
	outcome Outcome
}

// step applies a fact that comes after all facts applied before. After an end it is also applied to the
// line as if the tenure had not ended: an end that is taken back never was.
func (b *builder) step(x *fact) Outcome {
	b.passChurnDate(x.Effective)
	if b.showsUse(x) {
		b.takeBack(x.Effective, Applied)
	}
	if x.Kind == Port {
		return b.port(x)
	}
	return b.hear(x)
}

// hear applies an event that is no port, after an end also to the line as if it had not ended. A second end of a
// tenure is taken back with the first.
func (b *builder) hear(x *fact) Outcome {
	before := b.State
	outcome := b.apply(x)
	switch {
	case before != StateEnded || b.State != StateEnded || b.ongoing == nil:
	case x.Kind == End && b.ongoing.mayReport(x):
		b.addEnd(x)
	default:
		b.ongoing.followed = append(b.ongoing.followed, follower{x, b.ongoing.apply(x)})
	}
	return outcome
}

// apply applies an event that is no port.
func (b *builder) apply(x *fact) Outcome {
	e := x.Event
	b.Newest = max(b.Newest, e.Effective)
	switch {
	case e.Kind.IsHalf() && (b.State == StateEnded || e.Kind == ClaimPort && b.State.Ongoing() && b.Network == e.Network):
		return NoEffect
	case e.Kind.IsHalf():
		return Waiting // for the other half
	case !b.mayReport(x):
		b.waiting = append(b.waiting, x)
		return Waiting
	case !e.applies(b.State):
		return NoEffect
	}
	if x.index == implied && e.Kind == Assign && b.State.Ongoing() && b.PortAt != Never && b.Network == e.Network && b.BlackAt == Never {
		b.newHolder(x) // of a line that was ported in
	} else if o := b.applyEffect(x); o != Applied {
		return o
	}
	if to := e.Kind.becomes(b.State, e.Authority); to != b.State || e.Kind == Assign || e.Kind == Transfer {
		b.State, b.StateSince = to, e.Effective
		b.Bits = b.Bits.set(EndDay, to == StateEnded && e.Day)
	}
	if e.Authority == Operator && e.Network != 0 {
		b.Network = e.Network
	}
	return Applied
}

// mayReport reports whether the line was with the reporting operator. After the
// end of a tenure the number is back with the network of its range; that was
// checked when the event was accepted.
func (b *builder) mayReport(x *fact) bool {
	switch {
	case x.Authority != Operator || x.index == implied && (x.Network == 0 || x.Kind == Assign):
		return true
	case b.State.Ongoing() || b.State == StateEnded && x.Kind == Reinstate:
		return b.Network == 0 && !x.Outside || x.Network == b.Network
	default:
		return !x.Outside
	}
}

// end keeps the line as it was before its tenure ended. By is the event, or nil.
func (b *builder) end(by *fact) {
	kept := *b
	kept.flags, kept.waiting, kept.ongoing, kept.followed = slices.Clone(b.flags), slices.Clip(b.waiting), nil, nil
	if kept.State == StateNone {
		kept.State, kept.StateSince = StateActive, by.Effective
	}
	if b.ongoing, b.ends = &kept, nil; by != nil {
		b.addEnd(by)
	}
}

// addEnd notes an ENDED of the tenure that has ended. Who ends a tenure had it.
func (b *builder) addEnd(by *fact) {
	if b.ends = append(b.ends, by); by.Network != 0 {
		b.ongoing.Network = by.Network
	}
}

// takeBack continues the tenure that has ended, as if it had not, from an instant on. Its ends get an outcome.
func (b *builder) takeBack(at Instant, ends Outcome) {
	newest := max(b.Newest, b.ongoing.Newest)
	for _, y := range b.ongoing.followed {
		y.fact.outcome = y.outcome
	}
	for _, x := range b.ends {
		x.outcome = ends
	}
	*b = *b.ongoing
	b.Newest, b.followed = newest, nil
	b.Until, b.EndedAfter = Never, Never
	if b.State != StateActive {
		b.State, b.StateSince = StateActive, at
	}
	b.Bits &^= EndDay
}

// passChurnDate ends the tenure on the churn date that was announced.
func (b *builder) passChurnDate(now Instant) {
	if b.State == StateNoticed && b.Until != Never && now >= b.Until {
		b.end(nil)
		b.State, b.StateSince, b.Until, b.EndedAfter = StateEnded, b.Until, Never, Never
		b.Bits &^= EndDay
	}
}

// showsUse reports whether an event shows that a line whose announced churn date has come is in use all the
// same: its network reports what happens only to lines that run.
func (b *builder) showsUse(x *fact) bool {
	if b.State != StateEnded || len(b.ends) > 0 || b.ongoing == nil || x.Authority != Operator || !b.ongoing.mayReport(x) {
		return false
	}
	return slices.Contains([]Kind{Use, ChangeSIM, Deactivate, Park, GiveNotice, Transfer}, x.Kind)
}

// port moves the number. It continues a tenure that ended shortly before at another network; an older
// end stands, and a new tenure begins.
func (b *builder) port(x *fact) Outcome {
	to, at := x.Peer, x.Effective
	b.Newest = max(b.Newest, at)
	switch {
	case b.State.Ongoing() && b.Network == to:
		return NoEffect
	case x.Authority == Operator && !b.released(x):
		return Waiting
	case b.State == StateEnded && b.ongoing != nil && b.ongoing.Network != to && at <= b.StateSince.Add(PortGrace):
		b.takeBack(at, GaveWay)
	case b.State == StateEnded && b.BlackAt != Never:
		return Blocked
	case b.State == StateEnded:
		b.startTenure(x)
	}
	if b.State != StateActive {
		b.State, b.StateSince = StateActive, at
		b.Bits &^= EndDay
	}
	b.Network, b.PortAt, b.Until = to, at, Never
	b.Bits = b.Bits.set(PortDay, x.Day)
	b.hearRecipient(at)
	return Applied
}

// released reports whether the network that released the number had it.
func (b *builder) released(x *fact) bool {
	running := b
	if b.State == StateEnded && b.ongoing != nil && x.Effective <= b.StateSince.Add(PortGrace) {
		running = b.ongoing
	}
	if running.State.Ongoing() && running.Network != 0 {
		return running.Network == x.Network
	}
	return true // nobody knows better than the two networks
}

// hearRecipient applies what the recipient of a port reported about the time shortly before it: the clocks of
// two networks differ, and a recipient serves a line before the port is complete.
func (b *builder) hearRecipient(at Instant) {
	var heard, waiting []*fact
	for _, y := range b.waiting {
		if y.Network == b.Network && y.Effective >= at.Add(-PortGrace) {
			heard = append(heard, y)
		} else {
			waiting = append(waiting, y) // for the next port
		}
	}
	b.waiting = waiting
	for _, y := range heard {
		if y.Kind == ChangeSIM {
			y.outcome = NoEffect // it is the SIM that came with the port
		} else {
			y.outcome = b.hear(y)
		}
	}
}

// contest keeps the signal of a change that its operator withdrew. Otherwise a
// swap could be made to disappear while its window runs.
func (b *builder) contest(x *fact) {
	if b.State == StateEnded && b.ongoing != nil {
		b.ongoing.contest(x)
	}
	switch {
	case x.Kind == Port:
		b.ContestedPort = max(b.ContestedPort, x.Effective)
	case !b.mayReport(x) || !x.applies(b.State) || x.Kind.StartsTenure() && b.BlackAt != Never:
		return
	case x.Kind == ChangeSIM:
		b.ContestedSIM = max(b.ContestedSIM, x.Effective)
	default:
		b.ContestedTenure = max(b.ContestedTenure, x.Effective)
	}
	b.Newest = max(b.Newest, x.Effective)
}
