package portal

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/supply"
)

const numbersPath = "/portal/desk/numbers"

// looksShown is how many earlier look-ups of a number are shown.
const looksShown = 10

// deskNumberRoutes are the pages about the life of a number.
func (p *Portal) deskNumberRoutes() []route {
	return []route{
		{method: http.MethodGet, path: numbersPath, who: staff, serve: p.showNumbers},
		{method: http.MethodPost, path: numbersPath, who: staff, serve: p.lookUpNumber},
	}
}

var numbersPage = view.Page{Title: "A number's life", Lead: "Everything that was told about a number, by whom, and what was known when. Every look-up is written into the audit trail before it is shown.", Active: numbersPath}

// showNumbers serves GET /portal/desk/numbers.
func (p *Portal) showNumbers(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, numbersPage, view.NumberPage(view.NumberData{}))
}

// lookUpNumber serves POST /portal/desk/numbers. The result is the answer itself,
// so that no number stands in an address.
func (p *Portal) lookUpNumber(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), visitOf(r)
	reading := supply.Reading{By: v.who.Actor(), Reason: oneLine(r.PostFormValue("reason")), Request: v.id}
	q, err := p.readLookUp(r, reading.Reason)
	var past supply.Past
	if err == nil {
		past, err = p.Lines.LookUp(ctx, q, reading)
	}
	if form, wrong := formOf(r, err); wrong {
		return p.showAgain(w, r, err, numbersPage, view.NumberPage(view.NumberData{Form: form}))
	}
	if err != nil {
		return err
	}
	looks, err := p.Lines.LookUps(ctx, q.Number, looksShown)
	if err != nil {
		return err
	}
	names, err := p.trailCast(r, looks)
	if err != nil {
		return err
	}
	rules, err := p.lineRules(r)
	if err != nil {
		return err
	}
	life := lifeOf(&past, rules.plan, p.Now())
	life.Number, life.AsOf, life.KnownAt = q.Number.E164(), q.AsOf, q.KnownAt
	for i := range looks {
		why, _ := looks[i].After["reason"].(string)
		life.Looks = append(life.Looks, view.LookRow{By: names.name(looks[i].Actor), Reason: why, At: looks[i].At})
	}
	return p.show(w, r, numbersPage, view.NumberPage(view.NumberData{Form: view.Form{Values: r.PostForm}, Life: &life, Now: p.Now()}))
}

// readLookUp reads which number is meant, and of when.
func (p *Portal) readLookUp(r *http.Request, reason string) (q supply.PastQuery, err error) {
	var wrong fault.Form
	text := strings.TrimSpace(r.PostFormValue("phoneNumber"))
	number, err := p.Region.ParseMobile(text)
	wrong.Check(text != "", "phoneNumber", fault.Required, "Give the phone number to look up.")
	wrong.Check(text == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat, "Write a phone number, for example +2348031234567 or 08031234567.")
	wrong.Check(text == "" || err == nil || errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.NotAllowed, "This is not a mobile number of this country.")
	audit.CheckReason(&wrong, "reason", reason)
	q.Number = number
	const form = "Write a time as 2026-01-31T08:00, or a date as 2026-01-31."
	var ok bool
	q.AsOf, ok = parseField(r.PostFormValue("asOf"))
	wrong.Check(ok, "asOf", fault.BadFormat, form)
	q.KnownAt, ok = parseField(r.PostFormValue("knownAt"))
	wrong.Check(ok, "knownAt", fault.BadFormat, form)
	return q, wrong.Err()
}

// parseField reads what a field for a time holds, in UTC. An empty one is the
// zero time.
func parseField(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// lifeOf puts a past into words, the newest first.
func lifeOf(past *supply.Past, plan *numbering.Plan, now time.Time) view.Life {
	life := view.Life{
		Status: string(past.Status), Tone: toneOf(string(past.Status)), Reason: string(past.Reason), Network: networkName(plan, past.Network),
	}
	for i := range past.Tenures {
		t := &past.Tenures[i]
		life.Tenures = append(life.Tenures, view.TenureRow{
			Number: i + 1, Network: networkName(plan, t.Network), State: t.State, EndReason: t.EndReason, Start: t.Start, End: t.End, EndedAfter: t.EndedAfter,
			Runs: t.End.IsZero(),
		})
	}
	for i := range past.Events {
		life.Events = append(life.Events, eventRow(&past.Events[i], plan))
	}
	life.Arrange(now)
	return life
}

// networkName is what the network with a code is called today.
func networkName(plan *numbering.Plan, code string) string {
	if n, ok := plan.Network(code); ok {
		return plan.Name(n)
	}
	return cmp.Or(code, line.UnknownNetwork)
}

// outcomeWords say what became of something that was told.
var outcomeWords = map[string]string{
	supply.Applied: "It counts", supply.NoEffect: "It is kept, and changes nothing", supply.Conflict: "It waits for the other half of the port",
}

var sourceWords = map[string]string{
	line.Operator.String(): "Operator", line.ClearingHouse.String(): "The clearing house", line.Sector.String(): "A sector regulator", line.Regulator.String(): "The regulator",
}

func eventRow(e *supply.PastEvent, plan *numbering.Plan) view.EventRow {
	told, by := eventWords[e.Type], sourceWords[e.Source]
	if e.Network != "" {
		by += " " + networkName(plan, e.Network)
	}
	row := view.EventRow{
		Seq: e.Seq, ID: e.ID, Title: cmp.Or(told.words, e.Type), Type: e.Type, Tone: cmp.Or(told.tone, view.Neutral), By: strings.TrimSpace(by),
		Peer: e.Peer, Code: e.Code, Note: e.Note, Effective: e.EffectiveAt, Told: e.ToldAt, Churn: e.ChurnAt, Withdrawn: e.Voided, Withdraws: e.Voids,
		Outcome: cmp.Or(outcomeWords[e.Outcome], e.Outcome),
	}
	if e.Import != uuid.Nil {
		row.Import = e.Import.String()
	}
	return row
}

// eventWords are the kinds of event as people say them.
var eventWords = map[string]struct {
	words string
	tone  view.Tone
}{
	"ASSIGNED": {"Given to a holder", view.Info}, "SIM_CHANGED": {"SIM changed", view.Warn}, "BARRED": {"Barred", view.Bad}, "UNBARRED": {"Bar lifted", view.Good},
	"CHURN_NOTICE": {"Churn announced", view.Warn}, "PARKED": {"Parked by its holder", view.Neutral}, "RETURNED": {"Holder is back", view.Good},
	"INACTIVE": {"Inactive", view.Neutral}, "USED": {"Used again", view.Good}, "ENDED": {"Tenure ended", view.Warn}, "REINSTATED": {"Given back to its holder", view.Good},
	"PORT_CLAIMED": {"Port claimed by the recipient", view.Info}, "PORT_RELEASED": {"Port released by the donor", view.Info}, "PORTED": {"Ported", view.Info},
	"FLAGGED": {"Flagged for fraud", view.Bad}, "UNFLAGGED": {"Flag lifted", view.Good}, "BLACKLISTED": {"Blacklisted", view.Bad}, "RELEASED": {"Released from the blacklist", view.Good},
	"VOIDED": {"An earlier event withdrawn", view.Warn},
}
