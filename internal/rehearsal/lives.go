package rehearsal

import "github.com/lineproof/lineproof/internal/line"

// The sector regulators that flag.
const (
	banks  int32 = 1 + iota // the regulator of the banks
	police                  // financial crimes
)

// lives are the lines that change with the test clock. Every day and every
// sentence is in the documentation, and integrators build tests on them: add to
// them, and change nothing.
var lives = []Role{
	{
		digits: 90, Life: true, network: savanna, Title: "From one holder to the next: activation, swap, churn, recycling.",
		told: []told{
			{at: onDay(0), kind: line.Assign, text: "The number is given to its first holder."},
			{at: onDay(20), kind: line.ChangeSIM, text: "The holder gets another SIM."},
			{at: onDay(205), kind: line.Deactivate, text: "The line has not been used for 180 days."},
			{at: onDay(215), kind: line.GiveNotice, until: onDay(235), text: "The holder is told that the line will churn on day 235."},
			{at: onDay(236), kind: line.End, code: line.ReasonChurned, text: "The operator reports the churn."},
			{at: onDay(330), kind: line.Assign, text: "The number is given to somebody else."},
			{at: onDay(350), kind: line.ChangeSIM, text: "The new holder gets another SIM."},
		},
	},
	{
		digits: 91, Life: true, network: savanna, Title: "One holder who travels: ported by halves, parked, ported back.",
		told: []told{
			{at: onDay(-1000), kind: line.Assign, text: "The line has had one holder for years."},
			{at: onDay(10), kind: line.ClaimPort, network: harmattan, text: "Harmattan Mobile claims the number. Alone that changes nothing."},
			{at: onDay(12), kind: line.ReleasePort, peer: harmattan, text: "Savanna Mobile lets it go: the number moves."},
			{at: onDay(60), kind: line.Park, network: harmattan, text: "The holder goes abroad and has the line parked."},
			{at: onDay(150), kind: line.Return, network: harmattan, text: "The holder is back."},
			{at: onDay(200), kind: line.Port, peer: savanna, text: "The clearing house moves the number back to Savanna Mobile."},
			{at: onDay(385), kind: line.Deactivate, text: "The line has not been used for 180 days."},
			{at: onDay(395), kind: line.Use, text: "The line is used again."},
		},
	},
	{
		digits: 92, Life: true, network: savanna, Title: "Suspicion: flagged, barred, cleared, blacklisted, and a new holder who is not to blame.",
		told: []told{
			{at: onDay(-1000), kind: line.Assign, text: "The line has had one holder for years."},
			{at: onDay(5), kind: line.Flag, code: line.LevelMedium, supplier: banks, text: "The regulator of the banks flags it, at the level MEDIUM."},
			{at: onDay(15), kind: line.Flag, code: line.LevelVeryHigh, supplier: police, text: "Another regulator flags it, at the level VERY_HIGH."},
			{at: onDay(25), kind: line.Bar, code: line.ReasonFraud, text: "The operator stops its service."},
			{at: onDay(40), kind: line.Unbar, text: "The operator lets it work again. The flags still hold."},
			{at: onDay(130), kind: line.Flag, code: line.LevelHigh, supplier: banks, text: "It is flagged once more, at the level HIGH."},
			{at: onDay(140), kind: line.Unflag, supplier: banks, text: "The holder disputed the flag, and it is taken back."},
			{at: onDay(160), kind: line.Blacklist, text: "The regulator blacklists the number."},
			{at: onDay(170), kind: line.End, code: line.ReasonSurrendered, text: "The holder gives it up."},
			{at: onDay(260), kind: line.Assign, text: "The operator tries to sell it again. While it is blacklisted that has no effect."},
			{at: onDay(280), kind: line.Release, text: "The regulator releases the number."},
			{at: onDay(300), kind: line.Assign, text: "It is given to a new holder, without flag and bar."},
		},
	},
	{
		digits: 93, Life: true, network: savanna, Title: "Silence: the operator stops supplying, and what it tells later changes the past; one day the service itself is away.",
		silence: span{10, 60}, outage: span{100, 101},
		told: []told{
			{at: onDay(-1000), kind: line.Assign, text: "The line has had one holder for years."},
			{at: onDay(10), text: "The operator falls silent. For some time its last word still counts."},
			{at: onDay(55), heard: onDay(60), kind: line.ChangeSIM, text: "The operator supplies again, and tells that the SIM was changed on day 55."},
			{at: onDay(100), text: "For one day the service cannot answer: 503."},
			{at: onDay(101), text: "The service is back."},
		},
	},
	{
		digits: 94, Life: true, network: harmattan, Title: "A new range: allocated, sold, given up by mistake, given back.", allocated: onDay(30),
		told: []told{
			{at: onDay(0), text: "Nobody holds the range of the number."},
			{at: onDay(30), text: "The regulator gives the range to Harmattan Mobile."},
			{at: onDay(60), kind: line.Assign, text: "The number is given to its first holder."},
			{at: onDay(200), kind: line.End, code: line.ReasonSurrendered, text: "The holder is said to have given it up."},
			{at: onDay(220), kind: line.Reinstate, text: "It was a mistake: the holder gets the number back."},
		},
	},
}
