package portal

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// The three things that an answer can ask for.
const (
	allow  = "Allow"
	stepUp = "Step up"
	refuse = "Refuse"
)

var tones = map[string]view.Tone{allow: view.Good, stepUp: view.Warn, refuse: view.Bad}

// advice is what an integrator should do about each status, the most frequent
// first.
var advice = []struct {
	status         line.Status
	do, means, why string
	another        string
}{
	{line.Normal, allow, "Somebody has the number, and nothing speaks against it.", "Go on.", ""},
	{line.Swapped, stepUp, "The SIM was changed a short time ago.", "A code sent to the number may reach a thief. Ask for something else.", "The window ends by itself; signals show when."},
	{line.Ported, stepUp, "The number moved to another network a short time ago.", "A port brings a new SIM: as with SWAPPED.", ""},
	{line.Recycled, stepUp, "The number has a new holder since a short time.", "Was the number given to you before that? Then it is somebody else's now: send nothing personal, and let the customer name another.", "Send the field “since” to know."},
	{line.Unknown, stepUp, "We cannot say: nobody has supplied the line, or not for too long.", "Treat it as no answer at all.", ""},
	{line.PendingChurn, stepUp, "The holder was told that the number will be withdrawn.", "It is still theirs. Ask them for another number while they can be reached.", ""},
	{line.Inactive, stepUp, "The line has not been used for long.", "A message may reach nobody. Ask in another way.", ""},
	{line.Parked, stepUp, "The line is kept unused, at its holder's wish.", "A message would not arrive. Ask in another way.", ""},
	{line.Flagged, stepUp, "A sector's regulator suspects the holder of fraud.", "At the level HIGH or VERY_HIGH refuse; at MEDIUM step up and look closely.", "Ask for signals to see the level."},
	{line.Barred, refuse, "The service of the line is stopped.", "Whoever claims to use it now does not.", ""},
	{line.Quarantined, refuse, "The last holder is gone, and nobody has the number yet.", "Take the number out of the customer's record.", ""},
	{line.Blacklisted, refuse, "The regulator has confirmed that the number is misused.", "Have somebody look at the case.", ""},
	{line.Unallocated, refuse, "Nobody has the number.", "It was mistyped or made up.", ""},
}

// trouble is what an integrator should do where there is no answer.
var trouble = []view.Advice{
	{Word: "503", Do: stepUp, Means: "The service cannot answer now, or did not answer in time.", Why: "Step up at once, and ask again after Retry-After. Never silently allow."},
	{Word: "500", Do: stepUp, Means: "Something broke in the service.", Why: "As with 503. Report the requestId if it stays."},
	{Word: "429", Do: stepUp, Means: "You ask too fast, or a quota is used up.", Why: "Step up, and wait as long as Retry-After says."},
	{Word: "422", Do: stepUp, Means: "It is not a mobile number of this country, or not a test number.", Why: "This service has nothing to say about it. Check the number in another way."},
	{Word: "401", Do: stepUp, Means: "The key is wrong, has ended, or may not be used from there.", Why: "Have somebody look at the key, soon: meanwhile nothing is verified."},
	{Word: "400", Do: stepUp, Means: "The request is wrong.", Why: "Correct the fields that “violations” lists. Asking again does not help."},
}

// showAnswers serves GET /portal/guide/answers.
func (p *Portal) showAnswers(w http.ResponseWriter, r *http.Request) error {
	var d view.AnswersData
	for _, a := range advice {
		d.Statuses = append(d.Statuses, view.Advice{Word: string(a.status), Do: a.do, Tone: tones[a.do], Means: a.means, Why: a.why, Another: a.another})
	}
	d.Statuses = append(d.Statuses, view.Advice{
		Word: "…", Do: stepUp, Tone: tones[stepUp], Means: "Any other word: words may be added.", Why: "Treat one that you do not know as not NORMAL.",
	})
	for _, a := range trouble {
		a.Tone = tones[a.Do]
		d.Errors = append(d.Errors, a)
	}
	return p.show(w, r, view.Page{Title: "What to do with an answer", Lead: "For whoever builds verify into an application."}, view.Answers(d))
}

// toneOf is how a status stands in a list.
func toneOf(status string) view.Tone {
	for _, a := range advice {
		if string(a.status) == status {
			return tones[a.do]
		}
	}
	return view.Warn
}
