package line

import (
	"slices"

	"github.com/lineproof/lineproof/internal/numbering"
)

// State is the state of a tenure. The numbers are stored.
type State int16

// The states.
const (
	StateNone     State = iota // no operator has reported anything about the number
	StateActive                // in use
	StateInactive              // not used for a long time
	StateParked                // kept unused at the holder's request
	StateNoticed               // the churn is announced
	StateEnded                 // churned or surrendered, and not yet assigned again
	StateBarred                // only in a snapshot: in use, and barred by its operator
)

var stateWords = []string{"NONE", "ACTIVE", "INACTIVE", "PARKED", "PENDING_CHURN", "QUARANTINED", "BARRED"}

// ParseState returns the state with that word in a snapshot.
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

// ongoing reports whether there is a current tenure.
func (s State) ongoing() bool { return s >= StateActive && s <= StateNoticed }

// Row is the state of one line: the result of its baseline and its events.
type Row struct {
	Version     int32
	Baseline    int32 // the import of its baseline; 0 when there is none
	Network     numbering.Network
	State       State
	StateSince  Instant
	Tenure      Instant // when the tenure started; Never when unknown
	SIM         Instant // when the SIM last changed
	Newest      Instant // effective time of the newest event
	Until       Instant // the announced churn date
	EndedAfter  Instant // the tenure ended after this time, and not later than StateSince
	PortAt      Instant
	BarAt       Instant // the operator's bar
	BarReason   Code
	OrderAt     Instant // the regulator's bar
	OrderReason Code
	FlagAt      Instant
	FlagLevel   Code
	FlagBy      int32
	BlackAt     Instant
}

// NoRow returns the row of a number about which nothing was reported.
func NoRow() Row {
	return Row{
		StateSince: Never, Tenure: Never, SIM: Never, Newest: Never, Until: Never, EndedAfter: Never, PortAt: Never,
		BarAt: Never, OrderAt: Never, FlagAt: Never, BlackAt: Never,
	}
}

// newestColumn returns the newest time in the other columns. If Newest equals it,
// the table stores null for Newest.
func (r *Row) newestColumn() Instant {
	return max(r.StateSince, r.Tenure, r.SIM, r.PortAt, r.BarAt, r.OrderAt, r.FlagAt, r.BlackAt)
}

// HasEvents reports whether the row has events behind it, not a baseline alone.
func (r *Row) HasEvents() bool { return r.Version > 1 || r.Version == 1 && r.Baseline == 0 }

// AsBaseline returns the baseline that the row was made from. It is valid only for
// a row with a baseline and without events.
func (r *Row) AsBaseline() Baseline {
	b := Baseline{
		Import: r.Baseline, Network: r.Network, Tenure: r.Tenure, SIM: r.SIM, State: r.State, StateSince: r.StateSince,
	}
	if r.BarAt != Never {
		b.State, b.StateSince = StateBarred, r.BarAt
	}
	return b
}

// FromBaseline returns the row that a snapshot gives a number about which nothing
// was known.
func FromBaseline(base Baseline) Row {
	b := rowBuilder{Row: NoRow()}
	var implied [3]Event
	for i := range base.impliedEvents(implied[:0]) {
		b.apply(&implied[i])
	}
	b.Version, b.Baseline = 1, base.Import
	return b.Row
}
