package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
	defaultConflicts = 50 // the default for limit
	maxConflicts     = 200
)

type conflictsResponse struct {
	Conflicts []conflict `json:"conflicts"`
	Next      *string    `json:"next"`
}

type conflict struct {
	Event       string `json:"event"`
	PhoneNumber string `json:"phoneNumber"`
	Type        string `json:"type"`
	ID          string `json:"id,omitzero"`
	Source      string `json:"source"`
	Network     string `json:"network,omitzero"`
	Recipient   string `json:"recipient,omitzero"`
	Holder      string `json:"holder,omitzero"`
	EffectiveAt string `json:"effectiveAt"`
	ReportedAt  string `json:"reportedAt"`
	Result      string `json:"result"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	Status      string `json:"status"`
	IfConfirmed string `json:"ifConfirmed,omitzero"`
}

// listConflicts serves GET /api/v1/lines/conflicts.
func (a *API) listConflicts(w http.ResponseWriter, r *http.Request) error {
	q, err := a.readConflictQuery(r)
	if err != nil {
		return err
	}
	limit := q.Limit
	q.Limit++ // one more shows whether there is a next page
	list, err := a.Lines.OpenEvents(r.Context(), q)
	if err != nil {
		return err
	}
	var answer conflictsResponse
	if len(list) > limit {
		list = list[:limit]
		next := cursorAfter(&list[limit-1])
		answer.Next = &next
	}
	answer.Conflicts = make([]conflict, len(list))
	for i := range list {
		answer.Conflicts[i] = conflictOf(&list[i])
	}
	return a.respond(w, r, answer)
}

func (a *API) readConflictQuery(r *http.Request) (q supply.OpenQuery, err error) {
	values, wrong, err := readQuery(r.URL.RawQuery, "network", "held", "cursor", "limit")
	if err != nil {
		return q, err
	}
	if q.Network = values.Get("network"); values.Has("network") {
		plan, err := a.plan(r.Context())
		if err != nil {
			return q, err
		}
		_, known := plan.Network(q.Network)
		wrong.Check(known, "network", fault.NotAllowed, "The numbering plan has no network with this code.")
	}
	held := values.Get("held")
	q.Held = held == "true"
	wrong.Check(!values.Has("held") || held == "true" || held == "false", "held", fault.NotAllowed, "Must be true or false.")
	if values.Has("cursor") {
		var ok bool
		q.After, ok = parseCursor(values.Get("cursor"))
		wrong.Check(ok, "cursor", fault.BadFormat, "Must be the next of the previous page.")
	}
	q.Limit = defaultConflicts
	if values.Has("limit") {
		q.Limit, err = strconv.Atoi(values.Get("limit"))
		wrong.Check(err == nil && q.Limit >= 1 && q.Limit <= maxConflicts, "limit", fault.NotAllowed, "Must be 1 to 200.")
	}
	return q, wrong.Err()
}

// cursorAfter returns the cursor of the page that begins after an event: when it was
// reported, in microseconds, and its id.
func cursorAfter(o *supply.OpenEvent) string {
	return strconv.FormatInt(o.ReportedAt.UnixMicro(), 10) + "-" + strconv.FormatInt(o.Seq, 10)
}

func parseCursor(text string) (p supply.OpenPosition, ok bool) {
	at, seq, _ := strings.Cut(text, "-")
	micros, atErr := strconv.ParseUint(at, 10, 52) // up to the year 2112
	number, seqErr := strconv.ParseUint(seq, 10, 63)
	return supply.OpenPosition{ReportedAt: time.UnixMicro(int64(micros)).UTC(), Seq: int64(number)}, atErr == nil && seqErr == nil
}

func conflictOf(o *supply.OpenEvent) conflict {
	return conflict{
		Event: strconv.FormatInt(o.Seq, 10), PhoneNumber: o.Number.E164(), Type: o.Type, ID: o.ID, Source: o.Source, Network: o.Network,
		Recipient: o.Recipient, Holder: o.Holder, EffectiveAt: stamp(o.EffectiveAt), ReportedAt: stamp(o.ReportedAt), Result: o.Outcome,
		Reason: o.Reason, Message: o.Message, Status: string(o.Status), IfConfirmed: string(o.IfConfirmed),
	}
}
