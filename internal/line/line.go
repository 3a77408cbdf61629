// Package line knows the life of every number: its tenures, what was told about
// them, and how the line stands at any moment.
//
// The unit is the tenure, one holder's stint on a number. What is told are
// events; a row per number is what its baseline and its events make of it
// ([Fold]), and the status is a pure function of that row, the numbering plan,
// the supply's coverage, the policy and the time ([At]). Nothing is overwritten:
// a correction is an event that voids another.
//
// A line that no supply covers is UNKNOWN and is never shown as NORMAL.
package line

// Status is the one word that says how a line stands.
type Status string

// The statuses, in the order of precedence.
const (
	Blacklisted  Status = "BLACKLISTED"
	Barred       Status = "BARRED"
	Flagged      Status = "FLAGGED"
	Quarantined  Status = "QUARANTINED"
	Recycled     Status = "RECYCLED"
	Swapped      Status = "SWAPPED"
	Ported       Status = "PORTED"
	PendingChurn Status = "PENDING_CHURN"
	Parked       Status = "PARKED"
	Inactive     Status = "INACTIVE"
	Normal       Status = "NORMAL"
	Unallocated  Status = "UNALLOCATED"
	Unknown      Status = "UNKNOWN"
)

// Statuses lists every status, in the order of precedence.
var Statuses = []Status{
	Blacklisted, Barred, Flagged, Quarantined, Recycled, Swapped, Ported, PendingChurn, Parked, Inactive, Normal, Unallocated, Unknown,
}

// UnknownNetwork is the name of the network when nothing is known.
const UnknownNetwork = "UNKNOWN"
