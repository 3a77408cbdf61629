package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
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

// Ongoing reports whether there is a current tenure.
func (s State) Ongoing() bool { return s >= StateActive && s <= StateNoticed }

// Bits are the yes-or-no facts of a row. The numbers are stored.
type Bits int16

// The bits.
const (
	SIMUnknown  Bits = 1 << iota // the snapshot behind the tenure does not say whether the SIM had changed before
	TenureDay                    // Tenure is a bare date: some time on that day
	SIMDay                       // the same of SIM
	PortDay                      // the same of PortAt
	EndDay                       // the same of StateSince, of a tenure that ended
	FirstHolder                  // nobody held the number before this tenure
	OwnSnapshot                  // the snapshot behind the row is of the network that serves the line
	Claimed                      // nobody has the number, and a network that does not hold its range reports about it
)

func (b Bits) has(bit Bits) bool { return b&bit != 0 }

// set returns b with the bit set or cleared.
func (b Bits) set(bit Bits, on bool) Bits {
	if on {
		return b | bit
	}
	return b &^ bit
}

// Row is the state of one line: the result of its baseline and its events.
type Row struct {
	Version    int32
	Baseline   int32 // the import of its baseline; 0 when there is none
	Network    numbering.Network
	State      State
	Bits       Bits
	StateSince Instant
	Tenure     Instant // when the tenure started; Never when unknown
	SIM        Instant // when the SIM last changed
	Newest     Instant // effective time of the newest event
	Until      Instant // the announced churn date
	EndedAfter Instant // the tenure ended after this time, and not later than StateSince
	PortAt     Instant

	BarAt     Instant // the operator's bar
	BarReason Code

	// The regulator's bar on the holder, and the one on the number; Until is when
	// it ends by itself.
	HolderBarAt, HolderBarUntil Instant
	HolderBarReason             Code
	NumberBarAt, NumberBarUntil Instant
	NumberBarReason             Code

	// The newest flag of each level.
	MediumAt, HighAt, VeryHighAt Instant

	BlackAt Instant

	ContestedTenure, ContestedSIM, ContestedPort Instant // changes that were withdrawn by who reported them

	DoubtAt Instant // since when the network that serves the line contradicts itself or somebody else
}

// Times returns every time of the row, for the code that treats them alike.
func (r *Row) Times() [20]*Instant {
	return [...]*Instant{
		&r.StateSince, &r.Tenure, &r.SIM, &r.Newest, &r.Until, &r.EndedAfter, &r.PortAt, &r.BarAt,
		&r.HolderBarAt, &r.HolderBarUntil, &r.NumberBarAt, &r.NumberBarUntil, &r.MediumAt, &r.HighAt, &r.VeryHighAt, &r.BlackAt,
		&r.ContestedTenure, &r.ContestedSIM, &r.ContestedPort, &r.DoubtAt,
	}
}

// NoRow returns the row of a number about which nothing was reported.
func NoRow() (r Row) {
	for _, at := range r.Times() {
		*at = Never
	}
	return r
}

// Same reports whether two rows say the same about a line, whatever events led to them.
func (r *Row) Same(o *Row) bool { return r.says() == o.says() }

// inDoubt reports whether the line is in doubt at a time.
func (r *Row) inDoubt(now Instant) bool { return r.DoubtAt != Never && r.DoubtAt <= now }

// AsOf returns the row at a time after its newest event: an announced churn date that
// has come ends the tenure.
func (r *Row) AsOf(now Instant) Row {
	b := builder{Row: *r}
	b.passChurnDate(now)
	return b.Row
}

// HasEvents reports whether the row has events behind it, not a baseline alone.
func (r *Row) HasEvents() bool { return r.Version > 1 || r.Version == 1 && r.Baseline == 0 }

// AsBaseline returns the baseline that the row was made from. It is valid only for
// a row with a baseline and without events.
func (r *Row) AsBaseline() Baseline {
	b := Baseline{
		Import: r.Baseline, Network: r.Network, Tenure: r.Tenure, SIM: r.SIM, State: r.State, StateSince: r.StateSince, Until: r.Until,
		Bits: r.Bits,
	}
	if r.BarAt != Never {
		b.State, b.StateSince = StateBarred, r.BarAt
	}
	return b
}

// FromBaseline returns the row that a snapshot gives a number about which nothing
// was known.
func FromBaseline(base *Baseline) Row {
	b := builder{Row: NoRow(), terms: noTerms, base: base}
	b.Bits |= base.Bits & SIMUnknown
	var events [3]Event
	for i := range base.impliedEvents(events[:0]) {
		b.apply(&fact{Event: &events[i], index: implied})
	}
	b.Version, b.Baseline = 1, base.Import
	b.Bits |= OwnSnapshot
	return b.Row
}

// noTerms are the terms of a baseline, on which none of them has an effect: what a
// first snapshot says is never late.
func noTerms(time.Time) Terms { return Terms{} }
