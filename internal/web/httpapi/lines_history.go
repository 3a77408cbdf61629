package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/staffaccess"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

type historyResponse struct {
	Status        string         `json:"status"`
	StatusReason  string         `json:"statusReason,omitzero"`
	MobileNetwork string         `json:"mobileNetwork"`
	Tenures       []tenure       `json:"tenures"`
	Events        []historyEvent `json:"events"`
}

type tenure struct {
	Network    string  `json:"network"`
	Start      *string `json:"start"`
	End        *string `json:"end"`
	EndedAfter *string `json:"endedAfter"`
	State      string  `json:"state"`
	EndReason  string  `json:"endReason,omitzero"`
}

type historyEvent struct {
	Event       string  `json:"event"`
	ID          string  `json:"id,omitzero"`
	Type        string  `json:"type"`
	Source      string  `json:"source"`
	Network     string  `json:"network,omitzero"`
	Peer        string  `json:"peer,omitzero"`
	Code        string  `json:"code,omitzero"`
	Note        string  `json:"note,omitzero"`
	EffectiveAt string  `json:"effectiveAt"`
	ToldAt      string  `json:"toldAt"`
	ChurnAt     *string `json:"churnAt,omitzero"`
	Result      string  `json:"result"`
	Reason      string  `json:"reason,omitzero"`
	Held        string  `json:"held,omitzero"`
	Voided      bool    `json:"voided"`
	Voids       string  `json:"voids,omitzero"`
	ImportID    string  `json:"importId,omitzero"`
}

// showHistory serves POST /api/v1/lines/history. It is a POST so that no phone
// number is in a URL, which logs and proxies keep.
func (a *API) showHistory(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who := principal(ctx)
	q, reason, err := a.readHistoryQuery(r, who.Kind == access.Session)
	if err != nil {
		return err
	}
	if q.Network, err = operatorOf(who); err != nil {
		return supply.ErrNoHistory // a client without a network has no numbers
	}
	var past supply.History
	if who.Kind == access.Session {
		why := staffaccess.Access{Budget: a.People.Lookups(), By: who.Actor(), Reason: reason, Request: requestID(ctx)}
		past, err = a.Lines.StaffLookup(ctx, q, why)
	} else {
		past, err = a.Lines.History(ctx, q)
	}
	if err != nil {
		return err
	}
	return a.respond(w, r, historyOf(past))
}

// readHistoryQuery reads the number and, for staff, the times and the reason.
func (a *API) readHistoryQuery(r *http.Request, staff bool) (q supply.HistoryQuery, reason string, err error) {
	var sent, asOf, knownAt string
	var hasAsOf, hasKnownAt, hasReason bool
	found, err := decode(r, field{name: "phoneNumber", text: &sent},
		field{name: "asOf", text: &asOf, present: &hasAsOf}, field{name: "knownAt", text: &knownAt, present: &hasKnownAt},
		field{name: "reason", text: &reason, present: &hasReason})
	if err != nil {
		return q, reason, err
	}
	if (hasAsOf || hasKnownAt || hasReason) && !staff {
		return q, reason, access.ErrPermission
	}
	var wrong fault.Form
	number, notMobile := a.Region.ParseMobile(sent)
	wrong.Check(sent != "", "phoneNumber", fault.Required, "Enter a phone number.")
	wrong.Check(sent == "" || !errors.Is(notMobile, phone.ErrMalformed), "phoneNumber", fault.BadFormat, phoneNumberHint)
	if staff {
		audit.CheckReason(&wrong, "reason", reason)
	}
	zone, err := a.dayZone(r.Context(), asOf, knownAt)
	if err != nil {
		return q, reason, err
	}
	var ok bool
	if hasAsOf {
		q.AsOf, ok = parseTimeIn(asOf, zone)
		wrong.Check(ok, "asOf", fault.BadFormat, timeHint)
	}
	if hasKnownAt {
		q.KnownAt, ok = parseTimeIn(knownAt, zone)
		wrong.Check(ok, "knownAt", fault.BadFormat, timeHint)
	}
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return q, reason, err
	}
	if notMobile != nil {
		return q, reason, errNotMobile
	}
	q.Number = number
	return q, reason, nil
}

func historyOf(p supply.History) historyResponse {
	answer := historyResponse{
		Status: string(p.Status), StatusReason: string(p.Reason), MobileNetwork: cmp.Or(p.Network, line.UnknownNetwork),
		Tenures: make([]tenure, len(p.Tenures)), Events: make([]historyEvent, len(p.Events)),
	}
	for i, t := range p.Tenures {
		answer.Tenures[i] = tenure{
			Network: cmp.Or(t.Network, line.UnknownNetwork), Start: stampOrNull(t.Start), End: stampOrNull(t.End), EndedAfter: stampOrNull(t.EndedAfter),
			State: t.State, EndReason: t.EndReason,
		}
	}
	for i, e := range p.Events {
		answer.Events[i] = historyEvent{
			Event: strconv.FormatInt(e.Seq, 10), ID: e.ID, Type: e.Type, Source: e.Source, Network: e.Network, Peer: e.Peer, Code: e.Code,
			Note: e.Note, EffectiveAt: stamp(e.EffectiveAt), ToldAt: stamp(e.ReportedAt), ChurnAt: stampOrNull(e.ChurnAt), Result: e.Outcome, Reason: e.Reason, Held: e.Held,
			Voided: e.Voided,
		}
		if e.Voids != 0 {
			answer.Events[i].Voids = strconv.FormatInt(e.Voids, 10)
		}
		if e.Import != uuid.Nil {
			answer.Events[i].ImportID = e.Import.String()
		}
	}
	return answer
}
