package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
)

// Kind is the type of an event.
type Kind uint8

// The kinds of event. The numbers are stored; they are never reused.
const (
	Assign      Kind = 1 + iota // a new tenure starts
	ChangeSIM                   // the holder has a new SIM
	Bar                         // service stops
	Unbar                       // service resumes
	GiveNotice                  // the churn is announced
	Park                        // the holder asked to keep the number unused
	Deactivate                  // no revenue event for the time that the regulation names
	Use                         // the line is used again
	End                         // churned or surrendered
	Reinstate                   // after an appeal the holder gets the number back
	ClaimPort                   // the recipient network reports a port to itself
	ReleasePort                 // the donor network reports that it released the number
	Port                        // the clearing house reports a port
	Flag                        // suspected of fraud
	Unflag                      // no longer suspected
	Blacklist                   // confirmed misuse, by the regulator
	Release                     // the regulator lifts the blacklisting
	Void                        // withdraws another event
	Transfer                    // the network that serves the line reports a new holder
	Confirm                     // the regulator lets a held event count
	Restate                     // a later snapshot replaces what the baseline said, or confirms a line that was in doubt
)

// kindWords has the kinds as suppliers write them, in the order of the constants.
var kindWords = []string{
	"", "ASSIGNED", "SIM_CHANGED", "BARRED", "UNBARRED", "CHURN_NOTICE", "PARKED", "INACTIVE", "USED", "ENDED",
	"REINSTATED", "PORT_CLAIMED", "PORT_RELEASED", "PORTED", "FLAGGED", "UNFLAGGED", "BLACKLISTED", "RELEASED", "VOIDED",
	"TRANSFERRED", "CONFIRMED", "RESTATED",
}

// Kinds lists every kind.
func Kinds() []Kind {
	all := make([]Kind, 0, len(kindWords)-1)
	for k := Assign; k <= Restate; k++ {
		all = append(all, k)
	}
	return all
}

// ParseKind returns the kind with that word.
func ParseKind(word string) (Kind, bool) {
	i := slices.Index(kindWords, word)
	return Kind(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// String returns the word of the kind.
func (k Kind) String() string {
	if int(k) >= len(kindWords) {
		return ""
	}
	return kindWords[k]
}

// Authority is the role in which a supplier reports an event. The numbers are
// stored.
type Authority uint8

// The authorities.
const (
	Operator      Authority = 1 + iota // a network, about its own numbers
	ClearingHouse                      // reports ports
	Sector                             // a sector regulator, which flags lines
	Regulator                          // orders bars and blacklists numbers
)

// String returns the authority as answers show it.
func (a Authority) String() string {
	switch a {
	case Operator:
		return "OPERATOR"
	case ClearingHouse:
		return "CLEARING_HOUSE"
	case Sector:
		return "SECTOR_REGULATOR"
	case Regulator:
		return "REGULATOR"
	}
	return ""
}

// Code is a detail of an event: the reason of a bar or of an end, or the level of
// a flag. The numbers are stored; 0 is none.
type Code int16

// The codes.
const (
	ReasonNIN Code = 1 + iota
	ReasonFraud
	ReasonCourt
	ReasonLost
	ReasonDebt
	ReasonOther
	ReasonChurned
	ReasonSurrendered
	ReasonInferred // the number is missing from a snapshot
	LevelMedium
	LevelHigh
	LevelVeryHigh
)

var codeWords = []string{
	"", "NIN", "FRAUD", "COURT", "LOST", "DEBT", "OTHER", "CHURNED", "SURRENDERED", "INFERRED", "MEDIUM", "HIGH", "VERY_HIGH",
}

// String returns the word of the code.
func (c Code) String() string {
	if c < 0 || int(c) >= len(codeWords) {
		return ""
	}
	return codeWords[c]
}

// ParseCode returns the code with that word.
func ParseCode(word string) (Code, bool) {
	i := slices.Index(codeWords, word)
	return Code(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// Hold is why an event waits for the regulator to confirm it. The numbers are
// stored; 0 is none.
type Hold int16

// The reasons for which events are held.
const (
	HoldTooOld    Hold = 1 + iota // it took effect long ago, and would lift something or move the number
	HoldEarly                     // a new holder before the rest is over, while a bar or a flag is in force
	HoldMass                      // too many of the network's lines changed at once
	HoldDonorLate                 // the network reports about the time before a port only after that was known
)

var holdWords = []string{"", "TOO_OLD", "EARLY", "MASS", "DONOR_LATE"}

// String returns the word of the hold.
func (h Hold) String() string {
	if h < 0 || int(h) >= len(holdWords) {
		return ""
	}
	return holdWords[h]
}

// Event is one event that was reported about a number.
type Event struct {
	Seq        int64 // the order of reporting; 0 until it is stored
	ID         string
	Supplier   int32
	Import     int32 // 0 for an API call
	ReportedAt time.Time
	Effective  Instant // of a bare date: its day's last second, or its first for an End
	Day        bool    // reported as a bare date: it took place some time on that day
	Kind       Kind
	Authority  Authority
	Network    numbering.Network // of the reporting operator
	Peer       numbering.Network // the recipient of a port
	Code       Code
	Number     bool    // of a regulator's bar: it is on the number, and outlives the holder
	First      bool    // of an Assign: nobody held the number before
	Until      Instant // the announced churn date; or when an order ends unless it is confirmed
	EndedAfter Instant // of an inferred end: the tenure ended after this time
	Target     int64   // the seq of the event that this one withdraws or confirms; of a Port by two networks, of the half that was reported first
	Hold       Hold    // why it does not count until it is confirmed
	Outside    bool    // when it was reported, its operator neither served the line nor held the number's range
	Counted    bool    // it is counted in the share of its network's lines that may change within days
	Note       string
	Base       *Baseline // what a Restate says, if it differs; on another event, the baseline that the number had before its first event
}

// Baseline is what a snapshot says about a number.
type Baseline struct {
	Import     int32
	AsOf       Instant // the time that the snapshot describes; not in a row, which has the import instead
	Network    numbering.Network
	Tenure     Instant // Never when unknown
	SIM        Instant // Never when there was no change, or when unknown
	State      State
	StateSince Instant
	Until      Instant // the announced churn date
	Bits       Bits    // SIMUnknown, and which times are bare dates
}

// Restates reports whether the event replaces what a snapshot said. Another event with a baseline only keeps that
// of its number, which a row with events no longer shows.
func (e *Event) Restates() bool {
	return e.Kind == Restate && e.Base != nil && e.Base.Import == e.Import
}

// SameAs reports whether two events have the same content, so that the second is
// a repetition of the first.
func (e *Event) SameAs(o *Event) bool {
	return e.Effective == o.Effective && e.Day == o.Day && e.Kind == o.Kind && e.Authority == o.Authority && e.Network == o.Network &&
		e.Peer == o.Peer && e.Code == o.Code && e.Number == o.Number && e.Until == o.Until && e.Target == o.Target
}
