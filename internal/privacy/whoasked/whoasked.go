// Package whoasked answers a person who asks which organisations asked about their
// number: it searches all answers about one number, in the database and in the archives,
// and makes a report for the person.
//
// The search shows what every organisation asked, so it takes two people: one requests it
// with the number, the period and the reason, and an administrator confirms. From then on
// it can be run for seven days. The request, the confirmation and each run are in the
// audit trail, with the last two digits of the number; the number itself is stored only in
// who_asked, until the request or the permission expires.
package whoasked

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Kind is the kind of approval. It is stored; never change it.
const Kind approval.Kind = "journal.who_asked"

// Lifetime is for how long a confirmed search can be run.
const Lifetime = 7 * 24 * time.Hour

var (
	// ErrNotConfirmed reports a search that no second person has confirmed.
	ErrNotConfirmed = fault.New(fault.IncompatibleState, "This search waits for a second person. An administrator confirms it with: lineproof approval confirm")
	// ErrNotAllowed reports a search that was refused, or whose time is over.
	ErrNotAllowed = fault.New(fault.IncompatibleState, "This search was refused or its seven days are over. If it is still needed, request it again.")
)

// Service requests and runs searches. All fields but Read are required; Files only to run.
type Service struct {
	Pool     *pgxpool.Pool
	Read     *pgxpool.Pool // if set, a database that is only read, such as a standby, which is searched
	Files    blob.Store    // has the archives
	Registry *registry.Registry
	Now      func() time.Time
}

// Request describes a search. First and Last are days of UTC, both included.
type Request struct {
	Number      phone.Number
	First, Last time.Time
	Reason      string
	By          audit.Actor
	Request     uuid.UUID // the id of the HTTP request; zero for none
}

func (r Request) check(now time.Time) error {
	var wrong fault.Form
	audit.CheckReason(&wrong, "reason", r.Reason)
	wrong.Check(!r.Number.NamedIn(r.Reason), "reason", fault.BadFormat, "Leave out the number: the reason is kept for years. Name the case.")
	wrong.Check(!r.Number.IsZero(), "number", fault.Required, "Give the number.")
	wrong.Check(!r.First.IsZero(), "from", fault.Required, "Give the first day.")
	wrong.Check(!r.Last.Before(r.First), "to", fault.BadFormat, "The last day must not be before the first.")
	wrong.Check(!r.Last.After(now), "to", fault.BadFormat, "The last day must not be in the future.")
	return wrong.Err()
}

// Request stores a search that waits for a second person, and returns the id of the
// approval.
func (s *Service) Request(ctx context.Context, r Request) (id uuid.UUID, err error) {
	now := s.Now().UTC()
	if err := r.check(now); err != nil {
		return uuid.Nil, err
	}
	search := uuid.Must(uuid.NewV7())
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		id, err = approval.Create(ctx, tx, registry.CheckStaff, approval.Request{
			Kind: Kind, Subject: search, Reason: r.Reason, By: r.By, Request: r.Request, At: now,
			Details: details(r.Number, r.First, r.Last),
		})
		if err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO who_asked (id, number, first_day, last_day, allowed, expires_at) VALUES ($1, $2, $3, $4, false, $5)`,
			search, r.Number.Int(), r.First, r.Last, now.Add(approval.Lifetime))
		return fault.Wrap(err, "whoasked: store a request")
	})
	return id, err
}

// details describe a search to the second person, without the number itself.
func details(number phone.Number, first, last time.Time) map[string]string {
	return map[string]string{"from": first.Format(time.DateOnly), "to": last.Format(time.DateOnly), "lastDigits": number.LastDigits()}
}

// Effects returns the effect of the approval: the search may be run.
func Effects() map[approval.Kind]approval.Effect {
	return map[approval.Kind]approval.Effect{Kind: func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
		tag, err := tx.Exec(ctx, `UPDATE who_asked SET allowed = true, expires_at = $2 WHERE id = $1`, a.Subject, a.DecidedAt.Add(Lifetime))
		if err != nil {
			return fmt.Errorf("whoasked: allow a search: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return approval.ErrNotWaiting
		}
		return nil
	}}
}

// DeleteExpired deletes the searches whose time is over, and with them the numbers. It
// returns how many there were.
func DeleteExpired(ctx context.Context, pool *pgxpool.Pool, now time.Time) (int64, error) {
	tag, err := pool.Exec(ctx, `DELETE FROM who_asked WHERE expires_at <= $1`, now)
	if err != nil {
		return 0, fmt.Errorf("whoasked: delete expired searches: %w", err)
	}
	return tag.RowsAffected(), nil
}

// search is a search that may be run.
type search struct {
	approval    approval.Approval
	number      phone.Number
	first, last time.Time
}

// allowed returns a search that two people have allowed, and whose time is not over.
func (s *Service) allowed(ctx context.Context, id uuid.UUID) (found search, err error) {
	found.approval, err = (&approval.Service{Pool: s.Pool, Now: s.Now}).Find(ctx, id)
	switch {
	case err != nil:
		return search{}, err
	case found.approval.Kind != Kind:
		return search{}, approval.ErrNotFound
	case found.approval.State == approval.Waiting:
		return search{}, ErrNotConfirmed
	case found.approval.State != approval.Approved:
		return search{}, ErrNotAllowed
	}
	var number int64
	err = s.Pool.QueryRow(ctx, `SELECT number, first_day::timestamptz, last_day::timestamptz FROM who_asked WHERE id = $1 AND allowed AND expires_at > $2`,
		found.approval.Subject, s.Now()).Scan(&number, &found.first, &found.last)
	if errors.Is(err, pgx.ErrNoRows) {
		return search{}, ErrNotAllowed
	}
	if err != nil {
		return search{}, fmt.Errorf("whoasked: read a search: %w", err)
	}
	found.number, _ = phone.FromInt(number)
	found.first, found.last = found.first.UTC(), found.last.UTC()
	// The approval is signed and this row is not: what was changed since two people agreed is not searched.
	if agreed := details(found.number, found.first, found.last); !maps.Equal(agreed, found.approval.Details) {
		return search{}, ErrNotAllowed
	}
	return found, nil
}
