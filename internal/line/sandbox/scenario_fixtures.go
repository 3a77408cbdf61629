package sandbox

import "github.com/lineproof/lineproof/internal/line"

// The suppliers of flags.
const (
	bankingRegulator int32 = 1 + iota // the banking regulator
	crimesCommission                  // the commission for financial crimes
)

// scenarioNumbers are the lines that change with the test clock. Their days and
// answers are documented, and integrators build tests on them: scenarios
// and events may be added, but none may be changed.
var scenarioNumbers = []TestNumber{
	{
		digits: 90, IsScenario: true, network: savanna, Title: "From one holder to the next: activation, swap, churn, recycling.",
		events: []scriptedEvent{
			{effective: onDay(0), kind: line.Assign, text: "The number is assigned to its first holder."},
			{effective: onDay(20), kind: line.ChangeSIM, text: "The holder gets a new SIM."},
			{effective: onDay(205), kind: line.Deactivate, text: "The line has not been used for 180 days."},
			{effective: onDay(215), kind: line.GiveNotice, until: onDay(235), text: "The holder is notified that the line will churn on day 235."},
			{effective: onDay(236), kind: line.End, code: line.ReasonChurned, text: "The operator reports the churn."},
			{effective: onDay(330), kind: line.Assign, text: "The number is assigned to a new holder."},
			{effective: onDay(350), kind: line.ChangeSIM, text: "The new holder gets a new SIM."},
		},
	},
	{
		digits: 91, IsScenario: true, network: savanna, Title: "One holder who travels: ported by claim and release, parked, ported back.",
		events: []scriptedEvent{
			{effective: onDay(-1000), kind: line.Assign, text: "The line has had the same holder for years."},
			{effective: onDay(10), kind: line.ClaimPort, network: harmattan, text: "Harmattan Mobile claims the number. Without a release the claim has no effect."},
			{effective: onDay(12), kind: line.ReleasePort, peer: harmattan, text: "Savanna Mobile releases the number: it is ported."},
			{effective: onDay(12), kind: line.Port, authority: line.Operator, peer: harmattan},
			{effective: onDay(60), kind: line.Park, network: harmattan, text: "The holder goes abroad and has the line parked."},
			{effective: onDay(150), kind: line.Use, network: harmattan, text: "The holder is back."},
			{effective: onDay(200), kind: line.Port, peer: savanna, text: "The clearing house ports the number back to Savanna Mobile."},
			{effective: onDay(385), kind: line.Deactivate, text: "The line has not been used for 180 days."},
			{effective: onDay(395), kind: line.Use, text: "The line is used again."},
		},
	},
	{
		digits: 92, IsScenario: true, network: savanna, Title: "Suspected fraud: flagged, barred, cleared, blacklisted, and a new holder without flags.",
		events: []scriptedEvent{
			{effective: onDay(-1000), kind: line.Assign, text: "The line has had the same holder for years."},
			{effective: onDay(5), kind: line.Flag, code: line.LevelMedium, supplier: bankingRegulator, text: "The banking regulator flags the line, level MEDIUM."},
			{effective: onDay(15), kind: line.Flag, code: line.LevelVeryHigh, supplier: crimesCommission, text: "Another regulator flags the line, level VERY_HIGH."},
			{effective: onDay(25), kind: line.Bar, code: line.ReasonFraud, text: "The operator bars the line."},
			{effective: onDay(40), kind: line.Unbar, text: "The operator lifts the bar. The flags are still active."},
			{effective: onDay(130), kind: line.Flag, code: line.LevelHigh, supplier: bankingRegulator, text: "The line is flagged again, level HIGH."},
			{effective: onDay(140), kind: line.Unflag, supplier: bankingRegulator, text: "The holder disputed the flag, and the regulator withdraws it."},
			{effective: onDay(160), kind: line.Blacklist, text: "The regulator blacklists the number."},
			{effective: onDay(170), kind: line.End, code: line.ReasonSurrendered, text: "The holder surrenders the number."},
			{effective: onDay(260), kind: line.Assign, text: "The operator assigns the number again. While it is blacklisted, that has no effect."},
			{effective: onDay(280), kind: line.Release, text: "The regulator releases the number."},
			{effective: onDay(300), kind: line.Assign, text: "The number is assigned to a new holder, without flags or bars."},
		},
	},
	{
		digits: 93, IsScenario: true, network: savanna, Title: "Stale supply: the operator stops supplying and reports a past SIM change later; on one day the service itself is unavailable.",
		supplyGap: dayRange{10, 60}, outage: dayRange{100, 101},
		events: []scriptedEvent{
			{effective: onDay(-1000), kind: line.Assign, text: "The line has had the same holder for years."},
			{effective: onDay(10), text: "The operator stops supplying at noon. Its last supply still counts for a while."},
			{effective: onDay(55), reported: onDay(60), kind: line.ChangeSIM, text: "The operator supplies again, and reports that the SIM was changed on day 55. The report is late; SWAPPED counts from day 55."},
			{effective: onDay(100), text: "The service is unavailable for one day: 503."},
			{effective: onDay(101), text: "The service is available again."},
		},
	},
	{
		digits: 94, IsScenario: true, network: harmattan, Title: "A new range: allocated, assigned, ended by mistake, reinstated.", allocated: onDay(30),
		events: []scriptedEvent{
			{effective: onDay(0), text: "The number's range is not allocated to any network."},
			{effective: onDay(30), text: "The regulator allocates the range to Harmattan Mobile."},
			{effective: onDay(60), kind: line.Assign, text: "The number is assigned to its first holder."},
			{effective: onDay(200), kind: line.End, code: line.ReasonSurrendered, text: "The operator reports that the holder surrendered the number."},
			{effective: onDay(220), kind: line.Reinstate, text: "That was a mistake: the holder gets the number back."},
		},
	},
}
