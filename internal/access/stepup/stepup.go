// Package stepup has the one table of everything that a request to the portal or the API
// changes, whether the person must have entered the password within the last minutes, with
// the code where the account has a second factor, and whether the account must have one: a
// stolen session alone must not be enough for what is dangerous, nor a phished password.
//
// Every route of both transports names its action. An action that is not in the table needs
// everything.
package stepup

// Action is the effect of a request. The zero Action reads and changes nothing.
type Action string

// Actions that need the password.
const (
	BeginFactor     Action = "factor.begin"
	CreateKey       Action = "key.create"
	RollKey         Action = "key.roll"
	RevokeKey       Action = "key.revoke"
	Invite          Action = "person.invite"
	ChangePerson    Action = "person.change"
	RemovePerson    Action = "person.remove"
	CreateWebhook   Action = "webhook.create"
	ResumeWebhook   Action = "webhook.resume"
	RollWebhook     Action = "webhook.roll"
	DeleteWebhook   Action = "webhook.delete"
	UploadNumbers   Action = "numbers.upload"
	SupplyLines     Action = "lines.supply"
	CreateClient    Action = "client.create"
	ChangeClient    Action = "client.change"
	AddSecret       Action = "client_secret.add"
	RevokeSecret    Action = "client_secret.revoke"
	CreateEntity    Action = "entity.create"
	ChangeEntity    Action = "entity.change"
	SetLimits       Action = "limits.set"
	ReleaseEntity   Action = "guard.release"
	DecideWatchList Action = "watch_list.decide"
	Decide          Action = "approval.decide"
	Order           Action = "line.order"
	DecideImport    Action = "import.decide"
	SetPolicy       Action = "policy.set"
	SetPlan         Action = "plan.set"
	WhoAsked        Action = "who_asked"
	TakeOriginal    Action = "document.original"
	MoreLookUps     Action = "look_ups.more"
)

// Actions that do not need the password.
const (
	Anonymous      Action = "anonymous"
	ByProgram      Action = "by_program"
	Prove          Action = "session.prove"
	EndSession     Action = "session.end"
	ChangePassword Action = "password.change"
	RemoveFactor   Action = "factor.remove"
	ConfirmFactor  Action = "factor.confirm"
	Preference     Action = "preference"
	Search         Action = "search"
	LookUp         Action = "number.look_up"
	Preview        Action = "preview"
	TryTestNumber  Action = "test_number.try"
	UploadDocument Action = "document.upload"
	ReviewDocument Action = "document.review"
	Acknowledge    Action = "correction.acknowledge"
	ReportKey      Action = "key.report"
	SendWebhook    Action = "webhook.send"
	PauseWebhook   Action = "webhook.pause"
	CancelFile     Action = "numbers.cancel"
	WithdrawImport Action = "import.withdraw"
)

// Factor says when the account of the person must have two-factor authentication.
type Factor uint8

// When an account must have it.
const (
	Never   Factor = iota
	ForLive        // for what is live; what is for tests needs none, so that a developer can begin with a password
	Always
)

// Rule is a row of the table.
type Rule struct {
	Action   Action
	Password bool   // the person must have entered it within the last minutes
	Factor   Factor // of the people of an organisation; staff need it for all that needs the password, but to set it up
	What     string // the action in words
	Why      string // what a stolen session could do, or why it needs no password
}

// Table lists every action. ForLive is checked by the packages that know what is live, in the
// transaction that makes it, and Always by the transports.
var Table = []Rule{
	{BeginFactor, true, Never, "set up two-factor authentication", "would lock the owner out, and count as the owner's second factor afterwards"},
	{CreateKey, true, ForLive, "create an API key", "a key outlives the session"},
	{RollKey, true, ForLive, "roll an API key", "shows a new key, which outlives the session"},
	{RevokeKey, true, Never, "revoke an API key", "stops the organisation's programs"},
	{Invite, true, Always, "invite a person, or repeat an invitation", "an account outlives the session"},
	{ChangePerson, true, Always, "change the role or a right of a person, reset or unlock a second factor", "gives rights that outlive the session"},
	{RemovePerson, true, Always, "remove a person", "locks out the people who could stop it"},
	{CreateWebhook, true, ForLive, "create a webhook endpoint", "sends the feed elsewhere for as long as nobody looks"},
	{ResumeWebhook, true, ForLive, "resume a paused webhook endpoint", "sends the feed again to an address that somebody stopped"},
	{RollWebhook, true, ForLive, "roll the key of a webhook endpoint", "shows a new signing key"},
	{DeleteWebhook, true, Never, "delete a webhook endpoint", "stops the events that the organisation waits for"},
	{UploadNumbers, true, Always, "upload a file of numbers", "reads the answers about many numbers at once"},
	{SupplyLines, true, Always, "upload a file of lines, or confirm that it is intentional", "changes what everybody is told about lines"},
	{CreateClient, true, Always, "create a client", "its secret outlives the session"},
	{ChangeClient, true, Always, "suspend, resume or revoke a client", "stops an operator, or starts one that was stopped"},
	{AddSecret, true, Always, "add a secret to a client", "a secret outlives the session"},
	{RevokeSecret, true, Always, "revoke a secret of a client", "stops the operator's programs"},
	{CreateEntity, true, Always, "add an organisation", "invites its first admin"},
	{ChangeEntity, true, Always, "suspend, restore or revoke an organisation, or change its mandates and required documents", "stops an organisation, or gives it rights"},
	{SetLimits, true, Always, "set the limits of an organisation", "stops an organisation, or lets it read more"},
	{ReleaseEntity, true, Always, "release an organisation from the guard", "lets a number scan go on"},
	{DecideWatchList, true, Always, "release or reject a held watch-list or file", "lets a number scan go on, or deletes a list"},
	{Decide, true, Always, "confirm or reject an approval, or break the glass", "would be the second person"},
	{Order, true, Always, "give, confirm or reject an order about a line", "changes what everybody is told about a line"},
	{DecideImport, true, Always, "confirm or cancel a held import", "changes what everybody is told about lines"},
	{SetPolicy, true, Always, "set the policy", "changes every answer"},
	{SetPlan, true, Always, "set the numbering plan", "changes every answer"},
	{WhoAsked, true, Always, "find out who asked about a number", "reads the requests of all organisations"},
	{TakeOriginal, true, Always, "request or download the original of a document", "takes a file out that may be hostile, with what it hides"},
	{MoreLookUps, true, Always, "request more look-ups for a day", "would read on with what a second person believes the owner needs"},
	{ReviewDocument, true, Always, "accept or reject a document", "an accepted document cannot be rejected any more, and lets its organisation have live keys"},

	{Anonymous, false, Never, "log in, accept an invitation, reset a password, confirm an address, get a token", "nobody is logged in; the request has the password, the secret or the code of an e-mail"},
	{ByProgram, false, Never, "what a program does with an API key or an access token", "a program has no password; what a key or a client may do was decided by a person who entered theirs"},
	{Prove, false, Never, "enter the password again", "is how a session satisfies this table"},
	{EndSession, false, Never, "log out, end sessions", "only takes access away, from the account's own sessions"},
	{ChangePassword, false, Never, "change the password", "the request has the old password"},
	{RemoveFactor, false, Never, "disable two-factor authentication", "the request has the password and a code"},
	{ConfirmFactor, false, Never, "confirm the second factor", "needs a code made with the secret that was shown after the password"},
	{Preference, false, Never, "choose a theme or which e-mails to get, mark messages as read", "concerns only how the account's own pages look, and notices that can also be read in the portal"},
	{Search, false, Never, "search in the journal or the audit trail", "changes nothing: it is sent as a form because addresses are logged"},
	{LookUp, false, Never, "look up a number as staff", "changes nothing: it takes a reason, counts against the person's budget for the day, and is audited"},
	{Preview, false, Never, "preview a plan, a policy or an order", "changes nothing"},
	{TryTestNumber, false, Never, "verify a test number in the portal", "concerns no line"},
	{UploadDocument, false, Never, "upload a document", "the specification opens it with the token of a login; a document has no effect until staff review it"},
	{Acknowledge, false, Never, "acknowledge a correction", "says only that it was read"},
	{ReportKey, false, Never, "report an API key as leaked", "changes nothing about the key, and sends the admins at most one e-mail an hour about it; an alarm must not wait for a password"},
	{SendWebhook, false, Never, "confirm, test or replay a webhook endpoint, or send one event again", "sends only to an address that was set up with the password"},
	{PauseWebhook, false, Never, "pause a webhook endpoint", "events wait, and resuming it needs the password"},
	{CancelFile, false, Never, "cancel a file of numbers", "the file can be sent again"},
	{WithdrawImport, false, Always, "withdraw a file of lines", "the file can be sent again"},
}

var rules = func() map[Action]Rule {
	m := make(map[Action]Rule, len(Table))
	for _, r := range Table {
		m[r.Action] = r
	}
	return m
}()

// NeedsPassword reports whether the person must have entered the password within the last
// minutes.
func (a Action) NeedsPassword() bool {
	if a == "" {
		return false
	}
	rule, known := rules[a]
	return rule.Password || !known
}

// NeedsFactor says when the account of the person must have two-factor authentication.
func (a Action) NeedsFactor(staff bool) Factor {
	if a == "" {
		return Never
	}
	rule, known := rules[a]
	switch {
	case !known, staff && rule.Password && a != BeginFactor:
		return Always
	}
	return rule.Factor
}
