package numbers

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of events that do not count, or contradict each other. An event has an
// address by its sequence number; the number is in none.
const (
	conflictsPath = "/portal/desk/conflicts"
	conflictPath  = "/portal/desk/conflicts/{event}"
)

// conflictRoutes are the pages of held events and conflicts.
func (p *Pages) conflictRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodGet, Path: conflictsPath, Right: portal.Staff, Serve: p.showConflicts},
		{Method: http.MethodGet, Path: conflictPath, Right: portal.Staff, Serve: p.showConflict},
	}
}

var conflictsPage = kit.Page{
	Title: "Held events and conflicts", Active: conflictsPath,
	Lead: "Events that are stored and do not count until somebody decides, and reports that contradict each other. The oldest report is first.",
}

// conflictsShown is the number of events on one page.
const conflictsShown = 25

// showConflicts serves GET /portal/desk/conflicts.
func (p *Pages) showConflicts(w http.ResponseWriter, r *http.Request) error {
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	filter := supply.OpenQuery{Network: q.Get("network"), Held: q.Get("show") == "held", After: readPosition(web.Cursor(r)), Limit: conflictsShown + 1}
	if _, known := rules.Plan.Network(filter.Network); !known {
		filter.Network = ""
	}
	list, err := p.Lines.OpenEvents(r.Context(), filter)
	if err != nil {
		return err
	}
	next := ""
	if len(list) > conflictsShown {
		list = list[:conflictsShown]
		next = positionText(&list[conflictsShown-1])
	}
	links := web.PageLinks(r, web.Cursor(r), next)
	d := ConflictsData{Form: kit.Form{Values: q}, Filtered: filter.Network != "" || filter.Held, First: links.First, Next: links.Next, Now: p.Now(), Networks: networkOptions(rules.Plan)}
	for i := range list {
		d.Rows = append(d.Rows, conflictRow(&list[i], rules.Plan))
	}
	return p.Show(w, r, conflictsPage, Conflicts(d))
}

// networkOptions are the networks of the plan, to choose from.
func networkOptions(plan *numbering.Plan) []kit.Option {
	options := []kit.Option{{Label: "All networks"}}
	for _, n := range plan.Networks() {
		options = append(options, kit.Option{Value: plan.Code(n), Label: plan.Name(n)})
	}
	slices.SortFunc(options[1:], func(a, b kit.Option) int { return strings.Compare(a.Label, b.Label) })
	return options
}

// positionText is the cursor of the page that begins after an event.
func positionText(o *supply.OpenEvent) string {
	return strconv.FormatInt(o.ReportedAt.UnixMicro(), 10) + "-" + strconv.FormatInt(o.Seq, 10)
}

// readPosition reads a cursor; what is none is the beginning of the list.
func readPosition(text string) (p supply.OpenPosition) {
	at, seq, _ := strings.Cut(text, "-")
	micros, errAt := strconv.ParseUint(at, 10, 52) // up to the year 2112
	n, errSeq := strconv.ParseUint(seq, 10, 63)
	if errAt != nil || errSeq != nil {
		return p
	}
	return supply.OpenPosition{ReportedAt: time.UnixMicro(int64(micros)).UTC(), Seq: int64(n)}
}

// settleTexts say who can settle an open event, by its reason.
var settleTexts = map[string]string{
	"TOO_OLD":     "Ask the operator for the document behind it. Confirm the event if it is true, withdraw it if it is not.",
	"EARLY":       "The number has a new holder before its rest is over, while a bar or a flag is in force. Ask the operator, then confirm or withdraw.",
	"MASS":        "Too large a share of the network's lines changed at once. If the change is meant, it takes two people; if not, ask the operator to void its events.",
	"DONOR_LATE":  "The donor of a port reports about the time before it, and the line would change. Ask both networks, then confirm or withdraw.",
	"HALF_PORT":   "The other network, or the clearing house, has to report the same. Ask them; withdraw the event if there was no port.",
	"NOT_SERVING": "It counts when the port to this network is reported. Ask the clearing house; withdraw the event if there was no port.",
}

func conflictRow(o *supply.OpenEvent, plan *numbering.Plan) ConflictRow {
	name := eventNames[o.Type]
	row := ConflictRow{
		Href: conflictsPath + "/" + strconv.FormatInt(o.Seq, 10), Seq: o.Seq, Number: o.Number.E164(), Title: cmp.Or(name.text, o.Type), Held: o.IfConfirmed != "", Reason: o.Reason, Message: o.Message,
		By: sourceNames[o.Source], Effective: o.EffectiveAt, Reported: o.ReportedAt, Now: statusAnswer(string(o.Status)), Holder: "Nobody that is known", Settle: settleTexts[o.Reason],
	}
	if o.Network != "" {
		row.By = networkName(plan, o.Network)
	}
	if o.Holder != "" {
		row.Holder = networkName(plan, o.Holder)
	}
	if o.Recipient != "" {
		row.Recipient = networkName(plan, o.Recipient)
	}
	if o.IfConfirmed != "" {
		row.IfConfirmed = statusAnswer(string(o.IfConfirmed))
	}
	return row
}

func statusAnswer(status string) LineAnswer {
	return LineAnswer{Status: status, Tone: kit.StatusTone(status)}
}

// pathEvent returns the open event that the path names.
func (p *Pages) pathEvent(r *http.Request) (supply.OpenEvent, error) {
	text := r.PathValue("event")
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 1 || strconv.FormatInt(seq, 10) != text {
		return supply.OpenEvent{}, portal.ErrNotFound
	}
	return p.Lines.OpenEvent(r.Context(), seq)
}

// showConflict serves GET /portal/desk/conflicts/{event}. It shows what everybody
// reported about the number, so it is recorded like every look-up.
func (p *Pages) showConflict(w http.ResponseWriter, r *http.Request) error {
	o, err := p.pathEvent(r)
	if err != nil {
		return err
	}
	rules, err := p.Rules(r)
	if err != nil {
		return err
	}
	v, seq := portal.VisitOf(r), strconv.FormatInt(o.Seq, 10)
	history, err := p.Lines.StaffLookup(r.Context(), supply.HistoryQuery{Number: o.Number}, p.LookUp(r, "Open event "+seq+": who reported what"))
	if err != nil {
		return err
	}
	d := ConflictData{ConflictRow: conflictRow(&o, rules.Plan), Reports: reportRows(&history, o.Seq, rules.Plan), Waits: p.ordersWaiting(r, &o), MaxNote: supply.MaxNote, Clock: p.Now()}
	if v.Has(portal.Decider) && !d.Waits {
		for _, action := range []string{"CONFIRM", "VOID"} {
			if action == "CONFIRM" && !d.Held {
				continue
			}
			decision, err := p.decision(r, action, &o)
			if err != nil {
				return err
			}
			if decision.Value != "" {
				d.Decisions = append(d.Decisions, decision)
			}
		}
	}
	return p.Show(w, r, kit.Page{Title: d.Title, Crumbs: []kit.Link{{Label: conflictsPage.Title, Href: conflictsPath}}, Active: conflictsPath}, Conflict(d))
}

// decisionWords name the decisions about an open event.
var decisionWords = map[string]struct {
	title, label, text string
	kind               kit.Kind
}{
	"CONFIRM": {"Confirm the event", "Confirm event", "It is true, and counts from now on. A late SIM change or port applies for its whole window from now.", kit.Primary},
	"VOID":    {"Withdraw the event", "Withdraw event", "It is not true, and never counts. The history shows it as withdrawn.", kit.Danger},
}

// decision returns what a decision would do, or an empty one where it is not possible.
func (p *Pages) decision(r *http.Request, action string, o *supply.OpenEvent) (d Decision, err error) {
	seq := strconv.FormatInt(o.Seq, 10)
	would, err := p.orders().Preview(r.Context(), regulator(portal.VisitOf(r)), order.Form{PhoneNumber: o.Number.E164(), Action: action, Event: seq})
	if _, invalid := portal.FormErrors(r, err); invalid {
		return d, nil
	}
	words := decisionWords[action]
	return Decision{
		Title: words.title, Label: words.label, Text: words.text, Kind: words.kind, Value: action + " " + seq, Rule: ruleTexts[approval.ActionOf(would.Kind).Rule],
		Now: answerOf(&would.Before), Then: answerOf(&would.After),
	}, err
}

// ordersWaiting reports whether an order about an event waits for a second person
// already.
func (p *Pages) ordersWaiting(r *http.Request, o *supply.OpenEvent) bool {
	list, err := p.orders().About(r.Context(), o.Number, ordersShown)
	return err == nil && slices.ContainsFunc(list, func(one order.Order) bool {
		return one.State == order.Pending && one.Event == strconv.FormatInt(o.Seq, 10)
	})
}

// reportRows are all reports about a number by party, those of one party the newest
// first.
func reportRows(h *supply.History, seq int64, plan *numbering.Plan) (rows []ReportRow) {
	for i := range slices.Backward(h.Events) {
		e := eventRow(&h.Events[i], plan)
		rows = append(rows, ReportRow{By: e.By, Title: e.Title, Detail: strings.TrimSpace(e.Code + " " + e.Note), Effective: e.Effective, Reported: e.Reported, Outcome: e.Outcome, Withdrawn: e.Withdrawn, This: e.Seq == seq})
	}
	slices.SortStableFunc(rows, func(a, b ReportRow) int { return strings.Compare(a.By, b.By) })
	return rows
}
