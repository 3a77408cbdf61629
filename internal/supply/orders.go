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
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
)

// The states of an order.
const (
	OrderPending   = "PENDING"   // it waits for a second person
	OrderDone      = "DONE"      // it is an event of the line
	OrderWithdrawn = "WITHDRAWN" // it was refused, and never was an event
)

var (
	// ErrNoOrder reports an order that was never given.
	ErrNoOrder = fault.New(fault.NotFound, "There is no such order.")
	// ErrOrderNotPending reports that there is nothing to confirm.
	ErrOrderNotPending = fault.New(fault.IncompatibleState, "This order is not waiting to be confirmed.")
	// ErrSecondPerson reports that somebody wants to confirm alone.
	ErrSecondPerson = fault.New(fault.PermissionDenied,
		"A blacklisting needs two: another client or staff account than the one that asked for it must confirm it.")
)

// OrderForm is an order as the regulator writes it.
type OrderForm struct {
	PhoneNumber string
	Action      string // BAR, UNBAR, BLACKLIST, RELEASE or VOID
	Reason      string // of a bar
	Note        string // why, in words
	EffectiveAt string // empty: now; a blacklisting and a withdrawal have no say in it
	Event       string // for VOID: the seq of the event, as the history shows it
}

// Order is an order that was given.
type Order struct {
	ID          uuid.UUID
	Number      phone.Number
	Action      string
	State       string
	Note        string
	AskedAt     time.Time
	EffectiveAt time.Time // zero while the order is pending
	Asked       audit.Actor
	ConfirmedAt time.Time   // zero where nobody had to confirm, or has yet
	Second      audit.Actor // who confirmed or refused; zero while it waits, and where nobody had to
	SecondAt    time.Time   // when
	Result      Result      // of the event; only from the call in which the order became one
}

// GiveOrder takes an order of the regulator. A blacklisting waits until
// somebody else confirms it; every other order is an event at once. The caller
// has made sure that s may give orders.
func (d *Desk) GiveOrder(ctx context.Context, s Speaker, f OrderForm) (Order, error) {
	o, e, err := d.readOrder(f, d.now())
	if err != nil {
		return Order{}, err
	}
	o.Asked = s.Actor
	err = d.inTx(ctx, func(tx pg.Tx) error {
		var seq *int64
		if o.State == OrderDone {
			told, err := d.order(ctx, tx, s, &o, item{number: o.Number, event: e, voids: f.Event}, f.EffectiveAt == "")
			if err != nil {
				return err
			}
			seq = &told
		}
		effective := o.EffectiveAt
		if o.State == OrderPending {
			effective = o.AskedAt // until it is confirmed the column says nothing
		}
		_, err := tx.Exec(ctx, `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_by, asked_at, effective_at, seq)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			o.ID, o.Number.Int(), o.Action, o.State, o.Note, string(s.Actor.Kind), idOrNull(s.Actor.ID), o.AskedAt, effective, seq)
		if err != nil {
			return fmt.Errorf("supply: keep an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: o.AskedAt, Actor: s.Actor, Action: audit.OrderGiven, Subject: o.ID,
			After: map[string]any{"order": o.Action, "state": o.State, "reason": o.Note}, // the number stays where it belongs
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// ConfirmOrder lets a pending order take effect, from now on and not earlier.
// The caller has made sure that s may give orders.
func (d *Desk) ConfirmOrder(ctx context.Context, s Speaker, id uuid.UUID) (o Order, err error) {
	now := d.now()
	err = d.inTx(ctx, func(tx pg.Tx) error {
		// The lock lets two who confirm at once pass one after the other.
		if o, err = pending(ctx, tx, id); err != nil {
			return err
		}
		if s.Actor.Same(o.Asked) || s.Actor.Kind != audit.Client && s.Actor.Kind != audit.Account {
			return ErrSecondPerson // whoever runs the command line has no name by which two could be told apart
		}
		o.State, o.ConfirmedAt, o.Second, o.SecondAt = OrderDone, now, s.Actor, now
		e := line.Event{ID: o.ID.String(), Kind: orderKinds[o.Action], Note: o.Note, Told: now, Effective: line.InstantOf(now)}
		seq, err := d.order(ctx, tx, s, &o, item{number: o.Number, event: e}, true)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE line_order SET state = $2, second_kind = $3, second_by = $4, second_at = $5, effective_at = $6, seq = $7 WHERE id = $1`,
			id, o.State, string(s.Actor.Kind), idOrNull(s.Actor.ID), now, o.EffectiveAt, seq)
		if err != nil {
			return fmt.Errorf("supply: confirm an order: %w", err)
		}
		return audit.Write(ctx, tx, audit.Entry{
			At: now, Actor: s.Actor, Action: audit.OrderConfirmed, Subject: id,
			Before: map[string]any{"state": OrderPending}, After: map[string]any{"state": o.State, "order": o.Action},
		})
	})
	if err != nil {
		return Order{}, err
	}
	return o, nil
}

// orderKinds says which event an order becomes.
var orderKinds = map[string]line.Kind{
	"BAR": line.Bar, "UNBAR": line.Unbar, "BLACKLIST": line.Blacklist, "RELEASE": line.Release, "VOID": line.Void,
}

// readOrder turns a form into an order and the event that it will be, or names
// everything that is wrong with it.
func (d *Desk) readOrder(f OrderForm, now time.Time) (Order, line.Event, error) {
	var wrong fault.Form
	number, err := d.Region.ParseMobile(f.PhoneNumber)
	wrong.Check(f.PhoneNumber != "", "phoneNumber", fault.Required, "Say about which number the order is.")
	wrong.Check(f.PhoneNumber == "" || err == nil, "phoneNumber", fault.BadFormat, "Write a mobile number of this country.")
	kind, known := orderKinds[f.Action]
	wrong.Check(f.Action != "", "action", fault.Required, "Say what is ordered: BAR, UNBAR, BLACKLIST, RELEASE or VOID.")
	wrong.Check(f.Action == "" || known, "action", fault.NotAllowed, "Give one of: BAR, UNBAR, BLACKLIST, RELEASE, VOID.")
	wrong.Check(f.Note != "", "note", fault.Required, "Say in note why the order is given.")
	wrong.Check(f.Note == "" || printable(f.Note, maxNote), "note", fault.BadFormat, "Write at most 200 printable characters.")
	code, coded := line.ParseCode(f.Reason)
	barring := kind == line.Bar
	wrong.Check(!barring || f.Reason != "", "reason", fault.Required, "Give the reason of the bar: "+wordsOf(barReasons)+".")
	wrong.Check(!barring || f.Reason == "" || coded && slices.Contains(barReasons, code), "reason", fault.NotAllowed, "Give one of: "+wordsOf(barReasons)+".")
	wrong.Check(!known || barring || f.Reason == "", "reason", fault.NotAllowed, "Only BAR has a reason. Say why in note.")
	wrong.Check(kind != line.Void || f.Event != "", "event", fault.Required, "Name the event to withdraw by its seq, which the history shows.")
	wrong.Check(!known || kind == line.Void || f.Event == "", "event", fault.NotAllowed, "Only VOID names an event.")
	at := line.InstantOf(now)
	if f.EffectiveAt != "" {
		given, ok := line.ParseInstant(f.EffectiveAt)
		wrong.Check(ok, "effectiveAt", fault.BadFormat, "Write a time like 2026-01-31T13:45:00Z, or a date.")
		wrong.Check(!ok || !given.Time().After(now.Add(skew)), "effectiveAt", fault.NotAllowed, "Give a time that has passed, or none.")
		wrong.Check(kind != line.Blacklist, "effectiveAt", fault.NotAllowed, "A blacklisting takes effect when it is confirmed. Leave the time out.")
		wrong.Check(kind != line.Void, "effectiveAt", fault.NotAllowed, "A withdrawal takes effect where the event stood. Leave the time out.")
		at = given
	}
	if err := wrong.Err(); err != nil {
		return Order{}, line.Event{}, err
	}
	o := Order{ID: uuid.Must(uuid.NewV7()), Number: number, Action: f.Action, State: OrderDone, Note: f.Note, AskedAt: now}
	if kind == line.Blacklist {
		o.State = OrderPending
	}
	return o, line.Event{ID: o.ID.String(), Kind: kind, Code: code, Note: f.Note, Told: now, Effective: at}, nil
}

// order tells the event of an order in the name of the regulator. One that takes
// effect at once does so after everything that was told before: of two orders
// within one second the second is the one that is meant.
func (d *Desk) order(ctx context.Context, tx pg.Tx, s Speaker, o *Order, i item, atOnce bool) (seq int64, err error) {
	s.Authorities = []line.Authority{line.Regulator}
	r, err := d.rulesAt(ctx, tx, i.event.Told)
	if err != nil {
		return 0, err
	}
	v, err := d.hear(ctx, tx, s, r)
	if err != nil {
		return 0, err
	}
	seqs, err := line.Reserve(ctx, tx, 1)
	if err != nil {
		return 0, err
	}
	sheet, err := d.lay(ctx, tx, r, []phone.Number{i.number}, true)
	if err != nil {
		return 0, err
	}
	i.event.By, i.event.Supplier, i.event.Until, i.event.After = line.Regulator, v.supplier[line.Regulator], line.Never, line.Never
	if newest := sheet.by[i.number].row.Newest; atOnce && newest >= i.event.Effective {
		i.event.Effective = min(newest+1, line.InstantOf(r.now.Add(skew)))
	}
	i.result.ID = i.event.ID
	sheet.voice = v
	sheet.tell(&i, seqs[0])
	if i.result.Outcome == Refused {
		// The only order that can be refused here is one to withdraw.
		return 0, fault.ErrInvalid.With(fault.Violation{Field: "event", Code: fault.NotAllowed, Message: i.result.Message})
	}
	if err := sheet.save(ctx, tx); err != nil {
		return 0, err
	}
	o.Result, o.EffectiveAt = i.result, i.event.Effective.Time()
	return seqs[0], sheet.tally.save(ctx, tx)
}
