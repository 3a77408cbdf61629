package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/approval/internal/db"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/pg"
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
			err = CheckRejection(reason, by.Same(a.RequestedBy))
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
	row, err := db.New(tx).Lock(ctx, id)
	if err == nil {
		err = signed(ctx, tx, row)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Approval{}, ErrNotFound
	}
	if err != nil {
		return Approval{}, fmt.Errorf("approval: read an approval: %w", err)
	}
	return fromRow(row, now)
}

// checkConfirm checks that somebody may confirm a request: a second person or, after the
// delay of break-glass, the requester.
func (s *Service) checkConfirm(ctx context.Context, tx pg.Tx, action Action, a *Approval, by audit.Actor, now time.Time) error {
	switch own := by.Same(a.RequestedBy); {
	case by.Kind == audit.Account && by.ID == a.Subject:
		return ErrSecondPerson
	case !own:
		return s.checkTwo(ctx, tx, action, a.RequestedBy, by, now)
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

// checkTwo checks that the requester still has the role for it, and that the second
// person is independent of them.
func (s *Service) checkTwo(ctx context.Context, tx pg.Tx, action Action, requester, second audit.Actor, now time.Time) error {
	err := s.CheckStaff(ctx, tx, requester, action.Request...)
	if errors.Is(err, ErrNotAdministrator) || errors.Is(err, ErrNotDecider) {
		return ErrRequesterGone
	}
	if err != nil {
		return err
	}
	return s.CheckIndependent(ctx, tx, requester, second, now)
}

// apply stores the decision and, if it is a confirmation, runs the effect.
func (s *Service) apply(ctx context.Context, tx pg.Tx, a Approval) error {
	second := a.DecidedBy
	if a.BreakGlass {
		second = audit.Actor{Kind: audit.System} // there was none, and the row must not say that the requester is
	}
	err := db.New(tx).Decide(ctx, db.DecideParams{
		ID: a.ID, State: string(a.State), DecidedKind: string(second.Kind), DecidedBy: pg.ID(second.ID), DecidedAt: a.DecidedAt, RejectedFor: a.RejectedFor,
	})
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
	rows, err := db.New(s.Pool).List(ctx, db.ListParams{Every: all, Now: s.now(), MaxRows: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("approval: list: %w", err)
	}
	list, err := s.fromRows(ctx, rows)
	if err != nil {
		return nil, err
	}
	return list, readBreakGlass(ctx, s.Pool, list)
}

// Rejected returns the requests that were rejected or withdrawn since a time.
func (s *Service) Rejected(ctx context.Context, since time.Time) ([]Approval, error) {
	rows, err := db.New(s.Pool).Rejected(ctx, db.RejectedParams{Since: &since, RequestedSince: since.Add(-Lifetime)})
	if err != nil {
		return nil, fmt.Errorf("approval: list what was rejected: %w", err)
	}
	return s.fromRows(ctx, rows)
}

// fromRows returns the approvals whose rows are signed.
func (s *Service) fromRows(ctx context.Context, rows []db.Approval) ([]Approval, error) {
	list := make([]Approval, 0, len(rows))
	for _, row := range rows {
		if err := signed(ctx, s.Pool, row); errors.Is(err, pgx.ErrNoRows) {
			continue
		} else if err != nil {
			return nil, err
		}
		a, err := fromRow(row, s.now())
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// Find returns an approval, or [ErrNotFound].
func (s *Service) Find(ctx context.Context, id uuid.UUID) (Approval, error) {
	row, err := db.New(s.Pool).Find(ctx, id)
	if err == nil {
		err = signed(ctx, s.Pool, row)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Approval{}, ErrNotFound
	}
	if err != nil {
		return Approval{}, fmt.Errorf("approval: find an approval: %w", err)
	}
	a, err := fromRow(row, s.now())
	if err != nil {
		return Approval{}, err
	}
	one := []Approval{a}
	err = readBreakGlass(ctx, s.Pool, one)
	return one[0], err
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

func fromRow(r db.Approval, now time.Time) (Approval, error) {
	a := Approval{
		ID: r.ID, Kind: Kind(r.Kind), Subject: r.SubjectID, Entity: r.EntityID.UUID, Reason: r.Reason, State: State(r.State), RejectedFor: r.RejectedFor,
		RequestedBy: audit.Actor{Kind: audit.ActorKind(r.AskedKind), ID: r.AskedBy.UUID}, RequestedAt: r.AskedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
	if a.State == Waiting && !now.Before(a.ExpiresAt) {
		a.State = Expired
	}
	if r.DecidedKind != nil {
		a.DecidedBy = audit.Actor{Kind: audit.ActorKind(*r.DecidedKind), ID: r.DecidedBy.UUID}
	}
	if r.DecidedAt != nil {
		a.DecidedAt = r.DecidedAt.UTC()
	}
	if err := json.Unmarshal(r.Details, &a.Details); err != nil {
		return Approval{}, fmt.Errorf("approval: read the details: %w", err)
	}
	return a, nil
}

// signed returns pgx.ErrNoRows unless the row of an approval is signed.
func signed(ctx context.Context, from pg.DB, row db.Approval) error {
	return pg.Signed(ctx, from, nil, pg.Row{Table: "approval", ID: row.ID, Sum: row.RowSum, MAC: row.RowMac})
}
