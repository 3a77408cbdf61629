// This part of the package lets staff seal a number until a date, so that a notice does not betray an
// order that a court or an investigation wants to be kept quiet.
//
// What it guarantees:
//
//   - To seal a number takes two people, and so does lifting a seal before its date. The
//     request, the confirmation, the lifting and the end are in the audit trail, without the
//     number.
//   - While a number is sealed, no organisation is told anything about it: by its feed, by a
//     webhook or by a notice about a past answer. When the seal ends, everything is told, each
//     change once and in the order of the number's changes. Package outbox does that.
//   - The answers to verifications are as without a seal. A bank that asks about the person
//     before it relies on the answer, and the answer is signed and kept as evidence: it is
//     never made false.

package outbox

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The kinds of approval. They are stored; never change them.
const (
	StartSealKind approval.Kind = "notice.seal"
	LiftSealKind  approval.Kind = "notice.unseal"
)

// MaxSeal is how far ahead the end of a seal can be. A number can be sealed again before
// its seal ends, by two people.
const MaxSeal = 366 * 24 * time.Hour

var (
	// ErrNoSeal reports a seal that does not exist, waits for its confirmation or has ended.
	ErrNoSeal = fault.New(fault.NotFound, "There is no such seal, or it has ended. See: lineproof lines seal list")
	// ErrSealTooLate reports a seal whose date was reached before it was confirmed.
	ErrSealTooLate = fault.New(fault.IncompatibleState, "The date of this seal has passed, or its request was deleted. If it is still needed, request it again.")
)

// SealForm is the request to seal a number.
type SealForm struct {
	Number  phone.Number
	Until   time.Time
	Reason  string
	By      audit.Actor
	Request uuid.UUID // the id of the HTTP request; zero for none
}

func (f *SealForm) check(now time.Time) error {
	var wrong fault.Form
	approval.CheckReason(&wrong, "reason", f.Reason)
	wrong.Check(!f.Number.NamedIn(f.Reason), "reason", fault.BadFormat, "Leave out the number: the reason is kept for years. Name the order.")
	wrong.Check(!f.Number.IsZero(), "number", fault.Required, "Give the number.")
	wrong.Check(f.Until.After(now), "until", fault.BadFormat, "The seal must end in the future.")
	wrong.Check(!f.Until.After(now.Add(MaxSeal)), "until", fault.BadFormat, "A seal lasts for a year at most. It can be renewed before it ends.")
	return wrong.Err()
}

// RequestSeal seals a number. A second person has to confirm it first: then it returns the
// approval that waits.
func RequestSeal(ctx context.Context, pool *pgxpool.Pool, now time.Time, f SealForm) (id, pending uuid.UUID, err error) {
	f.Reason, now = strings.TrimSpace(f.Reason), now.UTC().Truncate(time.Microsecond)
	if err := f.check(now); err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id = uuid.Must(uuid.NewV7())
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		s := Seal{ID: id, Number: f.Number, Until: f.Until, AskedAt: now, Expires: now.Add(approval.Lifetime)}
		if err := AddSeal(ctx, tx, s); err != nil {
			return err
		}
		pending, err = registry.RequestChange(ctx, tx, approval.Request{
			Kind: StartSealKind, Subject: id, Details: details(&s), Reason: f.Reason, By: f.By, Request: f.Request, At: now,
		}, start)
		return err
	})
	return id, pending, err
}

// details are what the second person sees of a seal.
func details(s *Seal) map[string]string {
	return map[string]string{"until": s.Until.UTC().Format(time.RFC3339), "lastDigits": s.Number.LastDigits()}
}

// LiftSeal ends a seal before its date. A second person has to confirm it first: then it returns
// the approval that waits.
func LiftSeal(ctx context.Context, pool *pgxpool.Pool, now time.Time, id uuid.UUID, reason string, by audit.Actor) (pending uuid.UUID, err error) {
	reason = strings.TrimSpace(reason)
	err = pg.InTx(ctx, pool, func(tx pg.Tx) error {
		s, found, err := FindSeal(ctx, tx, id, now)
		if err != nil {
			return err
		}
		if !found {
			return ErrNoSeal
		}
		var wrong fault.Form
		approval.CheckReason(&wrong, "reason", reason)
		wrong.Check(!s.Number.NamedIn(reason), "reason", fault.BadFormat, "Leave out the number: the reason is kept for years. Name the order.")
		if err := wrong.Err(); err != nil {
			return err
		}
		pending, err = registry.RequestChange(ctx, tx, approval.Request{
			Kind: LiftSealKind, Subject: id, Details: details(&s), Reason: reason, By: by, At: now.UTC().Truncate(time.Microsecond),
		}, lift)
		return err
	})
	return pending, err
}

// SealEffects returns what the approvals of this package do when a second person confirms them.
func SealEffects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{StartSealKind: start, LiftSealKind: lift}
}

// start is the effect of [StartSealKind].
func start(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	return carryOut(ctx, tx, a, audit.NumberSealed, StartSeal, ErrSealTooLate)
}

// lift is the effect of [LiftSealKind].
func lift(ctx context.Context, tx pg.Tx, a approval.Approval) error {
	return carryOut(ctx, tx, a, audit.SealLifted, EndSeal, ErrNoSeal)
}

func carryOut(ctx context.Context, tx pg.Tx, a approval.Approval, action audit.Action, change func(context.Context, pg.Tx, uuid.UUID, time.Time) (bool, error), missing error) error {
	done, err := change(ctx, tx, a.Subject, a.DecidedAt)
	if err != nil {
		return err
	}
	if !done {
		return missing
	}
	after := a.Both()
	after["until"] = a.Details["until"]
	return audit.Write(ctx, tx, audit.Entry{At: a.DecidedAt, Actor: a.DecidedBy, Action: action, Subject: a.Subject, Request: a.Request, After: after})
}
