package keys

import (
	"net/http"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// advice explains each status to an integrator, the most frequent first.
var advice = []struct {
	status     line.Status
	means, why string
	another    string
}{
	{line.Normal, "The number has a holder, and there is no warning about it.", "Continue.", ""},
	{line.Swapped, "The SIM was changed a short time ago.", "A code sent to the number may reach a thief. Verify the customer in another way.", "The window ends by itself; signals show when."},
	{line.Ported, "The number moved to another network a short time ago.", "A port brings a new SIM: as with SWAPPED.", ""},
	{line.Recycled, "The number was given to a new holder a short time ago.", "If your customer had the number before that, it now belongs to somebody else: send nothing personal, and ask the customer for another number.", "Send the field “since” to know."},
	{line.Unknown, "The service does not know: the line was never supplied, or not for too long.", "Treat it as no answer at all.", ""},
	{line.PendingChurn, "The holder was notified that the number will be withdrawn.", "It is still theirs. Ask them for another number while they can be reached.", ""},
	{line.Inactive, "The line has not been used for a long time.", "A message may reach nobody. Verify the customer in another way.", ""},
	{line.Parked, "The line is kept unused, as its holder requested.", "A message would not arrive. Verify the customer in another way.", ""},
	{line.Flagged, "A sector's regulator suspects the holder of fraud.", "Refuse at the level HIGH or VERY_HIGH; at MEDIUM step up and check closely.", "Request signals to see the level."},
	{line.Barred, "The service of the line is stopped.", "A person who claims to use it now does not.", ""},
	{line.Quarantined, "The last holder no longer has the number, and there is no new holder yet.", "Remove the number from the customer's record.", ""},
	{line.Blacklisted, "The regulator has confirmed that the number is misused.", "Have the case reviewed by a person.", ""},
	{line.Unallocated, "The number is not in use: it was never assigned.", "It was mistyped or made up.", ""},
}

// errorAdvice explains to an integrator what to do when there is no answer.
var errorAdvice = []Advice{
	{Word: "503", Meaning: "The service is unavailable, or did not answer in time.", Why: "Step up at once, and retry after Retry-After. Never silently allow."},
	{Word: "500", Meaning: "Something failed in the service.", Why: "As with 503. Report the requestId if it persists."},
	{Word: "429", Meaning: "You send requests too fast, or a quota is used up.", Why: "Step up, and wait as long as Retry-After says."},
	{Word: "422", Meaning: "It is not a mobile number of this country, or not a test number.", Why: "This service has no information about it. Check the number in another way."},
	{Word: "401", Meaning: "The key is wrong, has expired, was revoked, or may not be used from this network.", Why: "Have the key checked soon: until then nothing is verified."},
	{Word: "400", Meaning: "The request is invalid.", Why: "Correct the fields that “violations” lists. A retry does not help."},
}

// showAnswers serves GET /portal/guide/answers.
func (p *Pages) showAnswers(w http.ResponseWriter, r *http.Request) error {
	var d AnswersData
	for _, a := range advice {
		word := string(a.status)
		d.Statuses = append(d.Statuses, Advice{Word: word, Do: kit.ActionFor(word), Tone: kit.StatusTone(word), Meaning: a.means, Why: a.why, Remark: a.another})
	}
	stepUp := kit.ActionTones[kit.StepUp]
	d.Statuses = append(d.Statuses, Advice{
		Word: "…", Do: kit.StepUp, Tone: stepUp, Meaning: "Any other status: new ones may be added.", Why: "Treat a status that you do not know as not NORMAL.",
	})
	for _, a := range errorAdvice {
		a.Do, a.Tone = kit.StepUp, stepUp
		d.Errors = append(d.Errors, a)
	}
	return p.Show(w, r, kit.Page{Title: "Status guide", Lead: "What to do with each status, for developers who build verification into an application."}, Answers(d))
}
