package audit

// Action is the kind of an entry. The values are stored and must never be renamed.
type Action string

// The actions on entities and accounts.
const (
	EntityOnboarded Action = "entity.onboarded"
	EntityRefused   Action = "entity.refused" // an application whose admin has an account; the subject is the same for the same address and number
	EntityCreated   Action = "entity.created"
	EntitySuspended Action = "entity.suspended"
	EntityRestored  Action = "entity.restored"
	EntityRevoked   Action = "entity.revoked"
	LimitsSet       Action = "entity.limits_set"
	GuardReleased   Action = "guard.released"
	ListCreated     Action = "watch.created"
	ListDeleted     Action = "watch.deleted" // by its organisation
	ListHeld        Action = "watch.held"
	ListReleased    Action = "watch.released" // a held watch-list
	ListRejected    Action = "watch.rejected" // and deleted
	NumberSealed    Action = "seal.started"   // nothing about a number is told before a time
	SealLifted      Action = "seal.lifted"    // before its time, by two people
	SealEnded       Action = "seal.ended"     // and what waited was told

	NoticesAcknowledged Action = "notice.acknowledged" // of answers that would be different now

	DocumentsRequired Action = "entity.documents_required" // of an entity, or no longer
	DocumentUploaded  Action = "document.uploaded"
	DocumentScanned   Action = "document.scanned" // and found clean
	DocumentRefused   Action = "document.refused"
	DocumentInfected  Action = "document.infected"
	DocumentRescanned Action = "document.rescanned"
	DocumentAccepted  Action = "document.accepted"
	DocumentRejected  Action = "document.rejected"
	DocumentHeld      Action = "document.held"
	DocumentReleased  Action = "document.released"
	DocumentDeleted   Action = "document.deleted"
	DocumentOpened    Action = "document.opened"
	DocumentOriginal  Action = "document.original" // downloaded as a sealed archive, which two people allowed

	StaffCreated       Action = "staff.created"
	RoleGiven          Action = "staff.role_given"
	Invited            Action = "invitation.sent"
	InvitationAccepted Action = "invitation.accepted"
	AccountDisabled    Action = "account.disabled"
	KindGiven          Action = "account.kind_given" // admin or member
	EmailConfirmed     Action = "account.email_confirmed"
	PasswordChanged    Action = "password.changed"
	PasswordReset      Action = "password.reset"
	ResetStarted       Action = "password.reset_started" // on behalf of the person
	FactorSet          Action = "factor.set"
	FactorRemoved      Action = "factor.removed"
	FactorLocked       Action = "factor.locked" // after too many wrong codes
	FactorUnlocked     Action = "factor.unlocked"
	RecoveryUsed       Action = "recovery.used"
	LoginFailed        Action = "login.failed" // counted for an account over some minutes; the zero id stands for unknown addresses
)

// The actions on credentials.
const (
	ClientCreated   Action = "client.created"
	ClientSuspended Action = "client.suspended"
	ClientResumed   Action = "client.resumed"
	ClientRevoked   Action = "client.revoked"
	ScopesGiven     Action = "client.scopes_given" // by two people
	SecretAdded     Action = "client.secret_added"
	SecretAllowed   Action = "client.secret_allowed" // by a second person, to be used
	SecretRevoked   Action = "client.secret_revoked"
	TokenRevoked    Action = "token.revoked"
	KeyRightSet     Action = "account.key_right"    // of a member, to create live keys
	SupplyRightSet  Action = "account.supply_right" // of a member, to send files of lines
	KeyCreated      Action = "key.created"
	KeyRolled       Action = "key.rolled"
	KeyRevoked      Action = "key.revoked"
	KeyReported     Action = "key.reported_leaked" // by somebody of its organisation
	MandateAdded    Action = "mandate.added"
	MandateEnded    Action = "mandate.ended"
	LoggedIn        Action = "session.opened"
	SessionProved   Action = "session.proved" // the person entered the password again
	SessionEnded    Action = "session.ended"
	SessionsEnded   Action = "session.all_ended" // all sessions of an account
)

// The actions on files of numbers.
const (
	JobHeld      Action = "job.held" // its file looks like a scan
	JobReleased  Action = "job.released"
	JobRejected  Action = "job.rejected"
	JobCreated   Action = "job.created"
	JobReceived  Action = "job.received" // its file was received, and is answered
	JobCancelled Action = "job.cancelled"
)

// The actions on webhook endpoints.
const (
	WebhookCreated   Action = "webhook.created"
	WebhookConfirmed Action = "webhook.confirmed" // it answered the challenge
	WebhookPaused    Action = "webhook.paused"
	WebhookResumed   Action = "webhook.resumed"
	WebhookRolled    Action = "webhook.rolled"
	WebhookReplayed  Action = "webhook.replayed" // its feed is sent again
	WebhookDisabled  Action = "webhook.disabled" // by the service
	WebhookDeleted   Action = "webhook.deleted"
)

// The actions on lines, on the rules they follow and on the journal.
const (
	ImportBegun     Action = "import.begun"
	ImportMeant     Action = "import.meant" // its sender says that it is intentional; it stays held
	ImportConfirmed Action = "import.confirmed"
	ImportCancelled Action = "import.cancelled"
	ImportApplied   Action = "import.applied"
	ImportVoided    Action = "import.voided" // a snapshot that had been applied
	PlanSet         Action = "plan.set"
	PolicySet       Action = "policy.set"
	OrderGiven      Action = "order.given"
	OrderConfirmed  Action = "order.confirmed"
	OrderRefused    Action = "order.refused"
	HistoryRead     Action = "history.read"      // of a number, by staff
	JournalRead     Action = "journal.read"      // records of others, by staff
	WhoAsked        Action = "journal.who_asked" // a search of all answers about a number, which two people allowed
	JournalArchived Action = "journal.archived"
	JournalDropped  Action = "journal.dropped" // of an archived day
	EpochsSkipped   Action = "journal.epochs_skipped"
	RecordReturned  Action = "journal.record_returned" // lost by a restore, and taken back by its receipt

	MassChangeAnnounced Action = "supply.announced" // of a network's lines, which is then not held
	TopicAccepted       Action = "supply.accepted"  // its supplier's statements are believed again

	ErasureConfirmed Action = "erasure.confirmed"
	JournalErased    Action = "journal.erased"
	HoldPlaced       Action = "hold.placed"
	HoldEnded        Action = "hold.ended"
)

// The actions of approvals.
const (
	ApprovalAsked   Action = "approval.asked"
	ApprovalGiven   Action = "approval.given"
	ApprovalRefused Action = "approval.refused"
	BreakGlassUsed  Action = "approval.break_glass" // its requester can confirm it after a delay
)
