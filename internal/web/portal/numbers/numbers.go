package numbers

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

const numbersPath = "/portal/desk/numbers"

// lookupsShown is how many earlier look-ups of a number are listed.
const lookupsShown = 10

// numberRoutes are the pages about the history of a number.
func (p *Pages) numberRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodGet, Path: numbersPath, Right: portal.Staff, Serve: p.showNumbers},
		{Method: http.MethodPost, Path: numbersPath, Right: portal.Staff, Action: stepup.LookUp, Serve: p.lookUp},
	}
}

var numbersPage = kit.Page{Title: "Number history", Lead: "Everything that was reported about a number, by whom and when. Every look-up is recorded in the audit trail before it is shown.", Active: numbersPath}

// showNumbers serves GET /portal/desk/numbers.
func (p *Pages) showNumbers(w http.ResponseWriter, r *http.Request) error {
	return p.Show(w, r, numbersPage, NumberPage(NumberData{}))
}

// lookUp serves POST /portal/desk/numbers. The result is shown in this
// response, so that no number is in an address.
func (p *Pages) lookUp(w http.ResponseWriter, r *http.Request) error {
	ctx, v := r.Context(), portal.VisitOf(r)
	reason := p.LookUp(r, portal.OneLine(r.PostFormValue("reason")))
	q, err := p.readLookup(r, reason.Reason)
	var found supply.History
	if err == nil {
		found, err = p.Lines.StaffLookup(ctx, q, reason)
	}
	if form, invalid := portal.FormErrors(r, err); invalid {
		return p.ShowInvalid(w, r, err, numbersPage, NumberPage(NumberData{Form: form}))
	}
	if err != nil {
		return err
	}
	lookups, err := p.Lines.StaffLookups(ctx, q.Number, lookupsShown)
	if err != nil {
		return err
	}
	var actors []audit.Actor
	for i := range lookups {
		actors = append(actors, lookups[i].Actor)
	}
	names, err := p.NamesOf(ctx, actors)
	if err != nil {
		return err
	}
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	end := p.Now().UTC()
	if !q.AsOf.IsZero() {
		end = q.AsOf
	}
	history := newHistory(&found, rules.Plan, v.Has(portal.Decider), end, p.Now())
	history.Number, history.AsOf, history.KnownAt, history.LookupReason = q.Number.E164(), q.AsOf, q.KnownAt, reason.Reason
	if history.Orders, err = p.orderRows(r, q); err != nil {
		return err
	}
	if v.Has(portal.Administrator) {
		form := p.askedForm(kit.Form{}, history.Number, reason.Reason)
		history.Asked = &form
	}
	for i := range lookups {
		why, _ := lookups[i].After["reason"].(string)
		history.Lookups = append(history.Lookups, LookupRow{By: names.Name(lookups[i].Actor), Reason: why, At: lookups[i].At})
	}
	return p.Show(w, r, numbersPage, NumberPage(NumberData{Form: kit.Form{Values: r.PostForm}, History: &history, Now: p.Now()}))
}

// readLookup reads the number to look up, and as of which time.
func (p *Pages) readLookup(r *http.Request, reason string) (q supply.HistoryQuery, err error) {
	var wrong fault.Form
	text := strings.TrimSpace(r.PostFormValue("phoneNumber"))
	number, err := p.Region.ParseMobile(text)
	wrong.Check(text != "", "phoneNumber", fault.Required, "Enter the phone number to look up.")
	wrong.Check(text == "" || !errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.BadFormat, "Write a phone number, for example +2348031234567 or 08031234567.")
	wrong.Check(text == "" || err == nil || errors.Is(err, phone.ErrMalformed), "phoneNumber", fault.NotAllowed, "This is not a mobile number of this country.")
	audit.CheckReason(&wrong, "reason", reason)
	q.Number = number
	for _, field := range []struct {
		name string
		to   *time.Time
	}{{"asOf", &q.AsOf}, {"knownAt", &q.KnownAt}} {
		if text := r.PostFormValue(field.name); text != "" {
			var ok bool
			*field.to, ok = web.ParseFormTime(text)
			wrong.Check(ok, field.name, fault.BadFormat, "Write a time as 2026-01-31T08:00, or a date as 2026-01-31.")
		}
	}
	return q, wrong.Err()
}

// newHistory returns a number's history as rows, the newest first. With decides, it
// has the orders that the visitor can give. Its picture ends at a time.
func newHistory(h *supply.History, plan *numbering.Plan, decides bool, end, now time.Time) NumberHistory {
	d := NumberHistory{
		Status: string(h.Status), Tone: kit.StatusTone(string(h.Status)), Reason: string(h.Reason), Network: networkName(plan, h.Network),
	}
	for i := range h.Tenures {
		t := &h.Tenures[i]
		d.Tenures = append(d.Tenures, TenureRow{
			Number: i + 1, Network: networkName(plan, t.Network), State: t.State, EndReason: t.EndReason, Start: t.Start, End: t.End, EndedAfter: t.EndedAfter,
			Current: t.End.IsZero(),
		})
	}
	for i := range h.Events {
		row := eventRow(&h.Events[i], plan)
		row.Open = h.Events[i].Outcome == supply.Waiting
		row.CanVoid = decides && !row.Withdrawn && row.Type != line.Void.String() && row.Type != line.Confirm.String()
		row.CanConfirm = decides && h.Events[i].Outcome == supply.Waiting && h.Events[i].Held != ""
		d.Events = append(d.Events, row)
	}
	if decides {
		d.Actions = orderActions(h, d.Events)
	}
	d.Picture = pictureOf(h, d.Events, plan, end)
	d.Arrange(now)
	return d
}

// networkName returns the current name of a network.
func networkName(plan *numbering.Plan, code string) string {
	if n, ok := plan.Network(code); ok {
		return plan.Name(n)
	}
	return cmp.Or(code, line.UnknownNetwork)
}

// outcomeNames describe the outcome of a reported event.
var outcomeNames = map[string]string{
	supply.Applied: "Applied", supply.NoEffect: "Stored without effect", supply.Waiting: "Waiting for the regulator's confirmation",
}

// reasonNames describe outcomes whose reason says more.
var reasonNames = map[string]string{
	"HALF_PORT": "Waiting for the other half of the port", "NOT_SERVING": "Waiting for the port to this network",
	"PORTED": "Gave way to a port",
}

var sourceNames = map[string]string{
	line.Operator.String(): "Operator", line.ClearingHouse.String(): "The clearing house", line.Sector.String(): "A sector regulator", line.Regulator.String(): "The regulator",
}

func eventRow(e *supply.HistoryEvent, plan *numbering.Plan) EventRow {
	name, by := eventNames[e.Type], sourceNames[e.Source]
	if e.Network != "" {
		by += " " + networkName(plan, e.Network)
	}
	row := EventRow{
		Seq: e.Seq, ID: e.ID, Title: cmp.Or(name.text, e.Type), Type: e.Type, Tone: cmp.Or(name.tone, kit.Neutral), By: strings.TrimSpace(by),
		Peer: e.Peer, Code: e.Code, Note: e.Note, Effective: e.EffectiveAt, Reported: e.ReportedAt, Churn: e.ChurnAt, Withdrawn: e.Voided, Withdraws: e.Voids,
		Outcome: cmp.Or(reasonNames[e.Reason], outcomeNames[e.Outcome], e.Outcome),
	}
	if e.Type == line.Confirm.String() {
		row.Withdraws, row.Outcome = 0, "Event "+strconv.FormatInt(e.Voids, 10)+" counts"
	}
	if e.Import != uuid.Nil {
		row.Import = e.Import.String()
	}
	return row
}

// eventNames are the names of the types of events.
var eventNames = map[string]struct {
	text string
	tone kit.Tone
}{
	"ASSIGNED": {"Assigned to a holder", kit.Info}, "SIM_CHANGED": {"SIM changed", kit.Warn}, "BARRED": {"Barred", kit.Bad}, "UNBARRED": {"Bar lifted", kit.Good},
	"CHURN_NOTICE": {"Churn announced", kit.Warn}, "PARKED": {"Parked by its holder", kit.Neutral},
	"INACTIVE": {"Inactive", kit.Neutral}, "USED": {"Used again", kit.Good}, "ENDED": {"Tenure ended", kit.Warn}, "REINSTATED": {"Returned to its holder", kit.Good},
	"PORT_CLAIMED": {"Port claimed by the recipient", kit.Info}, "PORT_RELEASED": {"Port released by the donor", kit.Info}, "PORTED": {"Ported", kit.Info},
	"FLAGGED": {"Flagged for fraud", kit.Bad}, "UNFLAGGED": {"Flag lifted", kit.Good}, "BLACKLISTED": {"Blacklisted", kit.Bad}, "RELEASED": {"Released from the blacklist", kit.Good},
	"VOIDED": {"An earlier event withdrawn", kit.Warn}, "TRANSFERRED": {"Transferred to a new holder", kit.Info}, "CONFIRMED": {"A held event confirmed", kit.Info},
	"RESTATED": {"Said by a later snapshot", kit.Info},
}
