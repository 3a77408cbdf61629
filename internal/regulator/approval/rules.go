package approval

import "slices"

// Rule says how many people an action takes.
type Rule string

// The rules.
const (
	// OnePerson is for what protects, and for what one person can see and undo: it
	// acts at once.
	OnePerson Rule = "one person, at once"
	// ConfirmLater is for orders that protect: they act at once, and end by themselves.
	ConfirmLater Rule = "one person, at once; ends after 72 hours unless a second person confirms it"
	// TwoPeople is for everything that lowers a guard: the action waits until a
	// second person confirms it.
	TwoPeople Rule = "two people"
)

// The roles of staff that may request or confirm an action. The operator at the
// command line may do what administrators may, as one person.
const (
	Administrator = "administrator"
	Reviewer      = "reviewer"
)

var (
	administrators = []string{Administrator}
	deciders       = []string{Administrator, Reviewer}
)

// Action is a dangerous action, with its rule.
type Action struct {
	Kind Kind
	What string // in words, for the reference
	Rule Rule
	// Request and Confirm are the roles of staff that may request and confirm it.
	// Without a second person, Confirm is empty.
	Request, Confirm []string
	// Order is true for orders about numbers, which package order keeps: clients
	// with the scope line:order may request and confirm them too, and the operator
	// may not confirm them.
	Order bool
	// BreakGlass is true where one person can act after a delay and a notice to all
	// staff. It is never true for what voids or releases, for the policy, for orders,
	// which have acts that protect at once, and for what cannot be undone.
	BreakGlass bool
}

// Actions names every dangerous action once. The code asks this table for the rule and, but for
// orders, whose roles the routes admit, for who may request and confirm; tests try each action as
// one person. docs/reference/two-people.md is generated from it. The kinds are stored
// and must never be renamed.
var Actions = []Action{
	{Kind: "line.blacklist", What: "blacklist a number", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.release", What: "release a blacklisted number", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.unbar", What: "lift a bar of the regulator", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.void", What: "void an event", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.backdated", What: "any order that takes effect in the past", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.confirm_share", What: "confirm an event that is held because too large a share of a network's lines changed", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.confirm", What: "confirm an event that is held for another reason", Rule: OnePerson, Request: deciders, Order: true},
	{Kind: "line.bar", What: "bar a number", Rule: ConfirmLater, Request: deciders, Confirm: deciders, Order: true},
	{Kind: "line.bar_again", What: "bar a number again, within 30 days of a bar that nobody confirmed", Rule: TwoPeople, Request: deciders, Confirm: deciders, Order: true},

	{Kind: "entity.restore", What: "restore a revoked organisation", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "staff.role", What: "create an administrator or a reviewer, change the role of a member of staff, or confirm who a member of staff is", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "entity.people", What: "invite a person to an organisation that has an admin, or reset the password or the two-factor authentication of its people, as staff or operator", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "journal.erase", What: "erase the personal part of records", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "document.original", What: "download the original of a document, in a sealed archive", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "staff.lookups", What: "look up more numbers and records on a day than one person may", Rule: TwoPeople, Request: deciders, Confirm: deciders},
	{Kind: "journal.who_asked", What: "search the answers about a number across organisations", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},

	{Kind: "client.scopes", What: "give a client line:supply, line:port, line:flag or line:order", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "client.secret", What: "add a secret to a client that has such a scope", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "guard.release", What: "release an organisation that the guard slowed or stopped", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "file.release", What: "let a file of numbers be answered that is held because it looks like number scanning", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "watch.release", What: "let a watch-list take effect that is held because too many of its numbers are nobody's", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "notice.seal", What: "seal a number: nothing about it is sent before a date", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "notice.unseal", What: "lift the seal of a number before its date", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "entity.limits", What: "raise a limit of an organisation", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "plan.set", What: "set a new version of the numbering plan", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "policy.set", What: "set a new version of the policy", Rule: TwoPeople, Request: administrators, Confirm: administrators},
	{Kind: "staff.remove", What: "remove an administrator", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "staff.reset_factor", What: "reset the two-factor authentication of a member of staff", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},
	{Kind: "staff.reset_password", What: "start a new password of a member of staff", Rule: TwoPeople, Request: administrators, Confirm: administrators, BreakGlass: true},

	{Kind: "file.reject", What: "reject a file of numbers that is held, which ends it without an answer", Rule: OnePerson, Request: administrators},
	{Kind: "watch.reject", What: "reject a watch-list that is held, which deletes it", Rule: OnePerson, Request: administrators},
	{Kind: "entity.lower_limits", What: "lower the limits of an organisation", Rule: OnePerson, Request: administrators},
	{Kind: "entity.resume", What: "restore a suspended organisation", Rule: OnePerson, Request: administrators},
	{Kind: "client.resume", What: "resume a suspended client", Rule: OnePerson, Request: administrators},
	{Kind: "staff.remove_other", What: "remove a reviewer or an auditor", Rule: OnePerson, Request: administrators},
	{Kind: "staff.unlock_factor", What: "unlock two-factor authentication after 100 wrong codes", Rule: OnePerson, Request: administrators},
	{Kind: "entity.suspend", What: "suspend or revoke an organisation", Rule: OnePerson, Request: administrators},
	{Kind: "key.revoke", What: "revoke an API key", Rule: OnePerson, Request: administrators},
	{Kind: "client.stop", What: "suspend or revoke a client", Rule: OnePerson, Request: administrators},
	{Kind: "import.confirm", What: "apply a file that is held", Rule: TwoPeople, Request: deciders, Confirm: deciders, BreakGlass: true},
	{Kind: "import.void", What: "void a snapshot that was applied", Rule: TwoPeople, Request: deciders, Confirm: deciders},
	{Kind: "supply.announce", What: "announce a mass change of a network's lines, which is then not held", Rule: TwoPeople, Request: deciders, Confirm: deciders},
	{Kind: "supply.accept", What: "believe a supplier's statements about a topic again", Rule: TwoPeople, Request: deciders, Confirm: deciders},
	{Kind: "import.cancel", What: "cancel an import that is not finished", Rule: OnePerson, Request: deciders},
}

// ActionOf returns the action of a kind. A kind that is not in the table takes two
// administrators: it was requested by a later version, or by a test.
func ActionOf(k Kind) Action {
	if i := slices.IndexFunc(Actions, func(a Action) bool { return a.Kind == k }); i >= 0 {
		return Actions[i]
	}
	return Action{Kind: k, Rule: TwoPeople, Request: administrators, Confirm: administrators}
}
