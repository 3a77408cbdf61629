// Package order holds the orders of the regulator: about numbers, and about imports
// that are held or were wrong.
//
// What it guarantees:
//
//   - An order that lowers a guard (blacklisting, release, lifting a bar, voiding,
//     confirming a mass change, and everything that takes effect in the past) has no
//     effect until a second, independent person confirms it; the table
//     [approval.Actions] has the rule of each. A bar acts at once, and ends after
//     [Lapse] unless a second person confirms it. For [barAgain] after that, a new bar of
//     the number takes two people.
//   - A confirmed order takes effect when it is confirmed, unless it names a time in
//     the past.
//   - Whoever gave an order, and whoever confirmed it, is in the audit trail; the
//     number is not.
package order

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// The states of an order.
const (
	Pending     = "PENDING"     // waits for a second person to confirm it
	Unconfirmed = "UNCONFIRMED" // acts, and ends unless a second person confirms it in time
	Done        = "DONE"        // has become an event of the line
	Withdrawn   = "WITHDRAWN"   // was refused: it never became an event, or ends when it lapses
	Lapsed      = "LAPSED"      // nobody confirmed it in time, and it has ended
)

// Lapse is how long a bar of one person lasts unless a second one confirms it.
const Lapse = 72 * time.Hour

var (
	// ErrNotFound reports an order that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "There is no such order.")
	// ErrNotPending reports an order that is not pending, so that it can be neither
	// confirmed nor refused.
	ErrNotPending = fault.New(fault.IncompatibleState, "This order is not waiting to be confirmed.")
	// ErrLapsed reports a bar that nobody has confirmed in time.
	ErrLapsed = fault.New(fault.IncompatibleState, "This bar was not confirmed within 72 hours and has ended. If it is still needed, order it again: for 30 days that takes two people.")
	// ErrSecondPerson reports an attempt to confirm one's own order.
	ErrSecondPerson = fault.New(fault.PermissionDenied,
		"This order needs two people: a client or staff account other than the one that requested it must confirm it.")
)

// Service keeps orders. Supply carries them out.
type Service struct {
	Supply *supply.Service
	// CheckClient checks that a client may still give orders. Only Confirm needs it.
	CheckClient func(ctx context.Context, tx pg.Tx, client uuid.UUID) error
}

// Form is an order as the regulator writes it.
type Form struct {
	PhoneNumber string
	Action      string // BAR, UNBAR, BLACKLIST, RELEASE, VOID or CONFIRM
	Reason      string // of a bar
	Scope       string // of a bar: HOLDER, NUMBER, or empty for what the reason implies
	Note        string // why, in words
	EffectiveAt string // empty: now; not allowed for BLACKLIST, VOID and CONFIRM
	Event       string // for VOID and CONFIRM: the seq of the event, as the history shows it
}

// Order is an order of the regulator about one number.
type Order struct {
	ID          uuid.UUID
	Number      phone.Number
	Action      string
	State       string
	Note        string
	RequestedAt time.Time
	EffectiveAt time.Time // zero while the order is pending
	RequestedBy audit.Actor
	LapsesAt    time.Time     // of a bar by one person: when it ends, or would have ended, unless it is confirmed; zero for others
	ConfirmedAt time.Time     // zero while the order is not confirmed, and if it needs no second person
	DecidedBy   audit.Actor   // who confirmed or refused it; zero like ConfirmedAt
	DecidedAt   time.Time     // when that was
	RejectedFor string        // why it was refused; "" otherwise
	Result      supply.Result // of the event; set only by the call that made the order an event

	Reason, Scope string // of a bar
	Since         string // the time that it names, as given; "" for now
	Event         string // the seq of the event that a VOID or a CONFIRM names

	seq int64 // of the event that it has become; 0 while it is pending
}

// Kind returns the kind of the order in [approval.Actions].
func (o Order) Kind() approval.Kind {
	return kindOf(o.Action, o.Since != "" && o.LapsesAt.IsZero(), o.LapsesAt.IsZero() && (o.State == Pending || !o.DecidedAt.IsZero()))
}

// kindOf returns the kind of an action. A bar is dated if it takes effect in the past; a
// confirmation waits, or has waited, if its event is beyond the share, and a bar if one of
// the number has ended that nobody confirmed.
func kindOf(action string, dated, waits bool) approval.Kind {
	switch kind := orderKinds[action]; {
	case kind.rule == KindConfirm && waits:
		return KindConfirmShare
	case kind.rule == KindBar && dated:
		return KindBackdated
	case kind.rule == KindBar && waits:
		return KindBarAgain
	default:
		return kind.rule
	}
}

// Create stores an order of the regulator. One that needs two people waits until
// somebody else confirms it; every other becomes an event at once, and a bar ends after
// a while if nobody confirms it. The caller has made sure that from may give orders.
func (s *Service) Create(ctx context.Context, from supply.Supplier, f Form) (Order, error) {
	now := s.now()
	zone, err := s.zone(ctx, now)
	if err != nil {
		return Order{}, err
	}
	e, err := s.parse(f, zone, now)
	if err != nil {
		return Order{}, err
	}
	o := Order{
		ID: uuid.Must(uuid.NewV7()), Number: e.Number, Action: f.Action, Note: f.Note, RequestedAt: now, RequestedBy: from.Actor,
		Reason: f.Reason, Scope: f.Scope, Since: f.EffectiveAt, Event: f.Event,
	}
	e.Event.ID = o.ID.String()
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		// A VOID or a CONFIRM that is not possible is refused now, not days later.
		e.Check = true
		checked, err := s.Supply.Regulate(ctx, tx, from, e)
		if err != nil {
			return err
		}
		o.State, o.EffectiveAt, o.Result = Done, time.Time{}, supply.Result{}
		before, err := barsBefore(ctx, tx, e.Number, f.Action, now)
		if err != nil {
			return err
		}
		switch approval.ActionOf(kindOf(f.Action, isPast(&e, now), before.ended || checked.Hold == line.HoldMass)).Rule {
		case approval.TwoPeople:
			o.State = Pending
			return s.store(ctx, tx, &o)
		case approval.ConfirmLater:
			o.State, o.LapsesAt = Unconfirmed, before.lapse(now)
			e.LapsesAt = o.LapsesAt
		case approval.OnePerson:
		}
		e.Check = false
		done, err := s.Supply.Regulate(ctx, tx, from, e)
		if err != nil {
			return err
		}
		o.Result, o.EffectiveAt, o.seq = done.Result, done.EffectiveAt, done.Seq
		return s.store(ctx, tx, &o)
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// isPast reports whether an order takes effect in the past. The day of today is now.
func isPast(e *supply.RegulatorEvent, now time.Time) bool {
	return !e.Now && e.Event.Effective.Time().Before(now.Add(-supply.MaxClockSkew))
}

func (s *Service) store(ctx context.Context, tx pg.Tx, o *Order) error {
	effective, seq := o.EffectiveAt, &o.seq
	if o.State == Pending {
		effective, seq = o.RequestedAt, nil // the column is not null, but unused until the order is confirmed
	}
	var lapses *time.Time
	if !o.LapsesAt.IsZero() {
		lapses = &o.LapsesAt
	}
	_, err := tx.Exec(ctx, `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_by, asked_at, effective_at, seq, bar_reason, bar_scope, given_at, event, lapses_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		o.ID, o.Number.Int(), o.Action, o.State, o.Note, string(o.RequestedBy.Kind), pg.ID(o.RequestedBy.ID), o.RequestedAt, effective, seq,
		o.Reason, o.Scope, o.Since, o.Event, lapses)
	if err != nil {
		return fmt.Errorf("order: store an order: %w", err)
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: o.RequestedAt, Actor: o.RequestedBy, Action: audit.OrderGiven, Subject: o.ID,
		After: map[string]any{"order": o.Action, "state": o.State, "reason": o.Note}, // not the number: personal data stays out of the audit trail
	})
}

// Confirm makes a pending order an event. It takes effect now, unless the order names
// a time in the past. A bar that acts already then lasts until it is lifted. The caller
// has made sure that from may give orders.
func (s *Service) Confirm(ctx context.Context, from supply.Supplier, id uuid.UUID) (o Order, err error) {
	now := s.now()
	zone, err := s.zone(ctx, now)
	if err != nil {
		return Order{}, err
	}
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		if o, err = lockPending(ctx, tx, id, now); err != nil {
			return err
		}
		if from.Actor.Same(o.RequestedBy) || from.Actor.Kind != audit.Client && from.Actor.Kind != audit.Account {
			return ErrSecondPerson // the command line has no accounts, so it cannot show that two people agree
		}
		if err := s.checkTwo(ctx, tx, &o, from.Actor); err != nil {
			return err
		}
		before := o.State
		e, err := s.confirmation(&o, zone, now)
		if err != nil {
			return err
		}
		done, err := s.Supply.Regulate(ctx, tx, from, e)
		if err != nil {
			return err
		}
		if before == Pending {
			o.EffectiveAt, o.seq = done.EffectiveAt, done.Seq
		}
		o.State, o.ConfirmedAt, o.DecidedBy, o.DecidedAt, o.Result = Done, now, from.Actor, now, done.Result
		o.Result.ID = id.String()
		_, err = tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5, effective_at = $6, seq = $7 WHERE id = $1`,
			id, o.State, string(from.Actor.Kind), pg.ID(from.Actor.ID), now, o.EffectiveAt, o.seq)
		if err != nil {
			return fmt.Errorf("order: confirm an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: from.Actor, Action: audit.OrderConfirmed, Subject: id,
			Before: map[string]any{"state": before}, After: map[string]any{"state": o.State, "order": o.Action},
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// confirmation returns the event that confirms an order: its own, or, of a bar that
// acts already, the one that lets it last.
func (s *Service) confirmation(o *Order, zone *time.Location, now time.Time) (supply.RegulatorEvent, error) {
	if o.State == Unconfirmed {
		return supply.RegulatorEvent{
			Number: o.Number, Of: strconv.FormatInt(o.seq, 10), OfBar: true,
			Event: line.Event{ID: uuid.Must(uuid.NewV7()).String(), Kind: line.Confirm, Note: o.Note, ReportedAt: now, Effective: line.InstantOf(now)},
		}, nil
	}
	e, err := s.parse(Form{
		PhoneNumber: o.Number.E164(), Action: o.Action, Reason: o.Reason, Scope: o.Scope, Note: o.Note, EffectiveAt: o.Since, Event: o.Event,
	}, zone, now)
	e.Event.ID = o.ID.String()
	return e, err
}

// checkTwo checks that the requester may still give this order, so that the confirmation
// is not the act of one person, and that the second person is independent of them.
func (s *Service) checkTwo(ctx context.Context, tx pg.Tx, o *Order, second audit.Actor) error {
	if err := registry.CheckRequester(ctx, tx, o.RequestedBy, approval.ActionOf(o.Kind()).Request...); err != nil {
		return err
	}
	if o.RequestedBy.Kind == audit.Client {
		if s.CheckClient == nil {
			return errors.New("order: nothing checks whether a client may still give orders")
		}
		if err := s.CheckClient(ctx, tx, o.RequestedBy.ID); err != nil {
			return err
		}
	}
	return registry.CheckIndependent(ctx, tx, o.RequestedBy, second)
}

// Refuse ends a pending order, so that it never takes effect. A bar that acts already
// can then not be confirmed, and ends when it lapses. The person who requested the order
// may do that, too, and need not give a reason. The caller has made sure that by may give
// orders.
func (s *Service) Refuse(ctx context.Context, by audit.Actor, id uuid.UUID, reason string, request uuid.UUID) (o Order, err error) {
	now := s.now()
	err = s.Supply.InTx(ctx, func(tx pg.Tx) error {
		if o, err = lockPending(ctx, tx, id, now); err != nil {
			return err
		}
		if err := approval.CheckRejection(reason, by.Same(o.RequestedBy)); err != nil {
			return err
		}
		before := o.State
		o.State, o.DecidedBy, o.DecidedAt, o.RejectedFor = Withdrawn, by, now, reason
		_, err := tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5, rejected_for = $6 WHERE id = $1`,
			id, o.State, string(by.Kind), pg.ID(by.ID), now, reason)
		if err != nil {
			return fmt.Errorf("order: refuse an order: %w", err)
		}
		after := map[string]any{"state": o.State, "order": o.Action}
		if reason != "" {
			after["rejectedFor"] = reason
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.OrderRefused, Subject: id, Request: request, Before: map[string]any{"state": before}, After: after,
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

func (s *Service) now() time.Time { return s.Supply.Now().UTC().Truncate(time.Microsecond) }

// zone returns the time zone of bare dates.
func (s *Service) zone(ctx context.Context, now time.Time) (*time.Location, error) {
	policy, _, err := s.Supply.Lines.Current(ctx, s.Supply.Pool, now)
	if err != nil {
		return nil, err
	}
	return policy.Zone(), nil
}
