// Package policy stores the rules that the regulator sets and may change: how long a
// change of a line counts, how old a supply may be, and how late an event may be
// reported.
//
// A policy has versions. Each takes effect at a time and never changes, so that a
// past answer can be derived again by the policy of that time.
package policy

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/fault"
)

// Policy is one version of the policy. [Fields] says what each number means.
type Policy struct {
	Version     int32
	EffectiveAt time.Time
	CreatedAt   time.Time

	RecycledDays    int
	SwappedHours    int
	PortedHours     int
	FlaggedDays     int
	QuarantineDays  int
	NoticeDays      int
	FreshnessDays   int
	ChurnReportDays int
	HoldPercent     int

	Note string // why the policy was changed
}

const day = 24 * time.Hour

// Recycled is how long a line is RECYCLED after the start of a tenure.
func (p Policy) Recycled() time.Duration { return time.Duration(p.RecycledDays) * day }

// Swapped is how long a line is SWAPPED after its SIM changed.
func (p Policy) Swapped() time.Duration { return time.Duration(p.SwappedHours) * time.Hour }

// Ported is how long a line is PORTED after its network changed.
func (p Policy) Ported() time.Duration { return time.Duration(p.PortedHours) * time.Hour }

// Flagged is how long a flag is active.
func (p Policy) Flagged() time.Duration { return time.Duration(p.FlaggedDays) * day }

// Quarantine is how long a number must wait after a churn before it may be assigned
// again.
func (p Policy) Quarantine() time.Duration { return time.Duration(p.QuarantineDays) * day }

// Notice is how long in advance a churn must be announced.
func (p Policy) Notice() time.Duration { return time.Duration(p.NoticeDays) * day }

// Freshness is how old an operator's supply may be.
func (p Policy) Freshness() time.Duration { return time.Duration(p.FreshnessDays) * day }

// ChurnReport is how long after a churn it must be reported at the latest.
func (p Policy) ChurnReport() time.Duration { return time.Duration(p.ChurnReportDays) * day }

// Field is one number of a policy, with its bounds.
type Field struct {
	Name              string // in JSON
	Flag              string // on the command line
	Default, Min, Max int
	Meaning           string
	of                func(p *Policy) *int
}

// Of returns a pointer to the field of p.
func (f Field) Of(p *Policy) *int { return f.of(p) }

// Fields are the numbers of a policy, in the order in which they are shown. The
// database table has the same bounds.
var Fields = []Field{
	{
		"recycledDays", "recycled-days", 90, 1, 730,
		"for how many days after the start of a tenure the line is RECYCLED",
		func(p *Policy) *int { return &p.RecycledDays },
	},
	{
		"swappedHours", "swapped-hours", 240, 1, 2400,
		"for how many hours after the SIM changed the line is SWAPPED",
		func(p *Policy) *int { return &p.SwappedHours },
	},
	{
		"portedHours", "ported-hours", 240, 1, 2400,
		"for how many hours after the network changed the line is PORTED",
		func(p *Policy) *int { return &p.PortedHours },
	},
	{
		"flaggedDays", "flagged-days", 90, 1, 730,
		"for how many days a flag is active",
		func(p *Policy) *int { return &p.FlaggedDays },
	},
	{
		"quarantineDays", "quarantine-days", 90, 1, 730,
		"for how many days after a churn the number is quarantined before it may be assigned again",
		func(p *Policy) *int { return &p.QuarantineDays },
	},
	{
		"noticeDays", "notice-days", 14, 1, 180,
		"how many days ahead a churn must be announced",
		func(p *Policy) *int { return &p.NoticeDays },
	},
	{
		"freshnessDays", "freshness-days", 14, 1, 180,
		"after how many days without supply an operator is stale, and its lines UNKNOWN where nothing adverse is known",
		func(p *Policy) *int { return &p.FreshnessDays },
	},
	{
		"churnReportDays", "churn-report-days", 7, 1, 90,
		"within how many days a churn must be reported",
		func(p *Policy) *int { return &p.ChurnReportDays },
	},
	{
		"holdPercent", "hold-percent", 10, 0, 49,
		"a snapshot that changes a greater share of the operator's lines, in percent, waits for staff to confirm it",
		func(p *Policy) *int { return &p.HoldPercent },
	},
}

// Defaults returns the policy of the first version, without its times.
func Defaults() Policy {
	p := Policy{Version: 1, Note: "the defaults"}
	for _, f := range Fields {
		*f.of(&p) = f.Default
	}
	return p
}

const maxNote = 500

// check returns an error with everything that is wrong with p.
func (p Policy) check() error {
	var wrong fault.Form
	for _, f := range Fields {
		v := *f.of(&p)
		wrong.Check(v >= f.Min && v <= f.Max, f.Name, fault.NotAllowed, fmt.Sprintf("Use a whole number from %d to %d.", f.Min, f.Max))
	}
	wrong.Check(p.Note != "", "note", fault.Required, "Say in a few words why the policy changes.")
	wrong.Check(utf8.RuneCountInString(p.Note) <= maxNote, "note", fault.TooLong, fmt.Sprintf("Use at most %d characters.", maxNote))
	wrong.Check(utf8.ValidString(p.Note) && !strings.ContainsRune(p.Note, 0), "note", fault.BadFormat, "Use text in UTF-8.")
	return wrong.Err()
}
