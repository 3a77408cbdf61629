// Package policy stores the rules that the regulator sets and may change: how long a
// change of a line counts, which topics must be supplied and how old a supply may be,
// how late an event may be reported, how the budgets of new organisations grow, in which
// time zone a date is a day, and for which purposes banks ask and which dates each may learn.
//
// A policy has versions. Each takes effect at a time and never changes, so that a
// past answer can be derived again by the policy of that time.
package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
)

// Policy is one version of the policy. [Fields] and [TextFields] say what each value
// means. Two policies with the same values are equal.
type Policy struct {
	Version     int32
	EffectiveAt time.Time
	CreatedAt   time.Time

	RecycledDays   int
	SwappedHours   int
	PortedHours    int
	FlaggedDays    int
	QuarantineDays int
	NoticeDays     int

	LifecycleFreshnessHours int
	SIMFreshnessHours       int
	PortFreshnessHours      int
	FalseAssurancePercent   int

	SIMReportHours  int
	PortReportHours int
	BarReportHours  int
	ChurnReportDays int
	BackdatingDays  int
	HoldPercent     int
	PersonalYears   int

	WarmUpDays          int
	WarmUpPercent       int
	UndocumentedPercent int

	TimeZone      string // name in the IANA database
	ClearingHouse string // "" while there is none
	Purposes      string // see [Policy.DatesFor]

	Note string // why the policy was changed

	zone *time.Location // of TimeZone, loaded once
}

const day = 24 * time.Hour

func days(n int) time.Duration  { return time.Duration(n) * day }
func hours(n int) time.Duration { return time.Duration(n) * time.Hour }

// Recycled is how long a line is RECYCLED after the start of a tenure.
func (p Policy) Recycled() time.Duration { return days(p.RecycledDays) }

// Swapped is how long a line is SWAPPED after its SIM changed.
func (p Policy) Swapped() time.Duration { return hours(p.SwappedHours) }

// Ported is how long a line is PORTED after its network changed.
func (p Policy) Ported() time.Duration { return hours(p.PortedHours) }

// Flagged is how long a flag is active.
func (p Policy) Flagged() time.Duration { return days(p.FlaggedDays) }

// Quarantine is how long a number must wait after a churn before it may be assigned
// again.
func (p Policy) Quarantine() time.Duration { return days(p.QuarantineDays) }

// Notice is how long in advance a churn must be announced.
func (p Policy) Notice() time.Duration { return days(p.NoticeDays) }

// LifecycleFreshness is how old a network's supply of the topic LIFECYCLE may be.
// The topic is always required.
func (p Policy) LifecycleFreshness() time.Duration { return hours(p.LifecycleFreshnessHours) }

// SIMFreshness is how old a network's supply of the topic SIM may be; 0 when the
// topic is not required.
func (p Policy) SIMFreshness() time.Duration { return hours(p.SIMFreshnessHours) }

// PortFreshness is how old the supply of the topic PORT may be; 0 when the topic is
// not required, because no clearing house is named and none has supplied its base.
func (p Policy) PortFreshness(hasBase bool) time.Duration {
	if p.ClearingHouse == "" && !hasBase {
		return 0
	}
	return hours(p.PortFreshnessHours)
}

// SIMReport is how long after a SIM change it must be reported at the latest.
func (p Policy) SIMReport() time.Duration { return hours(p.SIMReportHours) }

// PortReport is how long after a port it must be reported at the latest.
func (p Policy) PortReport() time.Duration { return hours(p.PortReportHours) }

// BarReport is how long after a bar it must be reported at the latest.
func (p Policy) BarReport() time.Duration { return hours(p.BarReportHours) }

// ChurnReport is how long after a churn it must be reported at the latest.
func (p Policy) ChurnReport() time.Duration { return days(p.ChurnReportDays) }

// Backdating is how long ago an event may have taken effect; an older one is held.
func (p Policy) Backdating() time.Duration { return days(p.BackdatingDays) }

// Zone is the time zone in which a bare date that is reported is a day. It is UTC
// for the zero policy.
func (p Policy) Zone() *time.Location {
	if p.zone != nil && p.zone.String() == p.TimeZone {
		return p.zone
	}
	// TimeZone was assigned, and the policy was not set since.
	if zone, err := loadZone(p.TimeZone); err == nil {
		return zone
	}
	return time.UTC
}

const maxNote = 500

// check returns an error with everything that is wrong with p.
func (p Policy) check() error {
	var wrong fault.Form
	wrong.Check(p.Note != "", "note", fault.Required, "Say in a few words why the policy changes.")
	wrong.Check(utf8.RuneCountInString(p.Note) <= maxNote, "note", fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxNote))
	wrong.Check(utf8.ValidString(p.Note) && !strings.ContainsRune(p.Note, 0), "note", fault.BadFormat, "Use text in UTF-8.")
	fits := map[string]bool{}
	for _, f := range Fields {
		v := *f.of(&p)
		fits[f.Name] = v >= f.Min && v <= f.Max
		wrong.Check(fits[f.Name], f.Name, fault.NotAllowed, fmt.Sprintf("Use a whole number from %d to %d.", f.Min, f.Max))
	}
	// A supplier that has stopped reporting must be noticed while at least half of
	// the window is left, or the change that it does not report is never shown.
	for _, h := range []struct {
		field, windowField string
		freshness, window  time.Duration
	}{
		{"lifecycleFreshnessHours", "recycledDays", p.LifecycleFreshness(), p.Recycled()},
		{"simFreshnessHours", "swappedHours", p.SIMFreshness(), p.Swapped()},
		{"portFreshnessHours", "portedHours", p.PortFreshness(true), p.Ported()},
	} {
		if fits[h.field] && fits[h.windowField] {
			wrong.Check(h.freshness <= h.window/2, h.field, fault.NotAllowed,
				fmt.Sprintf("Use at most %d hours, which is half of %s, or make %s longer.", h.window/2/time.Hour, h.windowField, h.windowField))
		}
	}
	_, err := loadZone(p.TimeZone)
	wrong.Check(err == nil, "timeZone", fault.NotAllowed, "Use the name of a time zone in the IANA database, such as Africa/Lagos, or UTC.")
	wrong.Check(utf8.RuneCountInString(p.ClearingHouse) <= maxClearingHouse, "clearingHouse", fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxClearingHouse))
	wrong.Check(utf8.ValidString(p.ClearingHouse) && !strings.ContainsFunc(p.ClearingHouse, unicode.IsControl), "clearingHouse", fault.BadFormat, "Use text in UTF-8 without control characters.")
	p.checkPurposes(&wrong)
	return wrong.Err()
}
