package approvals

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/web/portal"
	"github.com/lineproof/lineproof/internal/web/portal/documents"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// actionNames are the names of actions on pages. An action that is not listed is
// shown as it is stored.
var actionNames = map[audit.Action]string{
	audit.EntityOnboarded: "Organisation onboarded", audit.EntityRefused: "Onboarding refused, the admin has an account", audit.EntityCreated: "Organisation created", audit.EntitySuspended: "Organisation suspended",
	audit.EntityRestored: "Organisation restored", audit.EntityRevoked: "Organisation revoked", audit.DocumentsRequired: "Required documents changed", audit.LimitsSet: "Limits set", audit.GuardReleased: "Released from the guard", audit.ListCreated: "Watch-list created", audit.ListDeleted: "Watch-list deleted", audit.ListHeld: "Watch-list held", audit.ListReleased: "Watch-list released", audit.ListRejected: "Watch-list rejected",
	audit.TopicAccepted: "Supply of a topic accepted again",
	audit.NumberSealed:  "Number sealed", audit.SealLifted: "Seal lifted", audit.SealEnded: "Seal ended, and what waited was told", audit.NoticesAcknowledged: "Corrected answers acknowledged",
	audit.DocumentUploaded: "Document uploaded", audit.DocumentScanned: "Document scanned and clean", audit.DocumentRefused: "Document rejected, not safe to open", audit.DocumentInfected: "Document infected",
	audit.DocumentRescanned: "Document scanned again", audit.DocumentAccepted: "Document accepted", audit.DocumentRejected: "Document rejected", audit.DocumentHeld: "Document put on hold",
	audit.DocumentReleased: "Document released from hold", audit.DocumentDeleted: "Document deleted", audit.DocumentOpened: "Document opened", audit.DocumentOriginal: "Original of a document downloaded, sealed",
	audit.StaffCreated: "Member of staff created", audit.RoleGiven: "Staff role given", audit.Invited: "Invitation sent", audit.InvitationAccepted: "Invitation accepted",
	audit.AccountDisabled: "Account removed", audit.KindGiven: "Made admin or member", audit.KeyRightSet: "Right to create live keys changed", audit.SupplyRightSet: "Right to supply lines changed", audit.EmailConfirmed: "E-mail address confirmed", audit.PasswordChanged: "Password changed",
	audit.FactorLocked: "Two-factor authentication locked", audit.FactorUnlocked: "Two-factor authentication unlocked", audit.LoginFailed: "Failed sign-ins",
	audit.PasswordReset: "Password reset", audit.ResetStarted: "Password reset started for the person", audit.FactorSet: "Two-factor authentication set up", audit.FactorRemoved: "Two-factor authentication removed", audit.RecoveryUsed: "Recovery code used",
	audit.ClientCreated: "Client created", audit.ClientSuspended: "Client suspended", audit.ClientResumed: "Client resumed", audit.ClientRevoked: "Client revoked",
	audit.ScopesGiven: "Scopes given to a client", audit.SecretAllowed: "Client secret confirmed", audit.SecretAdded: "Client secret added", audit.SecretRevoked: "Client secret revoked", audit.TokenRevoked: "Token revoked",
	audit.KeyCreated: "Key generated", audit.KeyRolled: "Key rolled", audit.KeyRevoked: "Key revoked", audit.KeyReported: "Key reported as leaked", audit.MandateAdded: "Mandate added", audit.MandateEnded: "Mandate ended",
	audit.LoggedIn: "Signed in", audit.SessionProved: "Password entered again", audit.SessionEnded: "Session ended", audit.SessionsEnded: "All sessions ended",
	audit.ImportBegun: "Import started", audit.ImportConfirmed: "Import confirmed", audit.ImportCancelled: "Import cancelled", audit.ImportApplied: "Import applied",
	audit.ImportMeant: "Import confirmed as intentional", audit.ImportVoided: "Snapshot voided", audit.OrderRefused: "Order rejected", audit.JournalRead: "Journal searched", audit.WhoAsked: "Searched who asked about a number",
	audit.MassChangeAnnounced: "Mass change announced",
	audit.PlanSet:             "Numbering plan set", audit.PolicySet: "Policy set", audit.OrderGiven: "Order given", audit.OrderConfirmed: "Order confirmed", audit.HistoryRead: "Number history read",
	audit.JournalArchived: "Day of the journal archived", audit.JournalDropped: "Archived day dropped", audit.EpochsSkipped: "Epochs of the journal skipped", audit.RecordReturned: "Lost record taken back by its receipt",
	audit.ErasureConfirmed: "Erasure of records confirmed", audit.JournalErased: "Records erased", audit.HoldPlaced: "Legal hold placed", audit.HoldEnded: "Legal hold ended",
	audit.ApprovalAsked: "Approval requested", audit.ApprovalGiven: "Approval given", audit.ApprovalRefused: "Approval rejected", audit.BreakGlassUsed: "Break-glass used",
	audit.JobCreated: "File job created", audit.JobHeld: "File of numbers held", audit.JobReleased: "File of numbers released", audit.JobRejected: "File of numbers rejected", audit.JobReceived: "File of numbers received", audit.JobCancelled: "File job cancelled",
	audit.WebhookCreated: "Webhook endpoint added", audit.WebhookConfirmed: "Webhook endpoint confirmed", audit.WebhookPaused: "Webhook endpoint paused", audit.WebhookResumed: "Webhook endpoint resumed",
	audit.WebhookRolled: "Webhook key rolled", audit.WebhookReplayed: "Webhook events sent again", audit.WebhookDisabled: "Webhook endpoint disabled", audit.WebhookDeleted: "Webhook endpoint deleted",
	"factor.begun": "Two-factor setup started",
}

func actionName(a audit.Action) string {
	if word, ok := actionNames[a]; ok {
		return word
	}
	return string(a)
}

// actionGroups are the prefixes of actions that belong together.
var actionGroups = []kit.Option{
	{Value: "", Label: "Any action"},
	{Value: "entity.", Label: "Organisations: all"},
	{Value: "key.", Label: "Keys: all"},
	{Value: "job.", Label: "Files of numbers: all"},
	{Value: "webhook.", Label: "Webhooks: all"},
	{Value: "client.", Label: "Clients: all"},
	{Value: "document.", Label: "Documents: all"},
	{Value: "staff.", Label: "Staff: all"},
	{Value: "account.", Label: "Accounts: all"},
	{Value: "session.", Label: "Sessions: all"},
	{Value: "login.", Label: "Failed sign-ins: all"},
	{Value: "factor.", Label: "Two-factor authentication: all"},
	{Value: "import.", Label: "Imports: all"},
	{Value: "order.", Label: "Orders: all"},
	{Value: "journal.", Label: "Journal: all"},
	{Value: "approval.", Label: "Approvals: all"},
}

// trailActions are the actions to choose from: groups first, then each action by
// its name, and the one in the address if it is neither.
func trailActions(chosen string) []kit.Option {
	options := slices.Clone(actionGroups)
	known := slices.SortedFunc(maps.Keys(actionNames), func(a, b audit.Action) int { return strings.Compare(actionNames[a], actionNames[b]) })
	for _, a := range known {
		options = append(options, kit.Option{Value: string(a), Label: actionNames[a]})
	}
	if !slices.ContainsFunc(options, func(o kit.Option) bool { return o.Value == chosen }) {
		options = append(options, kit.Option{Value: chosen, Label: chosen})
	}
	return options
}

// actorKindNames are the kinds of actors on pages.
var actorKindNames = map[audit.ActorKind]string{
	audit.Account: "person", audit.Client: "client", audit.APIKey: "API key", audit.Operator: "on the command line", audit.System: "automatic",
}

// NewTrailRow returns an entry of the audit trail as a row.
func NewTrailRow(e *audit.Record, names portal.ActorNames) TrailRow {
	row := TrailRow{
		ID: e.ID.String(), At: e.At, Who: names.Name(e.Actor), Kind: actorKindNames[e.Actor.Kind], Action: string(e.Action), Word: actionName(e.Action),
		Subject: e.Subject.String(), Changes: trailChanges(e.Before, e.After),
	}
	if e.Actor.ID != uuid.Nil {
		row.WhoHref = auditPath + "?actor=" + e.Actor.ID.String()
	}
	if e.Actor.From.IsValid() {
		row.From = e.Actor.From.String()
	}
	if e.Request != uuid.Nil {
		row.Request = e.Request.String()
	}
	if e.Entity != uuid.Nil && e.Entity != e.Subject {
		row.Entity, row.EntityHref = names.Called(e.Entity, e.Entity.String()), portal.EntityURL(e.Entity)
	}
	row.About, row.AboutHref = trailAbout(e, names)
	return row
}

// trailAbout names the subject of an entry, and returns the address of its page.
func trailAbout(e *audit.Record, names portal.ActorNames) (label, href string) {
	group, _, _ := strings.Cut(string(e.Action), ".")
	label = cmp.Or(subjectLabels[group], "Subject")
	switch {
	case aboutClient(e):
		label, href = "Client", portal.ClientURL(e.Subject)
	case group == "entity" || group == "guard":
		href = portal.EntityURL(e.Subject)
	case group == "document":
		href = documents.ReviewsPath + "/" + e.Subject.String()
	case group == "approval":
		href = portal.ApprovalsPath
	case group == "plan":
		href = portal.PlanPath
	}
	return names.Called(e.Subject, label), href
}

// aboutClient reports whether the subject of an entry is a client. The guard releases an
// organisation, or all organisations of a client; the latter have no entity.
func aboutClient(e *audit.Record) bool {
	return strings.HasPrefix(string(e.Action), "client.") || e.Action == audit.GuardReleased && e.Entity == uuid.Nil
}

// subjectLabels name the subjects of actions, by the group of the action.
var subjectLabels = map[string]string{
	"entity": "Organisation", "guard": "Organisation", "notice": "Organisation", "document": "Document", "approval": "Approval", "plan": "Numbering plan",
	"key": "Key", "token": "Token", "session": "Session", "import": "Import", "policy": "Policy", "order": "Order", "history": "History", "journal": "Journal",
	"webhook": "Webhook endpoint", "job": "File job", "watch": "Watch-list", "mandate": "Mandate", "seal": "Seal", "hold": "Legal hold", "erasure": "Erasure", "supply": "Announcement",
	"staff": "Account", "account": "Account", "invitation": "Account", "password": "Account", "factor": "Account", "recovery": "Account", "login": "Account",
}

// trailChanges returns the fields that changed, by name.
func trailChanges(before, after map[string]any) []TrailChange {
	both := map[string]bool{}
	for name := range before {
		both[name] = true
	}
	for name := range after {
		both[name] = true
	}
	var list []TrailChange
	for _, name := range slices.Sorted(maps.Keys(both)) {
		was, had := before[name]
		is, has := after[name]
		list = append(list, TrailChange{Name: name, Before: valueText(was), After: valueText(is), Was: had, Is: has})
	}
	return list
}

// valueText writes a value for people; structured values are JSON.
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
