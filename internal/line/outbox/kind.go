package outbox

import (
	"slices"

	"github.com/lineproof/lineproof/internal/line"
)

// Kind is what happened to a line, or to many. The numbers are stored.
type Kind int16

// The kinds.
const (
	Swapped Kind = 1 + iota
	Recycled
	Ported
	Barred
	Unbarred
	Flagged
	Unflagged
	Quarantined
	Reinstated
	ChurnAnnounced
	ChurnCalledOff
	Parked
	Inactive
	Active // used again
	Blacklisted
	Released  // from the blacklist
	Corrected // what was known is no longer true, or is known better
	Disputed  // those who report about the line contradict each other
	Settled   // the dispute is over
	Assigned  // to the first holder that the number has

	Unsealed Kind = 98 // the number was sealed, and the feeds have told by now what waited: past answers are to be looked at
	Past     Kind = 99 // only what was known about an earlier time changed: no answer of now shows it

	firstClass     Kind = 100
	SupplyStarted  Kind = 100 // a network's first snapshot was applied
	LinesAdded     Kind = 101 // a later snapshot has lines that nobody had reported
	LinesWithdrawn Kind = 102 // a snapshot was voided
)

var words = map[Kind]string{
	Swapped: "swapped", Recycled: "recycled", Ported: "ported", Barred: "barred", Unbarred: "unbarred", Flagged: "flagged", Unflagged: "unflagged",
	Quarantined: "quarantined", Reinstated: "reinstated", ChurnAnnounced: "churn-announced", ChurnCalledOff: "churn-called-off", Parked: "parked",
	Inactive: "inactive", Active: "active", Blacklisted: "blacklisted", Released: "released", Corrected: "corrected", Disputed: "disputed",
	Settled: "settled", Assigned: "assigned", Unsealed: "unsealed", Past: "past", SupplyStarted: "started", LinesAdded: "lines-added", LinesWithdrawn: "lines-withdrawn",
}

// String returns the word of the kind, as the type of an event has it.
func (k Kind) String() string { return words[k] }

// IsTold reports whether a change of this kind is told to whoever watches the number.
func (k Kind) IsTold() bool { return k != Past && k != Unsealed }

// Kinds lists every kind that a line can have.
func Kinds() (all []Kind) {
	for k := Swapped; k <= Assigned; k++ {
		all = append(all, k)
	}
	return all
}

// The codes of statuses are stored; 0 is none. They are not the order of precedence,
// which may change.
var codes = []line.Status{
	"", line.Normal, line.Swapped, line.Recycled, line.Ported, line.Barred, line.Flagged, line.Quarantined, line.PendingChurn, line.Parked, line.Inactive,
	line.Blacklisted, line.Unallocated, line.Unknown,
}

// CodeOf returns the stored code of a status.
func CodeOf(s line.Status) int16 { return int16(max(slices.Index(codes, s), 0)) } //nolint:gosec // a small index

// StatusOf returns the status with a stored code.
func StatusOf(code int16) line.Status {
	if code < 0 || int(code) >= len(codes) {
		return ""
	}
	return codes[code]
}

// kindOfSignal names what happened when a signal appears, or is no longer there; 0 where
// the signal alone does not tell.
var kindOfSignal = []struct {
	status       line.Status
	gained, lost Kind
}{
	{line.Blacklisted, Blacklisted, Released},
	{line.Barred, Barred, Unbarred},
	{line.Flagged, Flagged, Unflagged},
	{line.Quarantined, Quarantined, 0},
	{line.Recycled, Recycled, 0},
	{line.Swapped, Swapped, 0},
	{line.Ported, Ported, 0},
	{line.PendingChurn, ChurnAnnounced, ChurnCalledOff},
	{line.Parked, Parked, Active},
	{line.Inactive, Inactive, Active},
}

// ofSignal returns what it means that a signal appears, and that it has gone.
func ofSignal(s line.Status) (gained, lost Kind) {
	for _, k := range kindOfSignal {
		if k.status == s {
			return k.gained, k.lost
		}
	}
	return 0, 0
}
