package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/policy"
)

// Answers to the question whether a line has changed.
const (
	Yes = "yes"
	No  = "no"
	// Maybe is said wherever the supply does not reach.
	Maybe = "unknown"
)

// Change is what has changed about a line.
type Change string

// The changes.
const (
	HolderChanged  Change = "HOLDER"
	SIMChanged     Change = "SIM"
	NetworkChanged Change = "NETWORK"
)

// ChangedSince answers whether the holder, the SIM or the network of a line has
// changed after since. Where the supply does not reach back so far, or has
// fallen silent, or a snapshot only says that a tenure ended some time between
// two dates, the answer is unknown: never a no that nobody gave.
func ChangedSince(f *Facts, p *policy.Policy, since, at time.Time) (answer string, changes []Change) {
	r, from := &f.Row, InstantOf(since)
	after := func(i Instant) bool { return i != Never && i > from }
	over := r.State == StateEnded || r.State == StateNoticed && r.Until != Never && InstantOf(at) >= r.Until
	end, earliest := r.StateSince, r.After
	if r.State == StateNoticed {
		end, earliest = r.Until, Never
	}
	unsure := false
	switch {
	case after(r.Tenure), over && after(end) && (earliest == Never || from <= earliest):
		changes = append(changes, HolderChanged)
	case over && after(end):
		unsure = true // it ended somewhere between two snapshots, and since lies between them, too
	}
	if after(r.SIM) || after(r.PortAt) {
		changes = append(changes, SIMChanged)
	}
	if after(r.PortAt) {
		changes = append(changes, NetworkChanged)
	}
	if len(changes) > 0 {
		return Yes, changes
	}
	covered := Coverage{}
	if n := f.network(); n != 0 && f.Coverage != nil {
		covered = f.Coverage(n)
	}
	silent := covered.Through.IsZero() || !at.Before(covered.Through.Add(p.Freshness())) || !since.Before(covered.Through)
	spoken := r.State != StateNone
	switch {
	case unsure, silent:
		return Maybe, nil
	case spoken && r.Baseline != 0 && r.Tenure != Never && r.Tenure <= from && f.Allocated && f.Holder == r.Network:
		// The snapshot named the last change of holder and of SIM, and the number
		// is where it always was. Of a ported one the snapshot of its donor says
		// nothing about what the recipient did.
		return No, nil
	case spoken && !covered.KnownSince.IsZero() && !since.Before(covered.KnownSince):
		return No, nil
	case !spoken && !covered.CompleteSince.IsZero() && !since.Before(covered.CompleteSince):
		return No, nil // a complete supply never named it
	default:
		return Maybe, nil
	}
}
