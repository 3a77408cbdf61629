package client

import (
	"context"
	"time"
	"unicode/utf8"
)

// The types of event. The service's reference says who may tell which, and what
// each of them needs.
const (
	EventAssigned     = "ASSIGNED"
	EventSIMChanged   = "SIM_CHANGED"
	EventBarred       = "BARRED"
	EventUnbarred     = "UNBARRED"
	EventChurnNotice  = "CHURN_NOTICE"
	EventParked       = "PARKED"
	EventReturned     = "RETURNED"
	EventInactive     = "INACTIVE"
	EventUsed         = "USED"
	EventEnded        = "ENDED"
	EventReinstated   = "REINSTATED"
	EventPortClaimed  = "PORT_CLAIMED"
	EventPortReleased = "PORT_RELEASED"
	EventPorted       = "PORTED"
	EventFlagged      = "FLAGGED"
	EventUnflagged    = "UNFLAGGED"
	EventVoided       = "VOIDED"
)

// LineEvent is something that happened to a line.
type LineEvent struct {
	ID          string // your own; the same event, told again, is a duplicate
	PhoneNumber string
	Type        string    // EventSIMChanged and the like
	EffectiveAt time.Time // when it took effect; fractions of a second are dropped
	Network     string    // the recipient of a port
	Level       string    // of a flag: MEDIUM, HIGH or VERY_HIGH
	Reason      string    // of a bar or an end
	ChurnAt     time.Time // of a notice
	Voids       string    // the id of the event that this one withdraws
	Note        string
}

// The results of an event.
const (
	ResultApplied   = "APPLIED"   // it counts
	ResultNoEffect  = "NO_EFFECT" // it is kept, and changes nothing as things stand
	ResultConflict  = "CONFLICT"  // half of a port; the other half is missing
	ResultDuplicate = "DUPLICATE" // it was told before
	ResultRefused   = "REFUSED"   // it is not kept
)

// EventResult is what became of one event.
type EventResult struct {
	ID      string `json:"id"`
	Result  string `json:"result"`           // ResultApplied and the like
	Field   string `json:"field,omitzero"`   // that is to blame, if one is
	Reason  string `json:"reason,omitzero"`  // such as NOT_YOURS
	Message string `json:"message,omitzero"` // a sentence for people
}

// EventsReceipt is what became of a call.
type EventsReceipt struct {
	Applied         int           `json:"applied"`
	NoEffect        int           `json:"noEffect"`
	Conflicts       int           `json:"conflicts"`
	Duplicates      int           `json:"duplicates"`
	Refused         int           `json:"refused"`
	SuppliedThrough time.Time     `json:"suppliedThrough,omitzero"` // zero when it is not known, or nobody's
	Results         []EventResult `json:"results"`                  // one for each event, in order
}

// TellEvents tells what happened to lines, at most 1,000 events in a call, whose
// token has [ScopeSupply], [ScopePort] or [ScopeFlag]. Each event has a result of
// its own: look at them, a refused event is no error of the call. Through, if it
// is not zero, says that everything which took effect up to then has been
// supplied; without events it is the return of an operator that has nothing to
// report.
func (c *Client) TellEvents(ctx context.Context, token Secret, events []LineEvent, through time.Time) (*EventsReceipt, error) {
	r, err := c.newRequest(ctx, "tell events", "/api/v1/lines/events")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(token); err != nil {
		return nil, err
	}
	list := make([]map[string]string, len(events))
	for i, e := range events {
		list[i] = map[string]string{
			"id": e.ID, "phoneNumber": e.PhoneNumber, "type": e.Type, "effectiveAt": moment(e.EffectiveAt), "network": e.Network, "level": e.Level,
			"reason": e.Reason, "churnAt": moment(e.ChurnAt), "voids": e.Voids, "note": e.Note,
		}
		for name, text := range list[i] {
			if !utf8.ValidString(text) {
				return nil, r.wrong(name + " of an event is not valid UTF-8")
			}
			if text == "" {
				delete(list[i], name)
			}
		}
	}
	body := map[string]any{"events": list}
	if !through.IsZero() {
		body["through"] = moment(through)
	}
	if err := r.sendJSON(body); err != nil {
		return nil, err
	}
	r.repeatable = true // each event is known by its id
	answer, err := send[envelope[EventsReceipt]](ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case len(answer.Data.Results) != len(events):
		return nil, r.incomplete()
	}
	return &answer.Data, nil
}

// moment writes a time as the service reads it; the zero time is nothing.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// The actions of an order.
const (
	OrderBar       = "BAR"
	OrderUnbar     = "UNBAR"
	OrderBlacklist = "BLACKLIST" // waits for a second person
	OrderRelease   = "RELEASE"
	OrderVoid      = "VOID" // withdraws an event
)

// Order is an order of the regulator about a number.
type Order struct {
	PhoneNumber string
	Action      string    // OrderBar and the like
	Reason      string    // of a bar: NIN, FRAUD, COURT, LOST, DEBT or OTHER
	Note        string    // why, in words
	EffectiveAt time.Time // zero means now
	Event       string    // of OrderVoid: the Event of a [HistoryEvent]

	IdempotencyKey string // as in [Application]
}

// GivenOrder is an order as it stands.
type GivenOrder struct {
	ID          string       `json:"orderId"`
	Action      string       `json:"action"`
	State       string       `json:"state"`                // PENDING or DONE
	EffectiveAt time.Time    `json:"effectiveAt,omitzero"` // zero while it is pending
	Result      *EventResult `json:"result,omitzero"`      // nil while it is pending
}

// GiveOrder gives an order. The credential is an access token with [ScopeOrder],
// or a session of the regulator's staff.
func (c *Client) GiveOrder(ctx context.Context, credential Secret, o Order) (*GivenOrder, error) {
	fields := map[string]any{"phoneNumber": o.PhoneNumber, "action": o.Action, "note": o.Note}
	for name, value := range map[string]string{"reason": o.Reason, "effectiveAt": moment(o.EffectiveAt), "event": o.Event} {
		if value != "" {
			fields[name] = value
		}
	}
	return c.order(ctx, credential, o.IdempotencyKey, fields)
}

// ConfirmOrder is the second person's word for an order that waits for it. Who
// gave the order cannot confirm it.
func (c *Client) ConfirmOrder(ctx context.Context, credential Secret, id string) (*GivenOrder, error) {
	return c.order(ctx, credential, "", map[string]any{"confirms": id})
}

func (c *Client) order(ctx context.Context, credential Secret, key string, fields map[string]any) (*GivenOrder, error) {
	r, err := c.newRequest(ctx, "order", "/api/v1/lines/orders")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(credential); err != nil {
		return nil, err
	}
	if err := r.once(key); err != nil {
		return nil, err
	}
	if err := r.sendJSON(fields); err != nil {
		return nil, err
	}
	answer, err := send[envelope[GivenOrder]](ctx, c, r)
	switch {
	case err != nil:
		return nil, err
	case answer.Data.ID == "" || answer.Data.State == "":
		return nil, r.incomplete()
	}
	return &answer.Data, nil
}
