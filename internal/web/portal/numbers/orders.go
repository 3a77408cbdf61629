package numbers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The paths of orders. The number is in the form, so that it is in no address.
const (
	prepareOrderPath = "/portal/desk/numbers/order"
	ordersPath       = "/portal/desk/orders"
)

// orderRoutes are the pages on which an order is given. Package desk has those on which
// a second person decides about it.
func (p *Pages) orderRoutes() []portal.Route {
	return []portal.Route{
		{Method: http.MethodPost, Path: prepareOrderPath, Right: portal.Decider, Action: stepup.Preview, Serve: p.prepareOrder},
		{Method: http.MethodPost, Path: ordersPath, Right: portal.Decider, Action: stepup.Order, Serve: p.giveOrder},
	}
}

// orderWords describe each order: its name, its button, and what it does.
var orderWords = map[string]struct {
	title, label, text string
	kind               kit.Kind
}{
	"BAR":       {"Bar a number", "Order bar", "Service of the number is stopped, and every request about it is answered BARRED.", kit.Danger},
	"UNBAR":     {"Lift the bars of a number", "Order release from bars", "Every bar of the number is lifted, also the operator's. Answers show the state that the bar hid.", kit.Danger},
	"BLACKLIST": {"Blacklist a number", "Order blacklisting", "Every request about the number is answered BLACKLISTED, and nobody can be given the number until it is released.", kit.Danger},
	"RELEASE":   {"Release a number", "Order release", "The number is no longer blacklisted, and can be given to a new holder.", kit.Danger},
	"VOID":      {"Void an event", "Order void", "The event no longer counts, and answers change as if it had never been reported. Nothing is deleted: the history shows it as withdrawn.", kit.Danger},
	"CONFIRM":   {"Confirm a held event", "Confirm event", "The event counts from now on.", kit.Primary},
}

// ruleTexts say when an order takes effect.
var ruleTexts = map[approval.Rule]string{
	approval.OnePerson:    "It takes effect at once.",
	approval.ConfirmLater: "It takes effect at once, and ends after 72 hours unless another administrator or reviewer confirms it under Approvals.",
	approval.TwoPeople:    "Nothing changes until another administrator or reviewer has confirmed it under Approvals.",
}

// barReasonWords describe the reasons of a bar.
var barReasonWords = map[line.Code]string{ //nolint:exhaustive // the reasons of a bar only
	line.ReasonNIN: "The holder is not linked to a national identity number", line.ReasonFraud: "Fraud with the number", line.ReasonCourt: "By order of a court",
	line.ReasonLost: "The SIM is lost or stolen", line.ReasonDebt: "Unpaid bills", line.ReasonOther: "Another reason; say which in the note",
}

// orderForm is an order as the page has it.
type orderForm struct {
	order.Form

	lookup string // why the number was looked up
}

// readOrder reads an order. The field action holds the action and, for VOID and CONFIRM,
// the event after a space: one button has one value.
func readOrder(r *http.Request) (f orderForm, err error) {
	action, event, _ := strings.Cut(r.PostFormValue("action"), " ")
	f.Form = order.Form{
		PhoneNumber: strings.TrimSpace(r.PostFormValue("phoneNumber")), Action: action, Event: event,
		Reason: r.PostFormValue("reason"), Scope: r.PostFormValue("scope"), Note: portal.OneLine(r.PostFormValue("note")),
	}
	f.lookup = portal.OneLine(r.PostFormValue("lookupReason"))
	if text := r.PostFormValue("effectiveAt"); text != "" {
		at, ok := web.ParseFormTime(text)
		if !ok {
			return f, fault.ErrInvalid.With(fault.Violation{Field: "effectiveAt", Code: fault.BadFormat, Message: "Write a time as 2026-01-31T08:00, or a date as 2026-01-31."})
		}
		f.EffectiveAt = at.UTC().Format(time.RFC3339)
	}
	return f, nil
}

// errNoOrder reports a form without a number or an order that exist; both are hidden
// fields, which nobody has typed.
var errNoOrder = fault.New(fault.InvalidArgument, "Look up the number first, then choose the order on its page.")

// prepareOrder serves POST /portal/desk/numbers/order: what an order would do, and the
// form that gives it. It changes nothing, and is a look-up of the number.
func (p *Pages) prepareOrder(w http.ResponseWriter, r *http.Request) error {
	f, err := readOrder(r)
	if _, known := orderWords[f.Action]; !known {
		return errNoOrder
	}
	return p.showOrder(w, r, &f, err)
}

// lookUpFor looks the number of an order up, which is recorded with the reason of the look-up
// that led to it.
func (p *Pages) lookUpFor(r *http.Request, f *orderForm) (supply.History, error) {
	number, err := p.Region.ParseMobile(f.PhoneNumber)
	if err != nil {
		return supply.History{}, errNoOrder
	}
	return p.Lines.StaffLookup(r.Context(), supply.HistoryQuery{Number: number}, p.LookUp(r, f.lookup))
}

// giveOrder serves POST /portal/desk/orders.
func (p *Pages) giveOrder(w http.ResponseWriter, r *http.Request) error {
	f, err := readOrder(r)
	var given order.Order
	if err == nil {
		given, err = p.orders().Create(r.Context(), regulator(portal.VisitOf(r)), f.Form)
	}
	if _, invalid := portal.FormErrors(r, err); invalid && orderWords[f.Action].title != "" {
		return p.showOrder(w, r, &f, err)
	}
	if err != nil {
		return err
	}
	switch given.State {
	case order.Unconfirmed:
		return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "order.acts")
	case order.Pending:
		if given.Kind() == order.KindBarAgain {
			return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "order.bar.waits")
		}
		return p.RedirectWithFlash(w, r, portal.ApprovalsPath, "order.waits")
	default:
		return p.RedirectWithFlash(w, r, conflictsPath, "order.done")
	}
}

// showOrder shows the form of an order with its preview, and what was wrong with what was
// sent. An error of a field that the form does not have is shown above it. What is known about
// the number is shown only if its look-up could be recorded.
func (p *Pages) showOrder(w http.ResponseWriter, r *http.Request, f *orderForm, wrong error) error {
	words := orderWords[f.Action]
	d := OrderData{
		PhoneNumber: f.PhoneNumber, Lookup: f.lookup, Action: strings.TrimSpace(f.Action + " " + f.Event), Event: f.Event, Text: words.text, Label: words.label, Kind: words.kind,
		Dated: f.Action == "BAR" || f.Action == "UNBAR" || f.Action == "RELEASE", MaxNote: supply.MaxNote,
	}
	if number, err := p.Region.ParseMobile(f.PhoneNumber); err == nil {
		d.PhoneNumber = number.E164()
	}
	if f.Action == "BAR" {
		d.Reasons = barReasons()
	}
	found, err := p.lookUpFor(r, f)
	lookedUp := err == nil
	if _, invalid := portal.FormErrors(r, err); err != nil && (wrong == nil || !invalid) {
		return err
	}
	for i := range found.Events {
		if e := &found.Events[i]; strconv.FormatInt(e.Seq, 10) == f.Event {
			rules, err := p.Rules(r)
			if err != nil {
				return err
			}
			row := eventRow(e, rules.Plan)
			d.About = &row
		}
	}
	preview := f.Form
	if f.Action == "BAR" && preview.Reason == "" {
		preview.Reason = line.ReasonOther.String() // every bar has the same answer
	}
	would, err := p.orders().Preview(r.Context(), regulator(portal.VisitOf(r)), preview)
	switch _, invalid := portal.FormErrors(r, err); {
	case invalid && wrong == nil:
		wrong = err
	case invalid, err == nil && !lookedUp:
	case err != nil:
		return err
	default:
		d.Before, d.After = answerOf(&would.Before), answerOf(&would.After)
		d.Rule = ruleTexts[approval.ActionOf(would.Kind).Rule]
	}
	page := kit.Page{Title: words.title, Crumbs: []kit.Link{{Label: "Number history", Href: numbersPath}}, Active: numbersPath}
	form, _ := portal.FormErrors(r, wrong)
	liftErrors(&form, "event", "action", "phoneNumber")
	d.Form = form.With("note", noteOf(f.lookup))
	if wrong != nil {
		return p.ShowInvalid(w, r, wrong, page, OrderPage(d))
	}
	return p.Show(w, r, page, OrderPage(d))
}

// noteOf returns the reason of a look-up as the note of an order, where it fits.
func noteOf(reason string) string {
	if !supply.IsNote(reason) {
		return ""
	}
	return reason
}

// liftErrors turns the errors of fields that a form does not show into its message.
func liftErrors(f *kit.Form, fields ...string) {
	for _, name := range fields {
		if text := f.Errors[name]; text != "" {
			f.Message = strings.TrimSpace(f.Message + " " + text)
			delete(f.Errors, name)
			f.Order = removed(f.Order, name)
		}
	}
}

func removed(list []string, name string) (rest []string) {
	for _, one := range list {
		if one != name {
			rest = append(rest, one)
		}
	}
	return rest
}

func answerOf(v *line.View) LineAnswer {
	return LineAnswer{Status: string(v.Status), Reason: string(v.Reason), Tone: kit.StatusTone(string(v.Status))}
}

// barReasons are the reasons of a bar that staff can choose.
func barReasons() (options []kit.Option) {
	for code := line.ReasonNIN; code <= line.ReasonOther; code++ {
		if supply.IsBarReason(code) {
			options = append(options, kit.Option{Value: code.String(), Label: code.String(), Hint: barReasonWords[code]})
		}
	}
	return options
}

// orderActions are the orders that make sense about a line with these events, in the
// order of their buttons.
func orderActions(h *supply.History, events []EventRow) (list []OrderAction) {
	black, barred := false, false
	for i := range events { // the oldest first
		if events[i].Withdrawn {
			continue
		}
		switch events[i].Type {
		case line.Blacklist.String():
			black = true
		case line.Release.String():
			black = false
		case line.Bar.String():
			barred = true
		case line.Unbar.String():
			barred = false
		}
	}
	black, barred = black || h.Status == line.Blacklisted, barred || h.Status == line.Barred
	list = append(list, OrderAction{Label: "Bar number", Value: "BAR"})
	if barred {
		list = append(list, OrderAction{Label: "Lift bars", Value: "UNBAR"})
	}
	if black {
		return append(list, OrderAction{Label: "Release from the blacklist", Value: "RELEASE"})
	}
	return append(list, OrderAction{Label: "Blacklist number", Value: "BLACKLIST"})
}

// orderStateWords describe the states of an order.
var orderStateWords = map[string]struct {
	text string
	tone kit.Tone
}{
	order.Pending: {"Waiting for a second person", kit.Info}, order.Unconfirmed: {"In effect, waiting for a second person", kit.Warn}, order.Done: {"In effect", kit.Good},
	order.Withdrawn: {"Rejected", kit.Neutral}, order.Lapsed: {"Ended, not confirmed in time", kit.Neutral},
}

// ordersShown is how many orders about a number are listed.
const ordersShown = 10

// orderRows returns the latest orders about a number.
func (p *Pages) orderRows(r *http.Request, q supply.HistoryQuery) ([]OrderRow, error) {
	list, err := p.orders().About(r.Context(), q.Number, ordersShown)
	if err != nil {
		return nil, err
	}
	var actors []audit.Actor
	for i := range list {
		actors = append(actors, list[i].RequestedBy, list[i].DecidedBy)
	}
	names, err := p.NamesOf(r.Context(), actors)
	if err != nil {
		return nil, err
	}
	rows := make([]OrderRow, 0, len(list))
	for i := range list {
		o := &list[i]
		state := orderStateWords[o.State]
		row := OrderRow{
			Title: orderWords[o.Action].title, State: state.text, Tone: state.tone, Note: o.Note, By: names.Name(o.RequestedBy), At: o.RequestedAt, DecidedBy: names.Name(o.DecidedBy), DecidedAt: o.DecidedAt, RejectedFor: o.RejectedFor,
		}
		if o.Event != "" {
			row.Title += " (event " + o.Event + ")"
		}
		switch {
		case o.State == order.Pending || o.State == order.Unconfirmed:
			row.Href = portal.ApprovalsPath
		case o.State == order.Withdrawn && o.LapsesAt.After(p.Now()):
			row.State, row.Tone = kit.RejectedUntil(o.LapsesAt), kit.Warn
		}
		rows = append(rows, row)
	}
	return rows, nil
}
