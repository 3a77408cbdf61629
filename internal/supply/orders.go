package supply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/linestore"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// The states of an order.
const (
	OrderPending   = "PENDING"   // waits for a second person to confirm it
	OrderDone      = "DONE"      // has become an event of the line
	OrderWithdrawn = "WITHDRAWN" // was refused, and never became an event
)

var (
	// ErrNoOrder reports an order that does not exist.
	ErrNoOrder = fault.New(fault.NotFound, "There is no such order.")
	// ErrOrderNotPending reports an order that is not pending, so that it can be
	// neither confirmed nor refused.
	ErrOrderNotPending = fault.New(fault.IncompatibleState, "This order is not waiting to be confirmed.")
	// ErrSecondPerson reports an attempt to confirm one's own order.
	ErrSecondPerson = fault.New(fault.PermissionDenied,
		"A blacklisting needs two people: a client or staff account other than the one that requested it must confirm it.")
)

// OrderForm is an order as the regulator writes it.
type OrderForm struct {
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
	ConfirmedAt time.Time   // zero while the order is pending, and if it needed no second person
	DecidedBy   audit.Actor // who confirmed or refused it; zero like ConfirmedAt
	DecidedAt   time.Time   // when that was
	Result      Result      // of the event; set only by the call that made the order an event
}

// CreateOrder stores an order of the regulator. A blacklisting waits until
// somebody else confirms it; every other order becomes an event at once. The caller
// has made sure that from may give orders.
func (s *Service) CreateOrder(ctx context.Context, from Supplier, f OrderForm) (Order, error) {
	now := s.now()
	r, err := s.rulesAt(ctx, s.Pool, now)
	if err != nil {
		return Order{}, err
	}
	o, e, err := s.parseOrder(f, r.policy.Zone(), now)
	if err != nil {
		return Order{}, err
	}
	o.RequestedBy = from.Actor
	err = s.inTx(ctx, func(tx pg.Tx) error {
		var seq *int64
		if o.State == OrderDone {
			applied, err := s.applyOrder(ctx, tx, from, &o, item{number: o.Number, event: e, voids: f.Event}, f.EffectiveAt == "")
			if err != nil {
				return err
			}
			seq = &applied
		}
		effective := o.EffectiveAt
		if o.State == OrderPending {
			effective = o.RequestedAt // the column is not null, but unused until the order is confirmed
		}
		_, err := tx.Exec(ctx, `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_by, asked_at, effective_at, seq)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			o.ID, o.Number.Int(), o.Action, o.State, o.Note, string(from.Actor.Kind), idOrNull(from.Actor.ID), o.RequestedAt, effective, seq)
		if err != nil {
			return fmt.Errorf("supply: store an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: o.RequestedAt, Actor: from.Actor, Action: audit.OrderGiven, Subject: o.ID,
			After: map[string]any{"order": o.Action, "state": o.State, "reason": o.Note}, // not the number: personal data stays out of the audit trail
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// ConfirmOrder makes a pending order an event that takes effect now, and not
// earlier.
// The caller has made sure that from may give orders.
func (s *Service) ConfirmOrder(ctx context.Context, from Supplier, id uuid.UUID) (o Order, err error) {
	now := s.now()
	err = s.inTx(ctx, func(tx pg.Tx) error {
		if o, err = lockPending(ctx, tx, id); err != nil {
			return err
		}
		if from.Actor.Same(o.RequestedBy) || from.Actor.Kind != audit.Client && from.Actor.Kind != audit.Account {
			return ErrSecondPerson // the command line has no accounts, so it cannot show that two people agree
		}
		o.State, o.ConfirmedAt, o.DecidedBy, o.DecidedAt = OrderDone, now, from.Actor, now
		e := line.Event{ID: o.ID.String(), Kind: orderKinds[o.Action], Note: o.Note, ReportedAt: now, Effective: line.InstantOf(now)}
		seq, err := s.applyOrder(ctx, tx, from, &o, item{number: o.Number, event: e}, true)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5, effective_at = $6, seq = $7 WHERE id = $1`,
			id, o.State, string(from.Actor.Kind), idOrNull(from.Actor.ID), now, o.EffectiveAt, seq)
		if err != nil {
			return fmt.Errorf("supply: confirm an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: from.Actor, Action: audit.OrderConfirmed, Subject: id,
			Before: map[string]any{"state": OrderPending}, After: map[string]any{"state": o.State, "order": o.Action},
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// RefuseOrder ends a pending order, so that it never takes effect. The person who
// requested the order may do that, too. The caller has made sure that by may give
// orders.
func (s *Service) RefuseOrder(ctx context.Context, by audit.Actor, id, request uuid.UUID) (o Order, err error) {
	now := s.now()
	err = s.inTx(ctx, func(tx pg.Tx) error {
		if o, err = lockPending(ctx, tx, id); err != nil {
			return err
		}
		o.State, o.DecidedBy, o.DecidedAt = OrderWithdrawn, by, now
		_, err := tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5 WHERE id = $1`,
			id, o.State, string(by.Kind), idOrNull(by.ID), now)
		if err != nil {
			return fmt.Errorf("supply: refuse an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: by, Action: audit.OrderRefused, Subject: id, Request: request,
			Before: map[string]any{"state": OrderPending}, After: map[string]any{"state": o.State, "order": o.Action},
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// orderKinds is the kind of event that each order becomes.
var orderKinds = map[string]line.Kind{
	"BAR": line.Bar, "UNBAR": line.Unbar, "BLACKLIST": line.Blacklist, "RELEASE": line.Release, "VOID": line.Void, "CONFIRM": line.Confirm,
}

// parseOrder turns a form into an order and the event that it becomes, or returns
// everything that is wrong with the form.
func (s *Service) parseOrder(f OrderForm, zone *time.Location, now time.Time) (Order, line.Event, error) {
	var wrong fault.Form
	phoneNumber, err := s.Region.ParseMobile(f.PhoneNumber)
	wrong.Check(f.PhoneNumber != "", "phoneNumber", fault.Required, "Give the number that the order is about.")
	wrong.Check(f.PhoneNumber == "" || err == nil, "phoneNumber", fault.BadFormat, numberForm)
	kind, known := orderKinds[f.Action]
	wrong.Check(f.Action != "", "action", fault.Required, "Give the action: BAR, UNBAR, BLACKLIST, RELEASE, VOID or CONFIRM.")
	wrong.Check(f.Action == "" || known, "action", fault.NotAllowed, "Give one of: BAR, UNBAR, BLACKLIST, RELEASE, VOID, CONFIRM.")
	wrong.Check(f.Note != "", "note", fault.Required, "Say in note why the order is given.")
	wrong.Check(f.Note == "" || printable(f.Note, maxNote), "note", fault.BadFormat, noteForm)
	code, coded := line.ParseCode(f.Reason)
	barring := kind == line.Bar
	wrong.Check(!barring || f.Reason != "", "reason", fault.Required, "Give the reason of the bar: "+joinCodes(barReasons)+".")
	wrong.Check(!barring || f.Reason == "" || coded && slices.Contains(barReasons, code), "reason", fault.NotAllowed, "Give one of: "+joinCodes(barReasons)+".")
	wrong.Check(!known || barring || f.Reason == "", "reason", fault.NotAllowed, "Only BAR has a reason. Say why in note.")
	ofEvent := kind == line.Void || kind == line.Confirm
	wrong.Check(!ofEvent || f.Event != "", "event", fault.Required, "Give the seq of the event to void or to confirm, which the history shows.")
	wrong.Check(!known || ofEvent || f.Event == "", "event", fault.NotAllowed, "Only VOID and CONFIRM take an event.")
	wrong.Check(barring || f.Scope == "", "scope", fault.NotAllowed, "Only BAR has a scope.")
	wrong.Check(f.Scope == "" || f.Scope == "HOLDER" || f.Scope == "NUMBER", "scope", fault.NotAllowed, "Give HOLDER or NUMBER.")
	at, day := line.InstantOf(now), false
	if f.EffectiveAt != "" {
		given, bare, ok := line.ParseInstant(f.EffectiveAt, zone)
		if day = bare; bare {
			given = min(given, at) // today's date is no time in the future
		}
		wrong.Check(ok, "effectiveAt", fault.BadFormat, timeForm)
		wrong.Check(!ok || !given.Time().After(now.Add(maxClockSkew)), "effectiveAt", fault.NotAllowed, "Give a time that has passed, or none.")
		wrong.Check(kind != line.Blacklist, "effectiveAt", fault.NotAllowed, "A blacklisting takes effect when it is confirmed. Leave the time out.")
		wrong.Check(!ofEvent, "effectiveAt", fault.NotAllowed, "VOID and CONFIRM take effect when their event did. Leave the time out.")
		at = given
	}
	if err := wrong.Err(); err != nil {
		return Order{}, line.Event{}, err
	}
	o := Order{ID: uuid.Must(uuid.NewV7()), Number: phoneNumber, Action: f.Action, State: OrderDone, Note: f.Note, RequestedAt: now}
	if kind == line.Blacklist {
		o.State = OrderPending
	}
	number := f.Scope == "NUMBER" || f.Scope == "" && (code == line.ReasonCourt || code == line.ReasonFraud)
	return o, line.Event{
		ID: o.ID.String(), Kind: kind, Code: code, Number: barring && number, Note: f.Note, ReportedAt: now, Effective: at, Day: day,
	}, nil
}

// applyOrder applies the event of an order, with the authority of the regulator.
// An order that takes effect now is dated after every event that is stored, so
// that of two orders within one second the later one prevails.
func (s *Service) applyOrder(ctx context.Context, tx pg.Tx, from Supplier, o *Order, i item, now bool) (seq int64, err error) {
	from.Authorities = []line.Authority{line.Regulator}
	r, err := s.rulesAt(ctx, tx, i.event.ReportedAt)
	if err != nil {
		return 0, err
	}
	supplier, err := s.resolve(ctx, tx, from, r)
	if err != nil {
		return 0, err
	}
	seqs, err := linestore.ReserveSeqs(ctx, tx, 1)
	if err != nil {
		return 0, err
	}
	cs, err := s.load(ctx, tx, r, []phone.Number{i.number}, true)
	if err != nil {
		return 0, err
	}
	i.event.Authority, i.event.Supplier, i.event.Until, i.event.EndedAfter = line.Regulator, supplier.supplierIDs[line.Regulator], line.Never, line.Never
	if newest := cs.byNumber[i.number].Row.Newest; now && newest >= i.event.Effective {
		i.event.Effective = newest + 1 // also after a bare date of today, which is ordered at its end
	}
	i.result.ID = i.event.ID
	cs.supplier, cs.seqs = supplier, &seqAllocator{tx: tx}
	if err := cs.applyEvent(ctx, &i, seqs[0]); err != nil {
		return 0, err
	}
	if i.result.Outcome == Refused {
		// Only a VOID or a CONFIRM can be refused here: the regulator may do everything else.
		return 0, fault.ErrInvalid.With(fault.Violation{Field: "event", Code: fault.NotAllowed, Message: i.result.Message})
	}
	if err := cs.save(ctx, tx); err != nil {
		return 0, err
	}
	o.Result, o.EffectiveAt = i.result, i.event.Effective.Time()
	return seqs[0], cs.counts.save(ctx, tx)
}
