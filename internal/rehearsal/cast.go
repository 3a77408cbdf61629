package rehearsal

import (
	"time"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/policy"
)

// The networks of the test numbers. No country has them.
const (
	savanna   numbering.Network = 1 + iota // supplies all the time
	harmattan                              // so does this one
	silent                                 // supplied, and has fallen silent
	mute                                   // never supplied
)

// testPlan names the networks. Its ranges lie under a country code that no
// country has; which network holds a test number is the role's to say.
func testPlan() *numbering.Plan {
	since := time.Date(2001, 8, 1, 0, 0, 0, 0, time.UTC)
	plan, err := numbering.New([]numbering.Row{
		{Prefix: "99901", Network: "SAVANNA", Name: "Savanna Mobile", Allocated: since},
		{Prefix: "99902", Network: "HARMATTAN", Name: "Harmattan Mobile", Allocated: since},
		{Prefix: "99903", Network: "SILENT", Name: "Silent Mobile", Allocated: since},
		{Prefix: "99904", Network: "MUTE", Name: "Mute Mobile", Allocated: since},
	}, 13)
	if err != nil {
		panic("rehearsal: the plan of the test numbers is wrong: " + err.Error()) // every test makes it
	}
	return plan
}

// The errors that test numbers play. They say what the service says when it
// means them.
var (
	errNotMobile = fault.New(fault.NotApplicable, "The number is not a mobile number of this country, so the service has nothing to say about it.").With(fault.Violation{
		Field: "phoneNumber", Code: fault.NotAllowed, Message: "Ask about a mobile number of this country.",
	})
	errTooFast     = fault.New(fault.TooManyRequests, "The requests come faster than this key allows. Try again after the time in the Retry-After header, and slow down.")
	errNoBudget    = later(fault.New(fault.QuotaExceeded, "The budget of requests is used up. Try again after the time in the Retry-After header, or ask the regulator for a larger one."), time.Hour)
	errUnavailable = fault.New(fault.Unavailable, "The service cannot answer at the moment. Try again after the time in the Retry-After header.")
)

// later returns the fault with a time after which to come back.
func later(f *fault.Error, d time.Duration) *fault.Error {
	f.RetryAfter = d
	return f
}

// neverAnswered is longer than any caller is let wait.
const neverAnswered = time.Hour

// assigned is a tenure that is older than every window that a policy can have.
var assigned = told{at: ago(4 * year), kind: line.Assign}

// cast is every role by its number: 00 to 39 lines that stand in one way, 40 to
// 49 errors, 50 to 59 slow answers, and 90 to 99 lives.
var cast = append([]Role{
	{digits: 0, network: savanna, Title: "One holder for four years, and nothing to report.", told: []told{assigned}},
	{
		digits: 1, network: savanna, Title: "The SIM was changed, and its window is over since a day.",
		told: []told{assigned, {at: beyond(policy.Policy.Swapped), kind: line.ChangeSIM}},
	},
	{
		digits: 2, network: savanna, Title: "Ported to Harmattan Mobile two years ago.",
		told: []told{assigned, {at: ago(2 * year), kind: line.Port, peer: harmattan}},
	},
	{
		digits: 3, network: savanna, Title: "Was flagged, and the flag has expired since a day.",
		told: []told{assigned, {at: beyond(policy.Policy.Flagged), kind: line.Flag, code: line.LevelHigh}},
	},

	{digits: 10, network: savanna, Title: "Blacklisted by the regulator.", told: []told{assigned, {at: ago(20 * day), kind: line.Blacklist}}},
	{
		digits: 11, network: savanna, Title: "Blacklisted, and its holder has gone: both signals hold.",
		told: []told{assigned, {at: ago(20 * day), kind: line.Blacklist}, {at: ago(5 * day), kind: line.End, code: line.ReasonChurned}},
	},
	{
		digits: 12, network: savanna, Title: "Barred by its operator.",
		told: []told{assigned, {at: ago(3 * day), kind: line.Bar, code: line.ReasonNIN}},
	},
	{
		digits: 13, network: savanna, Title: "Barred by order of the regulator.",
		told: []told{assigned, {at: ago(3 * day), kind: line.Bar, by: line.Regulator, code: line.ReasonCourt}},
	},
	{
		digits: 14, network: savanna, Title: "Barred, flagged and swapped at once: three signals hold.",
		told: []told{
			assigned,
			{at: within(3*day, policy.Policy.Swapped), kind: line.ChangeSIM},
			{at: within(2*day, policy.Policy.Flagged), kind: line.Flag, code: line.LevelHigh},
			{at: ago(time.Hour), kind: line.Bar, code: line.ReasonFraud},
		},
	},
	flagged(15, line.LevelMedium), flagged(16, line.LevelHigh), flagged(17, line.LevelVeryHigh),
	{
		digits: 18, network: savanna, Title: "Given up by its holder five days ago.",
		told: []told{assigned, {at: ago(5 * day), kind: line.End, code: line.ReasonChurned}},
	},
	{
		digits: 19, network: savanna, Title: "The date of the churn that was announced has come, and nobody has said more.",
		told: []told{assigned, {at: ago(30 * day), kind: line.GiveNotice, until: ago(2 * day)}},
	},
	{
		digits: 20, network: savanna, Title: "Missing from a snapshot: its holder left some time between 12 and 5 days ago, so that changedSince is unknown for a moment in between.",
		told: []told{assigned, {at: ago(5 * day), after: ago(12 * day), kind: line.End, code: line.ReasonInferred}},
	},
	{
		digits: 21, network: savanna, Title: "Given to a new holder, after it had rested.",
		told: []told{assigned, {at: ago(3 * year), kind: line.End, code: line.ReasonChurned}, {at: within(30*day, policy.Policy.Recycled), kind: line.Assign}},
	},
	{
		digits: 22, network: savanna, Title: "The SIM was changed.",
		told: []told{assigned, {at: within(2*day, policy.Policy.Swapped), kind: line.ChangeSIM}},
	},
	{
		digits: 23, network: savanna, Title: "Ported to Harmattan Mobile; the port raises SWAPPED as a signal, too.",
		told: []told{assigned, {at: within(2*day, policy.Policy.Ported), kind: line.Port, peer: harmattan}},
	},
	{
		digits: 24, network: savanna, Title: "A new holder, whose SIM was changed since: the most recent change is the word, and both signals hold.",
		told: []told{
			{at: within(30*day, policy.Policy.Recycled), kind: line.Assign},
			{at: within(day, policy.Policy.Swapped, half(policy.Policy.Recycled)), kind: line.ChangeSIM},
		},
	},
	{
		digits: 25, network: savanna, Title: "Its holder was told yesterday that it will churn in twenty days.",
		told: []told{assigned, {at: ago(day), kind: line.GiveNotice, until: hence(20 * day)}},
	},
	{digits: 26, network: savanna, Title: "Parked on its holder's request.", told: []told{assigned, {at: ago(40 * day), kind: line.Park}}},
	{digits: 27, network: savanna, Title: "Not used for 190 days.", told: []told{assigned, {at: ago(10 * day), kind: line.Deactivate}}},
	{digits: 28, network: savanna, Title: "In a range that no network holds.", allocated: never},
	{digits: 29, network: savanna, Title: "Never given to anybody, by an operator that supplies all of its lines."},
	{digits: 30, network: mute, Title: "Of an operator that has never supplied."},
	{digits: 31, network: silent, Title: "Of an operator that fell silent longer ago than the policy allows.", told: []told{assigned}},
	{
		digits: 32, network: silent, Title: "The SIM was changed, and the operator is silent: what is known against a line stays.",
		told: []told{assigned, {at: within(2*day, policy.Policy.Swapped), kind: line.ChangeSIM}},
	},

	{digits: 40, Title: "422, as for a number that is not a mobile number of the country.", fault: errNotMobile},
	{digits: 41, Title: "429, as when the requests come too fast; Retry-After is a few seconds.", fault: errTooFast},
	{digits: 42, Title: "429, as when the budget is used up; Retry-After is an hour.", fault: errNoBudget},
	{digits: 43, Title: "503, as when the service or its database is away; Retry-After is a few seconds.", fault: errUnavailable},

	{digits: 50, network: savanna, Title: "Answered after 300 milliseconds.", told: []told{assigned}, delay: 300 * time.Millisecond},
	{digits: 51, network: savanna, Title: "Answered after 900 milliseconds.", told: []told{assigned}, delay: 900 * time.Millisecond},
	{digits: 52, network: savanna, Title: "503, when the service gives up after LINEPROOF_VERIFY_TIMEOUT (1 s unless set).", told: []told{assigned}, delay: neverAnswered},
}, lives...)

var byDigits = func() map[int]*Role {
	all := make(map[int]*Role, len(cast))
	for i := range cast {
		all[cast[i].digits] = &cast[i]
	}
	return all
}()

// half is half of a window.
func half(w window) window { return func(p policy.Policy) time.Duration { return w(p) / 2 } }

func flagged(digits int, level line.Code) Role {
	return Role{
		digits: digits, network: savanna, Title: "Flagged by a sector's regulator, at the level " + level.String() + ".",
		told: []told{assigned, {at: within(10*day, policy.Policy.Flagged), kind: line.Flag, code: level}},
	}
}
