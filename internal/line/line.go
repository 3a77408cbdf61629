// Package line has the history of a number, in memory, and computes from it the status of
// the line at any time. Package linestore keeps it in the database.
//
// The unit is the tenure: the time for which one holder has the number. Operators
// and authorities report events. The row of a number is the result of its
// baseline (what the first snapshot said) and its events ([Fold]). The status is
// a pure function of that row, the numbering plan, the coverage of the supply,
// the policy and the time ([At]). Nothing is overwritten: a correction is an
// event that voids another. A line that no supply covers is UNKNOWN and never NORMAL.
package line

// Status is the status of a line, in one word.
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

// New is a signal and never a status: the first holder of a number that nobody
// had before.
const New Status = "NEW"

// Statuses lists every status, in the order of precedence.
var Statuses = []Status{
	Blacklisted, Barred, Flagged, Quarantined, Recycled, Swapped, Ported, PendingChurn, Parked, Inactive, Normal, Unallocated, Unknown,
}

// UnknownNetwork stands for the name of a network that is not known.
const UnknownNetwork = "UNKNOWN"
