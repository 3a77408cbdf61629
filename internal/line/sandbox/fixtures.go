package sandbox

import (
	"time"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/policy"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The networks of the test numbers. They exist in no country.
const (
	savanna   numbering.Network = 1 + iota // always supplies
	harmattan                              // always supplies
	silent                                 // has stopped supplying
	mute                                   // has never supplied
)

// testPlan names the networks. Its ranges are under a country code that is not
// assigned to any country; the network of a test number is part of its fixture.
func testPlan() *numbering.Plan {
	since := time.Date(2001, 8, 1, 0, 0, 0, 0, time.UTC)
	plan, err := numbering.New([]numbering.Row{
		{Prefix: "99901", Network: "SAVANNA", Name: "Savanna Mobile", Allocated: since},
		{Prefix: "99902", Network: "HARMATTAN", Name: "Harmattan Mobile", Allocated: since},
		{Prefix: "99903", Network: "SILENT", Name: "Silent Mobile", Allocated: since},
		{Prefix: "99904", Network: "MUTE", Name: "Mute Mobile", Allocated: since},
	}, 13)
	if err != nil {
		panic("sandbox: the plan of the test numbers is wrong: " + err.Error()) // every test runs this
	}
	return plan
}

// The errors that test numbers simulate. Code and text are those of the real
// errors.
var (
	errNotMobile = fault.New(fault.NotApplicable, "The number is not a mobile number of this country, so it cannot be verified.").With(fault.Violation{
		Field: "phoneNumber", Code: fault.NotAllowed, Message: "Must be a mobile number of this country.",
	})
	errTooFast     = fault.New(fault.TooManyRequests, "This key exceeds its rate limit. Retry after the time in the Retry-After header, and send requests more slowly.")
	errNoBudget    = withRetryAfter(fault.New(fault.QuotaExceeded, "The budget of 100,000 different numbers a day is used up: only numbers that were already verified today are answered. It renews after the time in the Retry-After header; the regulator can allow more."), time.Hour)
	errUnavailable = fault.New(fault.Unavailable, "The service is temporarily unavailable. Retry after the time in the Retry-After header.")
)

// withRetryAfter sets the time for the Retry-After header.
func withRetryAfter(f *fault.Error, d time.Duration) *fault.Error {
	f.RetryAfter = d
	return f
}

// beyondTimeout is longer than any timeout that can be set.
const beyondTimeout = time.Hour

// longAssigned starts a tenure that is older than every window that a policy can
// have.
var longAssigned = scriptedEvent{effective: ago(4 * year), kind: line.Assign}

// testNumbers are all test numbers by their last two digits: 00 to 39 are lines
// whose status never changes, 40 to 49 errors, 50 to 59 slow answers, and 90 to
// 99 scenarios.
var testNumbers = append([]TestNumber{
	{digits: 0, network: savanna, Title: "The same holder for four years; nothing to report.", events: []scriptedEvent{longAssigned}},
	{
		digits: 1, network: savanna, Title: "The SIM was changed; the SWAPPED window ended a day ago.",
		events: []scriptedEvent{longAssigned, {effective: afterWindow(policy.Policy.Swapped), kind: line.ChangeSIM}},
	},
	{
		digits: 2, network: savanna, Title: "Ported to Harmattan Mobile two years ago.",
		events: []scriptedEvent{longAssigned, {effective: ago(2 * year), kind: line.Port, peer: harmattan}},
	},
	{
		digits: 3, network: savanna, Title: "Was flagged; the flag expired a day ago.",
		events: []scriptedEvent{longAssigned, {effective: afterWindow(policy.Policy.Flagged), kind: line.Flag, code: line.LevelHigh}},
	},

	{digits: 10, network: savanna, Title: "Blacklisted by the regulator.", events: []scriptedEvent{longAssigned, {effective: ago(20 * day), kind: line.Blacklist}}},
	{
		digits: 11, network: savanna, Title: "Blacklisted, and its tenure has ended: both signals are present.",
		events: []scriptedEvent{longAssigned, {effective: ago(20 * day), kind: line.Blacklist}, {effective: ago(5 * day), kind: line.End, code: line.ReasonChurned}},
	},
	{
		digits: 12, network: savanna, Title: "Barred by its operator.",
		events: []scriptedEvent{longAssigned, {effective: ago(3 * day), kind: line.Bar, code: line.ReasonNIN}},
	},
	{
		digits: 13, network: savanna, Title: "Barred by order of the regulator.",
		events: []scriptedEvent{longAssigned, {effective: ago(3 * day), kind: line.Bar, authority: line.Regulator, code: line.ReasonCourt}},
	},
	{
		digits: 14, network: savanna, Title: "Barred, flagged and swapped at once: three signals are present.",
		events: []scriptedEvent{
			longAssigned,
			{effective: insideWindow(3*day, policy.Policy.Swapped), kind: line.ChangeSIM},
			{effective: insideWindow(2*day, policy.Policy.Flagged), kind: line.Flag, code: line.LevelHigh},
			{effective: ago(time.Hour), kind: line.Bar, code: line.ReasonFraud},
		},
	},
	flagged(15, line.LevelMedium), flagged(16, line.LevelHigh), flagged(17, line.LevelVeryHigh),
	{
		digits: 18, network: savanna, Title: "Churned five days ago.",
		events: []scriptedEvent{longAssigned, {effective: ago(5 * day), kind: line.End, code: line.ReasonChurned}},
	},
	{
		digits: 19, network: savanna, Title: "The announced churn date has passed, and the operator has reported nothing since.",
		events: []scriptedEvent{longAssigned, {effective: ago(30 * day), kind: line.GiveNotice, until: ago(2 * day)}},
	},
	{
		digits: 20, network: savanna, Title: "Missing from a snapshot: its tenure ended between 12 and 5 days ago, so changedSince is unknown for a time in between.",
		events: []scriptedEvent{longAssigned, {effective: ago(5 * day), endedAfter: ago(12 * day), kind: line.End, code: line.ReasonInferred}},
	},
	{
		digits: 21, network: savanna, Title: "Assigned to a new holder after its quarantine.",
		events: []scriptedEvent{longAssigned, {effective: ago(3 * year), kind: line.End, code: line.ReasonChurned}, {effective: insideWindow(30*day, policy.Policy.Recycled), kind: line.Assign}},
	},
	{
		digits: 22, network: savanna, Title: "The SIM was changed.",
		events: []scriptedEvent{longAssigned, {effective: insideWindow(2*day, policy.Policy.Swapped), kind: line.ChangeSIM}},
	},
	{
		digits: 23, network: savanna, Title: "Ported to Harmattan Mobile; the port also raises a SWAPPED signal.",
		events: []scriptedEvent{longAssigned, {effective: insideWindow(2*day, policy.Policy.Ported), kind: line.Port, peer: harmattan}},
	},
	{
		digits: 24, network: savanna, Title: "A new holder, whose SIM was changed later: the most recent change is the status, and both signals are present.",
		events: []scriptedEvent{
			{effective: insideWindow(30*day, policy.Policy.Recycled), kind: line.Assign},
			{effective: insideWindow(day, policy.Policy.Swapped, halfOf(policy.Policy.Recycled)), kind: line.ChangeSIM},
		},
	},
	{
		digits: 25, network: savanna, Title: "The holder was notified yesterday that the line will churn in twenty days.",
		events: []scriptedEvent{longAssigned, {effective: ago(day), kind: line.GiveNotice, until: fromNow(20 * day)}},
	},
	{digits: 26, network: savanna, Title: "Parked at the holder's request.", events: []scriptedEvent{longAssigned, {effective: ago(40 * day), kind: line.Park}}},
	{digits: 27, network: savanna, Title: "Not used for 190 days.", events: []scriptedEvent{longAssigned, {effective: ago(10 * day), kind: line.Deactivate}}},
	{digits: 28, network: savanna, Title: "In a range that is not allocated to any network.", allocated: notYet},
	{digits: 29, network: savanna, Title: "Never assigned, by an operator whose supply is complete."},
	{digits: 30, network: mute, Title: "The operator has never supplied data."},
	{digits: 31, network: silent, Title: "The operator's last supply is older than the policy allows.", events: []scriptedEvent{longAssigned}},
	{
		digits: 32, network: silent, Title: "The SIM was changed, and the operator's supply is stale: an adverse status stays.",
		events: []scriptedEvent{longAssigned, {effective: insideWindow(2*day, policy.Policy.Swapped), kind: line.ChangeSIM}},
	},

	{digits: 40, Title: "422, as for a number that is not a mobile number of the country.", fault: errNotMobile},
	{digits: 41, Title: "429, as when the rate limit is exceeded; Retry-After is a few seconds.", fault: errTooFast},
	{digits: 42, Title: "429, as when the budget is used up; Retry-After is an hour.", fault: errNoBudget},
	{digits: 43, Title: "503, as when the service or its database is unavailable; Retry-After is a few seconds.", fault: errUnavailable},

	{digits: 50, network: savanna, Title: "Answered after 300 milliseconds.", events: []scriptedEvent{longAssigned}, delay: 300 * time.Millisecond},
	{digits: 51, network: savanna, Title: "Answered after 900 milliseconds.", events: []scriptedEvent{longAssigned}, delay: 900 * time.Millisecond},
	{digits: 52, network: savanna, Title: "503, when the request times out after LINEPROOF_VERIFY_TIMEOUT (1 s by default).", events: []scriptedEvent{longAssigned}, delay: beyondTimeout},
}, scenarioNumbers...)

var byDigits = func() map[int]*TestNumber {
	all := make(map[int]*TestNumber, len(testNumbers))
	for i := range testNumbers {
		all[testNumbers[i].digits] = &testNumbers[i]
	}
	return all
}()

func flagged(digits int, level line.Code) TestNumber {
	return TestNumber{
		digits: digits, network: savanna, Title: "Flagged by a sector regulator, level " + level.String() + ".",
		events: []scriptedEvent{longAssigned, {effective: insideWindow(10*day, policy.Policy.Flagged), kind: line.Flag, code: level}},
	}
}
