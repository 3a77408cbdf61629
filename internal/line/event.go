package line

import (
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/numbering"
)

// Kind is what an event says.
type Kind uint8

// The kinds of event. The numbers are stored; they are never reused.
const (
	Assign      Kind = 1 + iota // a new tenure begins
	ChangeSIM                   // the holder has another SIM
	Bar                         // service stops
	Unbar                       // service resumes
	GiveNotice                  // the churn is announced
	Park                        // the holder asked to keep the number unused
	Return                      // the holder is back
	Deactivate                  // no revenue event for the time that the rules name
	Use                         // the line is used again
	End                         // churned or surrendered
	Reinstate                   // an appeal gave the number back to its holder
	ClaimPort                   // the recipient says that the number came to it
	ReleasePort                 // the donor says that it let the number go
	Port                        // the clearing house says that the number moved
	Flag                        // suspected of fraud
	Unflag                      // no longer suspected
	Blacklist                   // confirmed by the regulator
	Release                     // let go by the regulator
	Void                        // another event is withdrawn
)

// words are the kinds as suppliers write them, in the order of the constants.
var words = []string{
	"", "ASSIGNED", "SIM_CHANGED", "BARRED", "UNBARRED", "CHURN_NOTICE", "PARKED", "RETURNED", "INACTIVE", "USED", "ENDED",
	"REINSTATED", "PORT_CLAIMED", "PORT_RELEASED", "PORTED", "FLAGGED", "UNFLAGGED", "BLACKLISTED", "RELEASED", "VOIDED",
}

// Kinds lists every kind.
func Kinds() []Kind {
	all := make([]Kind, 0, len(words)-1)
	for k := Assign; k <= Void; k++ {
		all = append(all, k)
	}
	return all
}

// ParseKind returns the kind that a word names.
func ParseKind(word string) (Kind, bool) {
	i := slices.Index(words, word)
	return Kind(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// String returns the word of the kind.
func (k Kind) String() string {
	if int(k) >= len(words) {
		return ""
	}
	return words[k]
}

// Authority is in whose name an event is told. The numbers are stored.
type Authority uint8

// The authorities.
const (
	Operator      Authority = 1 + iota // a network, about its own numbers
	ClearingHouse                      // decides on ports
	Sector                             // a sector regulator, who flags
	Regulator                          // gives orders
)

// String returns the authority as answers name it.
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

// Code says more about an event: the reason of a bar or of an end, or the level
// of a flag. The numbers are stored; 0 is none.
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
	ReasonInferred // a snapshot no longer had the number
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

// ParseCode returns the code that a word names.
func ParseCode(word string) (Code, bool) {
	i := slices.Index(codeWords, word)
	return Code(max(i, 0)), i > 0 //nolint:gosec // a small index
}

// Event is one thing that was told about a number.
type Event struct {
	Seq       int64 // the order of telling; 0 while it is not stored
	ID        string
	Supplier  int32
	Import    int32 // 0 for a call of the API
	Told      time.Time
	Effective Instant
	Kind      Kind
	By        Authority
	Network   numbering.Network // of the operator that speaks
	Peer      numbering.Network // the recipient of a port
	Code      Code
	Until     Instant // the announced date of a churn
	After     Instant // of an inferred end: it took place after this
	Voids     int64   // the seq of the event that is withdrawn
	Note      string
	Base      *Baseline // on a number's first event, if there was a baseline
}

// Baseline is what a snapshot said of a number about which nothing was known.
type Baseline struct {
	Import     int32 // which has the time of which the snapshot speaks
	Network    numbering.Network
	Tenure     Instant
	SIM        Instant
	State      State
	StateSince Instant
}

// SameAs reports whether two events say the same, so that one is the other told
// again.
func (e *Event) SameAs(o *Event) bool {
	return e.Effective == o.Effective && e.Kind == o.Kind && e.By == o.By && e.Network == o.Network && e.Peer == o.Peer &&
		e.Code == o.Code && e.Until == o.Until && e.Voids == o.Voids
}
