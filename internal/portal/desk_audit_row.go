package portal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/portal/view"
)

// actionWords are the actions in words. One that is not here is shown as it is
// stored.
var actionWords = map[audit.Action]string{
	audit.EntityOnboarded: "Organisation onboarded", audit.EntityCreated: "Organisation created", audit.EntitySuspended: "Organisation suspended",
	audit.EntityRestored: "Organisation restored", audit.EntityRevoked: "Organisation revoked", audit.LimitsSet: "Limits set", audit.GuardReleased: "Released from the guard",
	audit.DocumentUploaded: "Document uploaded", audit.DocumentScanned: "Document scanned and clean", audit.DocumentRefused: "Document refused", audit.DocumentInfected: "Document infected",
	audit.DocumentRescanned: "Document scanned again", audit.DocumentAccepted: "Document accepted", audit.DocumentRejected: "Document rejected", audit.DocumentHeld: "Document put on hold",
	audit.DocumentReleased: "Document released from hold", audit.DocumentDeleted: "Document deleted", audit.DocumentOpened: "Document opened",
	audit.StaffCreated: "Member of staff created", audit.RoleGiven: "Role of staff given", audit.Invited: "Invitation sent", audit.InvitationAccepted: "Invitation accepted",
	audit.AccountDisabled: "Account removed", audit.KindGiven: "Made admin or member", audit.EmailConfirmed: "E-mail address confirmed", audit.PasswordChanged: "Password changed",
	audit.PasswordReset: "Password reset", audit.FactorSet: "Second factor set", audit.FactorRemoved: "Second factor removed", audit.RecoveryUsed: "Recovery code used",
	audit.ClientCreated: "Client created", audit.ClientSuspended: "Client suspended", audit.ClientResumed: "Client resumed", audit.ClientRevoked: "Client revoked",
	audit.SecretAdded: "Client secret added", audit.SecretRevoked: "Client secret revoked", audit.TokenRevoked: "Token revoked",
	audit.KeyCreated: "Key generated", audit.KeyRolled: "Key rolled", audit.KeyRevoked: "Key revoked",
	audit.LoggedIn: "Signed in", audit.SessionEnded: "Session ended", audit.SessionsEnded: "All sessions ended",
	audit.ImportBegun: "Import begun", audit.ImportConfirmed: "Import confirmed", audit.ImportCancelled: "Import cancelled", audit.ImportApplied: "Import applied",
	audit.ImportMeant: "Import said to be meant", audit.OrderRefused: "Order refused", audit.JournalRead: "Journal searched",
	audit.PlanSet: "Numbering plan set", audit.PolicySet: "Policy set", audit.OrderGiven: "Order given", audit.OrderConfirmed: "Order confirmed", audit.HistoryRead: "Life of a number read",
	audit.JournalArchived: "Day of the journal archived", audit.JournalDropped: "Archived day dropped", audit.EpochsSkipped: "Epochs of the journal skipped",
	audit.ApprovalAsked: "Approval asked for", audit.ApprovalGiven: "Approval given", audit.ApprovalRefused: "Approval refused",
	"factor.begun": "Second factor begun",
}

func actionWord(a audit.Action) string {
	if word, ok := actionWords[a]; ok {
		return word
	}
	return string(a)
}

// actionGroups are the beginnings of actions that belong together.
var actionGroups = []view.Option{
	{Value: "", Label: "Anything"},
	{Value: "entity.", Label: "Organisations: all"},
	{Value: "key.", Label: "Keys: all"},
	{Value: "client.", Label: "Clients: all"},
	{Value: "document.", Label: "Documents: all"},
	{Value: "staff.", Label: "Staff: all"},
	{Value: "account.", Label: "Accounts: all"},
	{Value: "session.", Label: "Sessions: all"},
	{Value: "import.", Label: "Imports: all"},
	{Value: "order.", Label: "Orders: all"},
	{Value: "journal.", Label: "Journal: all"},
	{Value: "approval.", Label: "Approvals: all"},
}

// trailActions are what can be chosen: groups first, then each action by its
// words, and what the address says if that is neither.
func trailActions(chosen string) []view.Option {
	options := slices.Clone(actionGroups)
	known := slices.SortedFunc(maps.Keys(actionWords), func(a, b audit.Action) int { return strings.Compare(actionWords[a], actionWords[b]) })
	for _, a := range known {
		options = append(options, view.Option{Value: string(a), Label: actionWords[a]})
	}
	if !slices.ContainsFunc(options, func(o view.Option) bool { return o.Value == chosen }) {
		options = append(options, view.Option{Value: chosen, Label: chosen})
	}
	return options
}

// kindWords are the kinds of actor in words.
var kindWords = map[audit.ActorKind]string{
	audit.Account: "person", audit.Client: "client", audit.Operator: "whoever runs the command line", audit.System: "by a rule of its own",
}

func trailRow(e *audit.Written, names cast) view.TrailRow {
	row := view.TrailRow{
		ID: e.ID.String(), At: e.At, Who: names.name(e.Actor), Kind: kindWords[e.Actor.Kind], Action: string(e.Action), Word: actionWord(e.Action),
		Subject: e.Subject.String(), Changes: trailChanges(e.Before, e.After),
	}
	if e.Actor.ID != uuid.Nil {
		row.WhoHref = deskAuditPath + "?actor=" + e.Actor.ID.String()
	}
	if e.Actor.From.IsValid() {
		row.From = e.Actor.From.String()
	}
	if e.Request != uuid.Nil {
		row.Request = e.Request.String()
	}
	if e.Entity != uuid.Nil && e.Entity != e.Subject {
		row.Entity, row.EntityHref = names.called(e.Entity, e.Entity.String()), entityHref(e.Entity)
	}
	row.About, row.AboutHref = trailAbout(e, names)
	return row
}

// trailAbout names what something was done to, and where its page is.
func trailAbout(e *audit.Written, names cast) (label, href string) {
	group, _, _ := strings.Cut(string(e.Action), ".")
	switch group {
	case "entity", "guard":
		label, href = "Organisation", entityHref(e.Subject)
	case "client":
		label, href = "Client", clientHref(e.Subject)
	case "document":
		label, href = "Document", deskPapersPath+"/"+e.Subject.String()
	case "approval":
		label, href = "Approval", approvalsPath
	case "plan":
		label, href = "Numbering plan", deskPlanPath
	case "key", "token", "session", "import", "policy", "order", "history", "journal":
		label = strings.ToUpper(group[:1]) + group[1:]
	default:
		label = "Account"
	}
	return names.called(e.Subject, label), href
}

// trailChanges are the fields that changed, by name.
func trailChanges(before, after map[string]any) []view.TrailChange {
	both := map[string]bool{}
	for name := range before {
		both[name] = true
	}
	for name := range after {
		both[name] = true
	}
	var list []view.TrailChange
	for _, name := range slices.Sorted(maps.Keys(both)) {
		was, had := before[name]
		is, has := after[name]
		list = append(list, view.TrailChange{Name: name, Before: valueText(was), After: valueText(is), Was: had, Is: has})
	}
	return list
}

// valueText writes a value as people read it; what has parts is JSON.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return cmp.Or(v, "none")
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = valueText(v[i])
		}
		return cmp.Or(strings.Join(texts, ", "), "none")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
