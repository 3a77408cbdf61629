package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
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
	Return                      // the holder uses a parked number again
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
)

// kindWords has the kinds as suppliers write them, in the order of the constants.
var kindWords = []string{
	"", "ASSIGNED", "SIM_CHANGED", "BARRED", "UNBARRED", "CHURN_NOTICE", "PARKED", "RETURNED", "INACTIVE", "USED", "ENDED",
	"REINSTATED", "PORT_CLAIMED", "PORT_RELEASED", "PORTED", "FLAGGED", "UNFLAGGED", "BLACKLISTED", "RELEASED", "VOIDED",
}

// Kinds lists every kind.
func Kinds() []Kind {
	all := make([]Kind, 0, len(kindWords)-1)
	for k := Assign; k <= Void; k++ {
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

// Event is one event that was reported about a number.
type Event struct {
	Seq        int64 // the order of reporting; 0 until it is stored
	ID         string
	Supplier   int32
	Import     int32 // 0 for an API call
	ReportedAt time.Time
	Effective  Instant
	Kind       Kind
	Authority  Authority
	Network    numbering.Network // of the reporting operator
	Peer       numbering.Network // the recipient of a port
	Code       Code
	Until      Instant // the announced churn date
	EndedAfter Instant // of an inferred end: the tenure ended after this time
	Voids      int64   // the seq of the event that this one withdraws
	Note       string
	Base       *Baseline // on a number's first event, if the number had a baseline
}

// Baseline is the content of a snapshot about a number of which nothing was known
// before.
type Baseline struct {
	Import     int32 // the import, which has the as-of time of the snapshot
	Network    numbering.Network
	Tenure     Instant
	SIM        Instant
	State      State
	StateSince Instant
}

// SameAs reports whether two events have the same content, so that the second is
// a repetition of the first.
func (e *Event) SameAs(o *Event) bool {
	return e.Effective == o.Effective && e.Kind == o.Kind && e.Authority == o.Authority && e.Network == o.Network && e.Peer == o.Peer &&
		e.Code == o.Code && e.Until == o.Until && e.Voids == o.Voids
}
