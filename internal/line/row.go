package line

import (
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// State is how a tenure stands. The numbers are stored.
type State int16

// The states.
const (
	StateNone     State = iota // no operator has spoken of the number
	StateActive                // in use
	StateInactive              // not used for long
	StateParked                // kept on the holder's request
	StateNoticed               // its churn is announced
	StateEnded                 // churned or surrendered, not yet sold again
	StateBarred                // only in a snapshot: in use, and barred by its operator
)

var stateWords = []string{"NONE", "ACTIVE", "INACTIVE", "PARKED", "PENDING_CHURN", "QUARANTINED", "BARRED"}

// ParseState returns the state that a word of a snapshot names.
func ParseState(word string) (State, bool) {
	i := slices.Index(stateWords, word)
	return State(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// String returns the word of the state.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateWords) {
		return ""
	}
	return stateWords[s]
}

// live reports whether a tenure runs.
func (s State) live() bool { return s >= StateActive && s <= StateNoticed }

// Row is how one line stands: what its baseline and its events make.
type Row struct {
	Version     int32
	Baseline    int32 // the import of its baseline; 0 when there is none
	Network     numbering.Network
	State       State
	StateSince  Instant
	Tenure      Instant // when the tenure began; Never when that is unknown
	SIM         Instant // when the SIM last changed
	Newest      Instant // effective time of the newest event
	Until       Instant // the announced date of the churn
	After       Instant // the tenure ended after this, and not later than StateSince
	PortAt      Instant
	BarAt       Instant // the operator's
	BarReason   Code
	OrderAt     Instant // the regulator's bar
	OrderReason Code
	FlagAt      Instant
	FlagLevel   Code
	FlagBy      int32
	BlackAt     Instant
}

// NoRow is the row of a number of which nothing was told.
func NoRow() Row {
	return Row{
		StateSince: Never, Tenure: Never, SIM: Never, Newest: Never, Until: Never, After: Never, PortAt: Never,
		BarAt: Never, OrderAt: Never, FlagAt: Never, BlackAt: Never,
	}
}

// shown is the newest time that the other columns show. Where it equals Newest,
// Newest need not be stored.
func (r *Row) shown() Instant {
	return max(r.StateSince, r.Tenure, r.SIM, r.PortAt, r.BarAt, r.OrderAt, r.FlagAt, r.BlackAt)
}

// Eventful reports whether the row has events behind it, not a baseline alone.
func (r *Row) Eventful() bool { return r.Version > 1 || r.Version == 1 && r.Baseline == 0 }

// AsBaseline returns what the snapshot said that made the row. It is only true of a row with a baseline and without events.
func (r *Row) AsBaseline() Baseline {
	b := Baseline{
		Import: r.Baseline, Network: r.Network, Tenure: r.Tenure, SIM: r.SIM, State: r.State, StateSince: r.StateSince,
	}
	if r.BarAt != Never {
		b.State, b.StateSince = StateBarred, r.BarAt
	}
	return b
}

// FromBaseline returns the row that a snapshot makes of a number about which
// nothing was known.
func FromBaseline(b Baseline) Row {
	f := folding{Row: NoRow()}
	var implied [3]Event
	for i := range b.implied(implied[:0]) {
		f.apply(&implied[i])
	}
	f.Version, f.Baseline = 1, b.Import
	return f.Row
}
