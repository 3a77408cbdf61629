// Package approval is the second pair of eyes: what is too dangerous for one
// person waits here until another confirms it.
//
// What it promises:
//
//   - Nothing that was asked for takes effect before somebody else has confirmed
//     it. The effect runs in the transaction of the confirmation: both are there
//     or neither is, and of two who confirm at once one does.
//   - Whoever asked cannot confirm, with whatever session. Nor can the account
//     that the matter is about. Whoever runs the command line is one person,
//     however often and from wherever the command is run.
//   - Only administrators confirm. Any of them could make a reviewer and then be
//     two people; to make an administrator takes two already.
//   - After a week a question lapses, because what was right to ask then may be
//     wrong to do now.
//
// What is asked for, and what it does, belongs to other packages: they call
// [Ask] in their own transaction, and the assembly gives a [Desk] the effects.
package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/approval/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/pg"
)

// Patience is how long a question waits.
const Patience = 7 * 24 * time.Hour

const maxReason = 500

var (
	// ErrNotAdministrator reports somebody who may not do this.
	ErrNotAdministrator = fault.New(fault.PermissionDenied,
		"Only administrators of the regulator's staff, and the operator at the command line, may do this.")
	// ErrAskedAlready reports that the same waits already.
	ErrAskedAlready = fault.New(fault.IncompatibleState, "The same was asked for already and waits for a second person. Confirm or refuse that first.")
	// ErrNone reports a question that was never asked.
	ErrNone = fault.New(fault.NotFound, "There is no such approval.")
	// ErrNotWaiting reports that there is nothing to decide.
	ErrNotWaiting = fault.New(fault.IncompatibleState, "This was confirmed or refused already, or it has lapsed. Ask for it again where it is still needed.")
	// ErrAskerGone reports that only one of the two is left.
	ErrAskerGone = fault.New(fault.IncompatibleState, "Whoever asked for this is no longer an administrator. Refuse it and ask for it again.")
	// ErrUnknownKind reports what nobody here knows how to do: a later version of
	// the service asked for it.
	ErrUnknownKind = fault.New(fault.IncompatibleState,
		"This version of the service does not know what was asked for and cannot do it. Confirm it with the version that asked, or refuse it.")
	// ErrSecondPerson reports that somebody wants to confirm alone.
	ErrSecondPerson = fault.New(fault.PermissionDenied,
		"This needs two people: an administrator other than the one who asked, and other than the one whom it is about, must confirm it.")
)

// Kind is what would be done. The words are stored; they are never changed.
type Kind string

// State is how far a question has come.
type State string

// The states.
const (
	Waiting State = "waiting"
	Given   State = "given"
	Refused State = "refused"
	Lapsed  State = "lapsed"
)

// Question asks for something that needs two people.
type Question struct {
	Kind    Kind
	Subject uuid.UUID // what it is about
	Entity  uuid.UUID // the entity that it concerns; zero for none
	// Details is what the effect needs to know. Secrets and personal data are
	// refused: the row is kept.
	Details map[string]string
	Reason  string // why, in words
	By      audit.Actor
	Request uuid.UUID // the request that asks; zero for none
	At      time.Time
}

// Approval is a question and what became of it.
type Approval struct {
	ID        uuid.UUID
	Kind      Kind
	Subject   uuid.UUID
	Entity    uuid.UUID
	Details   map[string]string
	Reason    string
	State     State
	Asked     audit.Actor
	AskedAt   time.Time
	ExpiresAt time.Time
	Decided   audit.Actor // zero while it waits, and when it has lapsed
	DecidedAt time.Time
	Request   uuid.UUID // the request that confirms, for the effect; zero for none
}

// CheckReason complains about a reason that says nothing or too much.
func CheckReason(wrong *fault.Form, field, reason string) {
	wrong.Check(strings.TrimSpace(reason) != "", field, fault.Required, "Say why.")
	wrong.Check(utf8.RuneCountInString(reason) <= maxReason, field, fault.TooLong, "Use at most 500 characters.")
	wrong.Check(utf8.ValidString(reason) && !strings.ContainsFunc(reason, unicode.IsControl), field, fault.BadFormat, "Leave out control characters and line breaks.")
}

// MayDecide returns nil if by is the operator or an administrator whose account
// stands, and ErrNotAdministrator if not. The account cannot be disabled or lose
// its role before from, if that is a transaction, has ended.
func MayDecide(ctx context.Context, from pg.DB, by audit.Actor) error {
	switch by.Kind {
	case audit.Operator:
		return nil
	case audit.Account:
		role, err := db.New(from).StaffRole(ctx, by.ID)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("approval: look up the account: %w", err)
		}
		if role == "administrator" {
			return nil
		}
	case audit.Client, audit.System:
	}
	return ErrNotAdministrator
}

// Ask puts a question, in the caller's transaction, and returns its id. The
// caller has made sure that there is something to decide.
func Ask(ctx context.Context, tx pg.Tx, q Question) (uuid.UUID, error) {
	var wrong fault.Form
	CheckReason(&wrong, "reason", q.Reason)
	if err := wrong.Err(); err != nil {
		return uuid.Nil, err
	}
	if err := MayDecide(ctx, tx, q.By); err != nil {
		return uuid.Nil, err
	}
	details, err := plain(q.Details)
	if err != nil {
		return uuid.Nil, err
	}
	now := q.At.UTC().Truncate(time.Microsecond)
	if err := db.New(tx).Lapse(ctx, db.LapseParams{Kind: string(q.Kind), SubjectID: q.Subject, Now: now}); err != nil {
		return uuid.Nil, fmt.Errorf("approval: let an old question lapse: %w", err)
	}
	id := uuid.Must(uuid.NewV7())
	asked, err := db.New(tx).Insert(ctx, db.InsertParams{
		ID: id, Kind: string(q.Kind), SubjectID: q.Subject, EntityID: pg.ID(q.Entity), Details: details, Reason: q.Reason,
		AskedKind: string(q.By.Kind), AskedBy: pg.ID(q.By.ID), AskedAt: now, ExpiresAt: now.Add(Patience),
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("approval: ask: %w", err)
	}
	if asked == 0 {
		return uuid.Nil, ErrAskedAlready
	}
	after := map[string]any{"kind": q.Kind, "subject": q.Subject, "reason": q.Reason}
	for name, value := range q.Details {
		after[name] = value
	}
	return id, audit.Write(ctx, tx, audit.Entry{
		At: now, Actor: q.By, Action: audit.ApprovalAsked, Subject: id, Entity: q.Entity, Request: q.Request, After: after,
	})
}

// plain encodes details, unless the audit trail would mask any of them: what
// must not stand there must not stand here.
func plain(details map[string]string) ([]byte, error) {
	fields := make(map[string]any, len(details))
	for name, value := range details {
		fields[name] = value
	}
	if open, err := audit.Plain(fields); err != nil {
		return nil, err
	} else if !open {
		return nil, errors.New("approval: the details of a question hold a secret or personal data")
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("approval: encode the details: %w", err)
	}
	return text, nil
}
