package approvals

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/privacy/erasure"
	"github.com/lineproof/lineproof/internal/privacy/whoasked"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// approvalRows shows approvals and orders, which two packages keep, as rows of one
// list.
type approvalRows struct {
	names   portal.ActorNames
	visit   *portal.Visit
	service *approval.Service
	now     time.Time
}

// Rows returns approvals and orders together, what the visitor can decide first, then the
// newest, with the names of the people, organisations and clients to which they refer.
func Rows(r *http.Request, p *portal.Portal, service *approval.Service, approvals []approval.Approval, orders []order.Order) ([]ApprovalRow, error) {
	var actors []audit.Actor
	var subjects []uuid.UUID
	for i := range approvals {
		a := &approvals[i]
		actors, subjects = append(actors, a.RequestedBy, a.DecidedBy), append(subjects, a.Subject)
		if a.Kind == access.GiveScopes || a.Kind == access.UseSecret || a.Kind == guard.ReleaseKind { // the subject can be a client
			actors = append(actors, audit.Actor{Kind: audit.Client, ID: a.Subject})
		}
	}
	for i := range orders {
		actors = append(actors, orders[i].RequestedBy, orders[i].DecidedBy)
	}
	names, err := p.NamesOf(r.Context(), actors, subjects...)
	if err != nil {
		return nil, err
	}
	m := &approvalRows{names: names, visit: portal.VisitOf(r), service: service, now: p.Now()}
	rows := make([]ApprovalRow, 0, len(approvals)+len(orders))
	for i := range approvals {
		rows = append(rows, m.approval(&approvals[i]))
	}
	for i := range orders {
		rows = append(rows, m.order(&orders[i]))
	}
	decidable := func(row *ApprovalRow) bool { return row.Pending && row.CanDecide && row.NotConfirmable == "" }
	slices.SortStableFunc(rows, func(a, b ApprovalRow) int {
		return cmp.Or(portal.CompareBools(decidable(&b), decidable(&a)), b.AskedAt.Compare(a.AskedAt))
	})
	return rows, nil
}

var approvalStates = map[approval.State]struct {
	word string
	tone kit.Tone
}{
	approval.Waiting: {"Waiting for a second person", kit.Info}, approval.Approved: {"Confirmed", kit.Good},
	approval.Refused: {"Rejected", kit.Neutral}, approval.Expired: {"Expired", kit.Neutral},
}

const (
	unknownText  = "This version of the service does not know this action and cannot carry it out."
	ownText      = "You requested this. Another person has to confirm it; you can withdraw it."
	selfText     = "This is about your own account. Another administrator has to confirm it."
	ownOrderText = "You requested this. Another administrator or reviewer has to confirm it; you can withdraw it."
)

func (m *approvalRows) approval(a *approval.Approval) ApprovalRow {
	who := m.visit.Who.Account
	row := ApprovalRow{
		AloneFrom: a.AloneFrom, Href: portal.ApprovalsPath + "/" + a.ID.String(), What: string(a.Kind), About: m.names.Called(a.Subject, a.Subject.String()), Reason: a.Reason, AskedBy: m.names.Name(a.RequestedBy), AskedAt: a.RequestedAt,
		Expires: a.ExpiresAt, Pending: a.State == approval.Waiting, Own: portal.IsAccount(a.RequestedBy, who), CanDecide: slices.Contains(approval.ActionOf(a.Kind).Confirm, string(m.visit.Who.Role)),
		State: approvalStates[a.State].word, Tone: approvalStates[a.State].tone, DecidedBy: m.names.Name(a.DecidedBy), DecidedAt: a.DecidedAt, RejectedFor: a.RejectedFor, Severe: severe[a.Kind],
	}
	switch {
	case !m.service.HasKind(a.Kind):
		row.NotConfirmable, row.Unknown = unknownText, true
	case row.Own && a.AloneFrom.IsZero():
		row.NotConfirmable, row.CanBreak = ownText, row.Pending && approval.ActionOf(a.Kind).BreakGlass && a.Subject != who
	case row.Own && m.now.Before(a.AloneFrom):
		row.NotConfirmable = ownText
	case a.Subject == who:
		row.NotConfirmable = selfText
	}
	switch a.Kind {
	case registry.RestoreRevoked:
		row.What, row.AboutHref = "Restore a revoked organisation", portal.EntityURL(a.Subject)
		row.Before, row.After = string(registry.Revoked), string(registry.Approved)
		row.Effect = row.About + " is approved again. Its keys and the sessions of its people work again within seconds."
	case registry.GiveStaffRole:
		row.What, row.After = "Give a role to a member of staff", a.Details["role"]
		if row.Pending { // the current role; what it was at the time of a decision is in the audit trail
			row.Before = m.names.Names[a.Subject].Role
		}
		row.Effect = row.About + " gets the role " + row.After + " and its rights at once."
	case whoasked.Kind:
		row.What, row.About = "Search who asked about a number", "Number ending in "+a.Details["lastDigits"]
		row.Effect = "For seven days administrators can search all answers about the number, of every organisation, from " + a.Details["from"] + " to " + a.Details["to"] + ". Compare the case in the reason with the request of the person."
	case erasure.Confirm:
		row.What, row.About = "Erase the personal part of records", "Ground: "+a.Details["ground"]
		row.Effect = "The number and everything else that can lead to the person goes from the records, for ever. Compare the case in the reason with the request of the person or the order of the court."
	case order.ConfirmImport:
		row.What, row.About, row.AboutHref = "Apply a held file", "Import "+a.Subject.String(), portal.ImportsPath+"/"+a.Subject.String()
		row.Effect = "The file replaces what is stored about the network's lines, and every answer follows it. Open it first, and compare its changes with the reason."
	case order.VoidImport:
		row.What, row.About, row.AboutHref = "Void a snapshot", "Import "+a.Subject.String(), portal.ImportsPath+"/"+a.Subject.String()
		row.Effect = "What the snapshot changed is taken back, its completeness first. The service operator then runs lineproof lines void at the command line, which voids its lines."
	case order.AnnounceChange:
		row.What, row.About = "Announce a mass change", a.Details["lines"]+" lines of "+a.Details["network"]
		row.Effect = "From " + stampText(a.Details["from"]) + " to " + stampText(a.Details["until"]) + " so many lines of the network can end, move or get a new holder without being held for you. Ask the network first, and compare its plan with the reason."
	case order.AcceptTopic:
		row.What, row.About = "Believe a supplier's statements again", a.Details["topic"]+" of "+cmp.Or(a.Details["network"], "the clearing house")
		row.Effect = "The topic counts as fresh again, and lines may be NORMAL on the word of a supplier whose statements were false too often. Ask what was wrong, and compare it with the reason."
	default:
		if !describe(a, &row) {
			row.What = "Unknown to this version: " + string(a.Kind)
		}
	}
	return row
}

// severe are the changes whose confirmation is shown as danger, as their request is: they take
// something away from somebody, or cannot be taken back.
var severe = map[approval.Kind]bool{
	order.KindBlacklist: true, order.KindBar: true, order.KindBarAgain: true, order.KindBackdated: true, order.KindVoid: true, order.KindUnbar: true, order.KindRelease: true,
	order.ConfirmImport: true, order.VoidImport: true, erasure.Confirm: true, document.OriginalKind: true, outbox.LiftSealKind: true, people.RemoveAdministrator: true, people.ResetStaffFactor: true,
}

var orderStates = map[string]struct {
	word string
	tone kit.Tone
}{
	order.Pending: {"Waiting for a second person", kit.Info}, order.Unconfirmed: {"In effect, waiting for a second person", kit.Info},
	order.Lapsed: {"Ended, not confirmed in time", kit.Neutral}, order.Done: {"Confirmed", kit.Good}, order.Withdrawn: {"Rejected", kit.Neutral},
}

func (m *approvalRows) order(o *order.Order) ApprovalRow {
	row := ApprovalRow{
		Href: ordersPath + "/" + o.ID.String(), What: orderTexts[o.Kind()].what, About: o.Number.E164(), Number: true, Reason: o.Note,
		After: orderTexts[o.Kind()].after, AskedBy: m.names.Name(o.RequestedBy), AskedAt: o.RequestedAt, Pending: o.State == order.Pending || o.State == order.Unconfirmed, CanDecide: m.visit.Has(portal.Decider),
		State: orderStates[o.State].word, Tone: orderStates[o.State].tone, DecidedBy: m.names.Name(o.DecidedBy), DecidedAt: o.DecidedAt, RejectedFor: o.RejectedFor, Severe: severe[o.Kind()],
		Own: portal.IsAccount(o.RequestedBy, m.visit.Who.Account), Effect: orderTexts[o.Kind()].effect,
	}
	if o.Event != "" {
		row.What += ": event " + o.Event
	}
	if o.Since != "" {
		row.Effect += " It takes effect from " + o.Since + " on."
	}
	switch {
	case o.State == order.Unconfirmed:
		row.Expires, row.Acts = o.LapsesAt, true
	case o.State == order.Lapsed: // nobody decided it
		row.DecidedAt = o.LapsesAt
	case o.State == order.Withdrawn && o.LapsesAt.After(m.now):
		row.State, row.Tone = kit.RejectedUntil(o.LapsesAt), kit.Warn
	}
	if row.Own {
		row.NotConfirmable = ownOrderText
	}
	return row
}

// orderTexts describe the orders that wait for a second person.
var orderTexts = map[approval.Kind]struct{ what, after, effect string }{
	order.KindBlacklist:    {"Blacklist a number", "BLACKLISTED", "From the moment of your confirmation, every request about this number is answered BLACKLISTED, until the number is released."},
	order.KindRelease:      {"Release a number", "", "The number is no longer blacklisted, and can be given to a new holder."},
	order.KindUnbar:        {"Lift the bars of a number", "", "Every bar of the number is lifted, also the operator's. Answers show the state that the bar hid."},
	order.KindVoid:         {"Void an event", "", "The event no longer counts, and answers change as if it had never been reported. Open the number's history first."},
	order.KindBackdated:    {"Bar a number from a time in the past", "BARRED", "Every request about this number is answered BARRED, and the number's history shows the bar from that time on."},
	order.KindBar:          {"Let a bar last", "BARRED", "The number is barred already. With your confirmation the bar lasts until it is lifted; without it, the bar ends by itself."},
	order.KindBarAgain:     {"Bar a number again", "BARRED", "Every request about this number is answered BARRED. It waits for you because a bar of this number ended within 30 days that nobody confirmed."},
	order.KindConfirmShare: {"Let a held event of a mass change count", "", "The event counts from now on. It is held because too large a share of the network's lines changed at once."},
}
