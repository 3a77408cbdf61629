package line

import (
	"time"

	"github.com/lineproof/lineproof/internal/policy"
)

// The values of changedSince.
const (
	Yes = "yes"
	No  = "no"
	// Uncertain is the answer when the supply does not cover the time.
	Uncertain = "unknown"
)

// Change is a part of a line that has changed.
type Change string

// The changes.
const (
	HolderChanged  Change = "HOLDER"
	SIMChanged     Change = "SIM"
	NetworkChanged Change = "NETWORK"
)

// ChangedSince answers whether the holder, the SIM or the network of a line has
// changed after since. The answer is unknown when the supply does not cover that
// time, when it is stale, or when a snapshot only shows that a tenure ended some
// time between two dates: it is never no without evidence.
func ChangedSince(f *Facts, p *policy.Policy, since, at time.Time) (answer string, changes []Change) {
	r, from := &f.Row, InstantOf(since)
	after := func(i Instant) bool { return i != Never && i > from }
	ended := r.State == StateEnded || r.State == StateNoticed && r.Until != Never && InstantOf(at) >= r.Until
	end, earliest := r.StateSince, r.EndedAfter
	if r.State == StateNoticed {
		end, earliest = r.Until, Never
	}
	unsure := false
	switch {
	case after(r.Tenure), ended && after(end) && (earliest == Never || from <= earliest):
		changes = append(changes, HolderChanged)
	case ended && after(end):
		unsure = true // the tenure ended between two snapshots, and since is between them as well
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
	uncovered := covered.Through.IsZero() || !at.Before(covered.Through.Add(p.Freshness())) || !since.Before(covered.Through)
	known := r.State != StateNone
	switch {
	case unsure, uncovered:
		return Uncertain, nil
	case known && r.Baseline != 0 && r.Tenure != Never && r.Tenure <= from && f.Allocated && f.Holder == r.Network:
		// The snapshot had the last change of holder and of SIM, and the number is
		// with the network of its range. For a ported number the snapshot of the donor says nothing
		// about changes at the recipient.
		return No, nil
	case known && !covered.KnownSince.IsZero() && !since.Before(covered.KnownSince):
		return No, nil
	case !known && !covered.CompleteSince.IsZero() && !since.Before(covered.CompleteSince):
		return No, nil // a complete supply has never contained the number
	default:
		return Uncertain, nil
	}
}
