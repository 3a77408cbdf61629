package policy

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
		"lifecycleFreshnessHours", "lifecycle-freshness-hours", 168, 1, 4320,
		"how many hours old an operator's supply of LIFECYCLE may be",
		func(p *Policy) *int { return &p.LifecycleFreshnessHours },
	},
	{
		"simFreshnessHours", "sim-freshness-hours", 36, 0, 2400,
		"how many hours old an operator's supply of SIM may be; 0: the topic is not required",
		func(p *Policy) *int { return &p.SIMFreshnessHours },
	},
	{
		"portFreshnessHours", "port-freshness-hours", 72, 1, 2400,
		"how many hours old the clearing house's supply of PORT may be; counts while a clearing house is named, and from its first base on",
		func(p *Policy) *int { return &p.PortFreshnessHours },
	},
	{
		"falseAssurancePercent", "false-assurance-percent", 10, 1, 100,
		"when a greater share of a topic's events of the last 30 days, in percent, contradicts the supplier's own suppliedThrough, the topic is not fresh until 30 days have passed without another or two people accept it again",
		func(p *Policy) *int { return &p.FalseAssurancePercent },
	},
	{
		"simReportHours", "sim-report-hours", 1, 1, 720,
		"within how many hours a SIM change must be reported",
		func(p *Policy) *int { return &p.SIMReportHours },
	},
	{
		"portReportHours", "port-report-hours", 24, 1, 720,
		"within how many hours a port must be reported",
		func(p *Policy) *int { return &p.PortReportHours },
	},
	{
		"barReportHours", "bar-report-hours", 24, 1, 720,
		"within how many hours a bar must be reported",
		func(p *Policy) *int { return &p.BarReportHours },
	},
	{
		"churnReportDays", "churn-report-days", 7, 1, 90,
		"within how many days a churn must be reported",
		func(p *Policy) *int { return &p.ChurnReportDays },
	},
	{
		"backdatingDays", "backdating-days", 30, 1, 365,
		"an event that took effect more than this many days ago and would lift something or move the number is held until the regulator confirms it",
		func(p *Policy) *int { return &p.BackdatingDays },
	},
	{
		"holdPercent", "hold-percent", 10, 0, 49,
		"a snapshot that changes a greater share of the operator's lines, in percent, waits for staff to confirm it; so do events beyond that share within 7 days",
		func(p *Policy) *int { return &p.HoldPercent },
	},
	{
		"personalYears", "personal-years", 7, 1, 100,
		"for how many years the personal part of a record is kept; after that it is erased",
		func(p *Policy) *int { return &p.PersonalYears },
	},
	{
		"warmUpDays", "warm-up-days", 30, 0, 365,
		"after how many days a new organisation, or a new client, has its whole budget of different numbers",
		func(p *Policy) *int { return &p.WarmUpDays },
	},
	{
		"warmUpPercent", "warm-up-percent", 10, 1, 100,
		"the share of its budget of different numbers, in percent, that a new organisation, or a new client, has on its first day",
		func(p *Policy) *int { return &p.WarmUpPercent },
	},
	{
		"undocumentedPercent", "undocumented-percent", 50, 1, 100,
		"the largest share of its budget of different numbers, in percent, that an organisation which a client onboarded has until staff accept a document of it",
		func(p *Policy) *int { return &p.UndocumentedPercent },
	},
}

// TextField is one text of a policy, with the bounds of its length in characters.
type TextField struct {
	Name     string // in JSON
	Flag     string // on the command line
	Default  string
	Min, Max int
	Meaning  string
	of       func(p *Policy) *string
}

// Of returns a pointer to the field of p.
func (f TextField) Of(p *Policy) *string { return f.of(p) }

// maxTimeZone is twice the length of the longest name in the IANA database.
const (
	maxTimeZone      = 64
	maxClearingHouse = 100
	maxPurposes      = 1000
)

// TextFields are the texts of a policy; they are shown after [Fields]. The database
// table has the same bounds.
var TextFields = []TextField{
	{
		"timeZone", "time-zone", "Africa/Lagos", 1, maxTimeZone,
		"the time zone in which a date that is reported without a time is a day, by its name in the IANA database",
		func(p *Policy) *string { return &p.TimeZone },
	},
	{
		"clearingHouse", "clearing-house", "", 0, maxClearingHouse,
		"the name of the clearing house that reports ports; while it is named, the topic PORT is required",
		func(p *Policy) *string { return &p.ClearingHouse },
	},
	{
		"purposes", "purposes", "payment=month,account-opening=month,credential-reset=month,collection=absent,credit=month,other=absent", 1, maxPurposes,
		"the purposes of API keys, each with how its answers give dates: exact, month or absent",
		func(p *Policy) *string { return &p.Purposes },
	},
}

// Defaults returns the policy of the first version, without its times.
func Defaults() Policy {
	p := Policy{Version: 1, Note: "the defaults"}
	for _, f := range Fields {
		*f.of(&p) = f.Default
	}
	for _, f := range TextFields {
		*f.of(&p) = f.Default
	}
	p.zone = p.Zone()
	return p
}
