// Package approval holds changes that need two people: a change that is too
// dangerous for one person waits here until another confirms it.
//
// What it guarantees:
//
//   - A requested change does not take effect before a second person has confirmed
//     it. The effect runs in the transaction of the confirmation: both are stored
//     or neither is, and of two concurrent confirmations one succeeds.
//   - The person who requested a change cannot confirm it, whichever session they
//     use. Nor can the account that the change is about. The operator at the
//     command line counts as one person, however often and from wherever the
//     command is run.
//   - The two are independent: no one person has alone created, raised or reset the
//     access of one of them so that they could act as both, unless another administrator
//     has since confirmed who that person is. Waiting changes nothing.
//   - Who may request and confirm which action is one table, [Actions].
//   - Where the table allows break-glass, the requester can confirm a request alone, 24
//     hours after all staff were notified, if nobody refuses it until then.
//   - The person whom a request would remove or demote cannot reject it, but for the
//     break-glass of one person.
//   - After a week a request expires, because what was right to request then may
//     be wrong to do now.
//
// Which changes can be requested, and what they do, is decided by other packages:
// they call [Create] in their own transaction, and the assembly gives the
// [Service] their effects.
package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// Lifetime is how long a request can be confirmed.
const Lifetime = 7 * 24 * time.Hour

// MaxReason is how many characters a reason has at most.
const MaxReason = 500

var (
	// ErrNotAdministrator reports an actor who is neither an administrator nor
	// the operator.
	ErrNotAdministrator = fault.New(fault.PermissionDenied,
		"Only administrators of the regulator's staff, and the operator at the command line, may do this.")
	// ErrNotDecider reports an actor who is neither an administrator nor a reviewer
	// nor the operator.
	ErrNotDecider = fault.New(fault.PermissionDenied,
		"Only administrators and reviewers of the regulator's staff, and the operator at the command line, may do this.")
	// ErrAlreadyRequested reports that the same change already waits.
	ErrAlreadyRequested = fault.New(fault.IncompatibleState, "This change has already been requested and waits for a second person. Confirm or reject that request first.")
	// ErrNotFound reports an approval that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "There is no such approval.")
	// ErrNotWaiting reports an approval that is already decided or has expired.
	ErrNotWaiting = fault.New(fault.IncompatibleState, "This request is already confirmed or rejected, or it has expired. If the change is still needed, request it again.")
	// ErrRequesterGone reports that the requester may no longer request changes, so
	// that a confirmation would be the act of one person.
	ErrRequesterGone = fault.New(fault.IncompatibleState, "The person who requested this no longer has the role for it. Reject it and request it again.")
	// ErrUnknownKind reports a kind of change that this version does not know: it
	// was requested by a later version of the service.
	ErrUnknownKind = fault.New(fault.IncompatibleState,
		"This version of the service does not know this kind of change. Confirm it with the version that it was requested with, or reject it.")
	// ErrSecondPerson reports an actor who tries to confirm their own request, or
	// one about their own account.
	ErrSecondPerson = fault.New(fault.PermissionDenied,
		"This needs two people: it must be confirmed by somebody who neither requested it nor is the person it is about.")
	// ErrAboutYou reports an actor who tries to reject their own removal or demotion, or that
	// of somebody who may be one person with them.
	ErrAboutYou = fault.New(fault.PermissionDenied,
		"You cannot reject a request to remove you, or somebody who counts as one person with you, or to change that role. "+
			"Somebody else decides; you can refuse it only if the requester uses break-glass.")
	// ErrNotIndependent reports a second person behind whom, or behind the requester,
	// may stand the same person.
	ErrNotIndependent = fault.New(fault.PermissionDenied,
		"This needs two independent people. One of you two alone gave the other access or reset it, or a third person did so for both. Somebody else has to confirm it, or an administrator first requests the role of that person again, so that another administrator confirms who it is.")
)

// Kind is the kind of change. The values are stored in the database and must
// never be renamed.
type Kind string

// State is the state of an approval. The values are stored in the database.
type State string

// The states.
const (
	Waiting  State = "waiting"
	Approved State = "given"
	Refused  State = "refused"
	Expired  State = "lapsed"
)

// CheckStaff returns nil if the actor is the operator, or an active member of staff
// with one of the roles, and [ErrNotAdministrator] or [ErrNotDecider] if not. If the
// second argument is a transaction, the account must not be disabled or lose its role
// before the transaction ends. The package that owns the accounts provides it.
type CheckStaff func(ctx context.Context, from pg.DB, by audit.Actor, roles ...string) error

// CheckIndependent returns nil if two actors are independent of each other, and
// [ErrNotIndependent] if not. The package that owns the accounts provides it.
type CheckIndependent func(ctx context.Context, from pg.DB, one, other audit.Actor) error

// Request describes a change that needs two people.
type Request struct {
	Kind    Kind
	Subject uuid.UUID // the entity or account to change
	Entity  uuid.UUID // the entity that it concerns; zero for none
	// Details are the parameters of the effect. Secrets and personal data are
	// rejected, because the row is never deleted.
	Details map[string]string
	Reason  string
	By      audit.Actor
	Request uuid.UUID // the id of the HTTP request; zero for none
	At      time.Time
}

// Approval is a requested change and its decision.
type Approval struct {
	ID          uuid.UUID
	Kind        Kind
	Subject     uuid.UUID
	Entity      uuid.UUID
	Details     map[string]string
	Reason      string
	State       State
	RequestedBy audit.Actor
	RequestedAt time.Time
	ExpiresAt   time.Time
	DecidedBy   audit.Actor // zero while it waits, and when it has expired
	DecidedAt   time.Time
	RejectedFor string    // why it was rejected; "" otherwise
	Request     uuid.UUID // the id of the HTTP request that decided it, for the effect; zero for none
	AloneFrom   time.Time // from when the requester can confirm it, because they use break-glass; zero if they do not
	BreakGlass  bool      // for the effect: the requester confirmed it, and there is no second person
}

// WaitsError says that a change was requested and takes effect when a second person
// confirms it. A function that carries a change out returns it instead of nil, so that
// no caller can take the one for the other.
type WaitsError struct{ ID uuid.UUID }

func (e *WaitsError) Error() string {
	return "This takes two people: approval " + e.ID.String() + " waits for a second person."
}

// Waits returns a [WaitsError] for an approval that was created, and nil for the zero id.
func Waits(pending uuid.UUID) error {
	if pending == uuid.Nil {
		return nil
	}
	return &WaitsError{pending}
}

// Alone is the decision of a person who needs no second one, for the effect. It is not
// stored: its id is zero.
func Alone(r Request) Approval {
	return Approval{
		Kind: r.Kind, Subject: r.Subject, Entity: r.Entity, Details: r.Details, Reason: r.Reason, State: Approved,
		RequestedBy: r.By, RequestedAt: r.At, DecidedBy: r.By, DecidedAt: r.At, Request: r.Request,
	}
}

// CheckReason adds a violation for a reason that is empty, too long or not plain
// text.
func CheckReason(wrong *fault.Form, field, reason string) {
	wrong.Check(strings.TrimSpace(reason) != "", field, fault.Required, "Give a reason.")
	wrong.Check(utf8.RuneCountInString(reason) <= MaxReason, field, fault.TooLong, "Use at most 500 characters.")
	wrong.Check(utf8.ValidString(reason) && !strings.ContainsFunc(reason, unicode.IsControl), field, fault.BadFormat, "Leave out control characters and line breaks.")
}

// CheckRejection checks the reason for which a request is rejected, which is sent to the
// requester by e-mail. Who withdraws their own need not give one.
func CheckRejection(reason string, own bool) error {
	var wrong fault.Form
	if reason != "" || !own {
		CheckReason(&wrong, "reason", reason)
	}
	plain, err := audit.Plain(map[string]any{"reason": reason})
	if err != nil {
		return err
	}
	wrong.Check(plain, "reason", fault.NotAllowed, "Leave out phone numbers, e-mail addresses and secrets: the reason is sent by e-mail.")
	return wrong.Err()
}

// Create stores a request in the caller's transaction and returns the id of the
// approval. The caller has checked that the change is possible at present.
func Create(ctx context.Context, tx pg.Tx, check CheckStaff, r Request) (uuid.UUID, error) {
	var wrong fault.Form
	CheckReason(&wrong, "reason", r.Reason)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	if err := check(ctx, tx, r.By, ActionOf(r.Kind).Request...); err != nil {
		return uuid.Nil, err
	}
	details, err := encodeDetails(r.Details)
	if err != nil {
		return uuid.Nil, err
	}
	now := r.At.UTC().Truncate(time.Microsecond)
	// Expired, the same change can be requested again.
	_, err = tx.Exec(ctx, `UPDATE approval SET state = 'lapsed' WHERE kind = $1 AND subject_id = $2 AND state = 'waiting' AND expires_at <= $3`, r.Kind, r.Subject, now)
	if err != nil {
		return uuid.Nil, fmt.Errorf("approval: expire an old request: %w", err)
	}
	id := uuid.Must(uuid.NewV7())
	inserted, err := tx.Exec(ctx, `INSERT INTO approval (id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		id, r.Kind, r.Subject, pg.ID(r.Entity), details, r.Reason, r.By.Kind, pg.ID(r.By.ID), now, now.Add(Lifetime))
	if err != nil {
		return uuid.Nil, fmt.Errorf("approval: store a request: %w", err)
	}
	if inserted.RowsAffected() == 0 {
		return uuid.Nil, ErrAlreadyRequested
	}
	after := map[string]any{"kind": r.Kind, "subject": r.Subject, "reason": r.Reason}
	for name, value := range r.Details {
		after[name] = value
	}
	return id, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: r.By, Action: audit.ApprovalAsked, Subject: id, Entity: r.Entity, Request: r.Request, After: after,
	})
}

// encodeDetails encodes details as JSON. It fails if the audit trail would mask
// any of them: what must not be stored there must not be stored here.
func encodeDetails(details map[string]string) ([]byte, error) {
	var wrong fault.Form
	for name, value := range details {
		plain, err := audit.Plain(map[string]any{name: value})
		if err != nil {
			return nil, err
		}
		wrong.Check(plain, name, fault.NotAllowed, "This looks like a secret, a phone number or an e-mail address, which a request for two people must not hold. Write it in another way.")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(details)
	return text, fault.Wrap(err, "approval: encode the details")
}
