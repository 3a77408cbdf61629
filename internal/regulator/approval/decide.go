package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// Effect applies the requested change in the transaction of the confirmation. It
// must check again that the change is possible, because a request may wait for
// days. It writes its own audit entry, with the person who confirms as the actor.
type Effect func(ctx context.Context, tx pg.Tx, a Approval) error

// Service decides on requested changes. All fields are required; NotifyStaff only for
// [Service.BreakGlass].
type Service struct {
	Pool             *pgxpool.Pool
	CheckStaff       CheckStaff
	CheckIndependent CheckIndependent
	Effects          map[Kind]Effect
	Now              func() time.Time
	// NotifyStaff queues an e-mail to all staff that somebody uses break-glass, in the
	// transaction.
	NotifyStaff func(ctx context.Context, tx pg.Tx) error
}

// HasKind reports whether this version can apply a kind of change. After a
// downgrade there can be requests of kinds that only a later version knows; they
// can be refused, and expire like all others.
func (s *Service) HasKind(k Kind) bool { return s.Effects[k] != nil }

// Confirm applies a requested change. By must be another person than the
// requester.
func (s *Service) Confirm(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (Approval, error) {
	return s.decide(ctx, id, Approved, "", by, request)
}

// Refuse rejects a requested change, for a reason that the requester reads. The requester
// may refuse it too, to withdraw the request, and need not say why.
func (s *Service) Refuse(ctx context.Context, id uuid.UUID, reason string, by audit.Actor, request uuid.UUID) (Approval, error) {
	return s.decide(ctx, id, Refused, reason, by, request)
}

func (s *Service) decide(ctx context.Context, id uuid.UUID, to State, reason string, by audit.Actor, request uuid.UUID) (a Approval, err error) {
	now := s.now()
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		if a, err = lock(ctx, tx, id, now); err != nil {
			return err
		}
		action := ActionOf(a.Kind)
		if err := s.CheckStaff(ctx, tx, by, action.Confirm...); err != nil {
			return err
		}
		switch {
		case a.State != Waiting:
			return ErrNotWaiting
		case to == Approved && !s.HasKind(a.Kind):
			return ErrUnknownKind
		}
		if to == Approved {
			err = s.checkConfirm(ctx, tx, action, &a, by, now)
		} else {
			err = s.checkReject(ctx, tx, &a, reason, by)
		}
		if err != nil {
			return err
		}
		a.RejectedFor = reason
		a.State, a.DecidedBy, a.DecidedAt, a.Request = to, by, now, request
		return s.apply(ctx, tx, a)
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}

// lock reads an approval. Its row lock serialises concurrent decisions.
func lock(ctx context.Context, tx pg.Tx, id uuid.UUID, now time.Time) (Approval, error) {
	found, err := read(ctx, tx, now, `WHERE id = $1 FOR UPDATE`, id)
	if err != nil {
		return Approval{}, fmt.Errorf("approval: read an approval: %w", err)
	}
	if len(found) == 0 {
		return Approval{}, ErrNotFound
	}
	return found[0], nil
}

// checkConfirm checks that somebody may confirm a request: a second person or, after the
// delay of break-glass, the requester.
func (s *Service) checkConfirm(ctx context.Context, tx pg.Tx, action Action, a *Approval, by audit.Actor, now time.Time) error {
	switch own := by.Same(a.RequestedBy); {
	case by.Kind == audit.Account && by.ID == a.Subject:
		return ErrSecondPerson
	case !own:
		return s.checkTwo(ctx, tx, action, a.RequestedBy, by)
	}
	one := []Approval{*a}
	if err := readBreakGlass(ctx, tx, one); err != nil {
		return err
	}
	switch a.AloneFrom = one[0].AloneFrom; {
	case a.AloneFrom.IsZero() || !action.BreakGlass:
		return ErrSecondPerson
	case now.Before(a.AloneFrom):
		return ErrTooEarly
	}
	a.BreakGlass = true
	return nil
}

// aboutStanding are the requests that remove or demote the person they are about.
var aboutStanding = []Kind{"staff.remove", "staff.role"}

// checkReject checks that somebody may reject a request. The person whom it would remove
// or demote may not, nor somebody who may be one person with them, because nobody could ever
// remove them; but they may refuse that one person does it alone, with break-glass.
func (s *Service) checkReject(ctx context.Context, tx pg.Tx, a *Approval, reason string, by audit.Actor) error {
	own := by.Same(a.RequestedBy)
	if own || !slices.Contains(aboutStanding, a.Kind) {
		return CheckRejection(reason, own)
	}
	one := []Approval{*a}
	if err := readBreakGlass(ctx, tx, one); err != nil {
		return err
	}
	if one[0].AloneFrom.IsZero() {
		err := s.CheckIndependent(ctx, tx, audit.Actor{Kind: audit.Account, ID: a.Subject}, by)
		switch {
		case errors.Is(err, ErrNotIndependent):
			return ErrAboutYou
		case err != nil:
			return err
		}
	}
	return CheckRejection(reason, own)
}

// checkTwo checks that the requester still has the role for it, and that the second
// person is independent of them.
func (s *Service) checkTwo(ctx context.Context, tx pg.Tx, action Action, requester, second audit.Actor) error {
	err := s.CheckStaff(ctx, tx, requester, action.Request...)
	if errors.Is(err, ErrNotAdministrator) || errors.Is(err, ErrNotDecider) {
		return ErrRequesterGone
	}
	if err != nil {
		return err
	}
	return s.CheckIndependent(ctx, tx, requester, second)
}

// apply stores the decision and, if it is a confirmation, runs the effect.
func (s *Service) apply(ctx context.Context, tx pg.Tx, a Approval) error {
	second := a.DecidedBy
	if a.BreakGlass {
		second = audit.Actor{Kind: audit.System} // there was none, and the row must not say that the requester is
	}
	_, err := tx.Exec(ctx, `UPDATE approval SET state = $2, decided_kind = $3, decided_by = $4, decided_at = $5, rejected_for = $6 WHERE id = $1`,
		a.ID, a.State, second.Kind, pg.ID(second.ID), a.DecidedAt, a.RejectedFor)
	if err != nil {
		return fmt.Errorf("approval: decide: %w", err)
	}
	action := audit.ApprovalRefused
	if a.State == Approved {
		action = audit.ApprovalGiven
		if err := s.Effects[a.Kind](ctx, tx, a); err != nil {
			return err
		}
	}
	after := a.Both()
	after["kind"], after["subject"] = a.Kind, a.Subject
	if a.RejectedFor != "" {
		after["rejectedFor"] = a.RejectedFor
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: a.DecidedAt, Actor: a.DecidedBy, Action: action, Subject: a.ID, Entity: a.Entity, Request: a.Request, After: after,
	})
}

// Both returns who requested the change and why, for an audit entry whose actor is
// the person who confirmed it. Of a change by one person alone it is the reason.
func (a Approval) Both() map[string]any {
	if a.ID == uuid.Nil {
		if a.Reason == "" {
			return map[string]any{}
		}
		return map[string]any{"reason": a.Reason}
	}
	requester := string(a.RequestedBy.Kind)
	if a.RequestedBy.ID != uuid.Nil {
		requester = a.RequestedBy.ID.String()
	}
	both := map[string]any{"approval": a.ID, "askedBy": requester, "reason": a.Reason}
	if a.BreakGlass {
		both["breakGlass"] = true
	}
	return both
}

// List returns approvals, the newest first: those that wait or, if all is set,
// every one.
func (s *Service) List(ctx context.Context, all bool, limit int) ([]Approval, error) {
	now := s.now()
	list, err := read(ctx, s.Pool, now, `WHERE $1 OR (state = 'waiting' AND expires_at > $2) ORDER BY asked_at DESC, id DESC LIMIT $3`, all, now, limit)
	if err != nil {
		return nil, fmt.Errorf("approval: list: %w", err)
	}
	return list, readBreakGlass(ctx, s.Pool, list)
}

// Given counts the requests of a kind about a subject that were confirmed since a time.
func Given(ctx context.Context, from pg.DB, kind Kind, subject uuid.UUID, since time.Time) (n int, err error) {
	// A request is confirmed within its lifetime, so the index by the time of the request finds it.
	rows, err := pg.Collect(ctx, from, pgx.RowToStructByPos[signature], `SELECT id, row_sum, row_mac FROM approval
		WHERE kind = $1 AND subject_id = $2 AND state = 'given' AND decided_at >= $3 AND asked_at > $4`, kind, subject, since, since.Add(-Lifetime))
	if err != nil {
		return 0, fmt.Errorf("approval: count what was confirmed: %w", err)
	}
	for _, row := range rows {
		if ok, err := row.holds(ctx, from); err != nil {
			return 0, err
		} else if ok {
			n++
		}
	}
	return n, nil
}

// Rejected returns the requests that were rejected or withdrawn since a time.
func (s *Service) Rejected(ctx context.Context, since time.Time) ([]Approval, error) {
	list, err := read(ctx, s.Pool, s.now(), `WHERE state = 'refused' AND decided_at > $1 AND asked_at > $2 ORDER BY asked_at`, since, since.Add(-Lifetime))
	if err != nil {
		return nil, fmt.Errorf("approval: list what was rejected: %w", err)
	}
	return list, nil
}

// Find returns an approval, or [ErrNotFound].
func (s *Service) Find(ctx context.Context, id uuid.UUID) (Approval, error) {
	found, err := read(ctx, s.Pool, s.now(), `WHERE id = $1`, id)
	if err != nil {
		return Approval{}, fmt.Errorf("approval: find an approval: %w", err)
	}
	if len(found) == 0 {
		return Approval{}, ErrNotFound
	}
	err = readBreakGlass(ctx, s.Pool, found)
	return found[0], err
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// read returns the approvals of a condition whose rows are signed.
func read(ctx context.Context, from pg.DB, now time.Time, condition string, args ...any) ([]Approval, error) {
	type row struct {
		Approval

		signature signature
	}
	rows, err := pg.Collect(ctx, from, func(found pgx.CollectableRow) (r row, err error) {
		var entity, requester, second uuid.NullUUID
		var decidedKind *audit.ActorKind
		var decidedAt *time.Time
		err = found.Scan(&r.ID, &r.Kind, &r.Subject, &entity, &r.Details, &r.Reason, &r.State, &r.RequestedBy.Kind, &requester, &r.RequestedAt, &r.ExpiresAt,
			&decidedKind, &second, &decidedAt, &r.RejectedFor, &r.signature.Sum, &r.signature.MAC)
		if err != nil {
			return r, err
		}
		r.signature.ID = r.ID
		r.Entity, r.RequestedBy.ID, r.RequestedAt, r.ExpiresAt = entity.UUID, requester.UUID, r.RequestedAt.UTC(), r.ExpiresAt.UTC()
		if r.State == Waiting && !now.Before(r.ExpiresAt) {
			r.State = Expired
		}
		if decidedKind != nil {
			r.DecidedBy = audit.Actor{Kind: *decidedKind, ID: second.UUID}
		}
		if decidedAt != nil {
			r.DecidedAt = decidedAt.UTC()
		}
		return r, nil
	}, `SELECT id, kind, subject_id, entity_id, details, reason, state, asked_kind, asked_by, asked_at, expires_at,
		decided_kind, decided_by, decided_at, rejected_for, row_sum, row_mac FROM approval `+condition, args...)
	if err != nil {
		return nil, err
	}
	list := make([]Approval, 0, len(rows))
	for i := range rows {
		if ok, err := rows[i].signature.holds(ctx, from); err != nil {
			return nil, err
		} else if ok {
			list = append(list, rows[i].Approval)
		}
	}
	return list, nil
}

// signature is that of the row of an approval.
type signature struct {
	ID       uuid.UUID
	Sum, MAC []byte
}

func (s *signature) holds(ctx context.Context, from pg.DB) (bool, error) {
	err := pg.Signed(ctx, from, nil, pg.Row{Table: "approval", ID: s.ID, Sum: s.Sum, MAC: s.MAC})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
