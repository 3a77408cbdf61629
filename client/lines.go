package client

import (
	"context"
	"time"
	"unicode/utf8"
)

// The types of event. The API reference says who may report each of them, and
// which fields it needs.
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
	EventTransferred  = "TRANSFERRED"
)

// LineEvent is something that happened to a line.
type LineEvent struct {
	ID          string // your own; the same event reported again is a duplicate
	PhoneNumber string
	Type        string    // EventSIMChanged and the like
	EffectiveAt time.Time // when it took effect; fractions of a second are ignored
	Day         bool      // only the date of EffectiveAt is known, a day in the time zone of the regulator's policy
	Network     string    // the recipient of a port
	Level       string    // of a flag: MEDIUM, HIGH or VERY_HIGH
	Reason      string    // of a bar or an end
	FirstHolder bool      // of an assignment: nobody held the number before
	ChurnAt     time.Time // of a notice
	Voids       string    // the id of the event that this one withdraws
	Note        string
}

// The topics about which suppliers report.
const (
	TopicLifecycle = "LIFECYCLE" // everything that an operator reports but SIM changes
	TopicSIM       = "SIM"
	TopicPort      = "PORT" // reported by the clearing house
)

// The results of an event.
const (
	ResultApplied   = "APPLIED"   // it is applied
	ResultNoEffect  = "NO_EFFECT" // it is stored but changes nothing at present
	ResultWaiting   = "WAITING"   // it is stored and counts when a port is reported or staff confirm it
	ResultDuplicate = "DUPLICATE" // it was reported before
	ResultRefused   = "REFUSED"   // it is not stored
)

// EventResult is the result of one event.
type EventResult struct {
	ID      string `json:"id"`
	Result  string `json:"result"`           // ResultApplied and the like
	Field   string `json:"field,omitzero"`   // the wrong field, if there is one
	Reason  string `json:"reason,omitzero"`  // such as NOT_YOURS
	Message string `json:"message,omitzero"` // a sentence for people
}

// EventsReceipt has the results of a call.
type EventsReceipt struct {
	Applied         int           `json:"applied"`
	NoEffect        int           `json:"noEffect"`
	Waiting         int           `json:"waiting"`
	Duplicates      int           `json:"duplicates"`
	Refused         int           `json:"refused"`
	SuppliedThrough time.Time     `json:"suppliedThrough,omitzero"` // the earliest of the topics; zero if it is not known
	Results         []EventResult `json:"results"`                  // one for each event, in order

	Topics   map[string]time.Time `json:"topics"`   // up to when each topic is supplied, where that is known
	Doubtful []string             `json:"doubtful"` // topics of which the supplier's statements are disbelieved
}

// ReportEvents reports line events, at most 1,000 in a call. The token needs
// [ScopeSupply], [ScopePort] or [ScopeFlag]. Each event has its own result: check
// them, because a refused event is not an error of the call. Through, if it is not
// zero, states that every event up to that time has been reported; without events
// it is the report of an operator that has nothing to report.
func (c *Client) ReportEvents(ctx context.Context, token Secret, events []LineEvent, through time.Time) (*EventsReceipt, error) {
	body := make(map[string]any)
	if !through.IsZero() {
		body["through"] = formatTime(through)
	}
	return c.reportEvents(ctx, token, events, body)
}

// ReportEventsByTopic is [Client.ReportEvents] with a time for each topic: an
// operator states [TopicLifecycle] and [TopicSIM], the clearing house [TopicPort].
func (c *Client) ReportEventsByTopic(ctx context.Context, token Secret, events []LineEvent, suppliedThrough map[string]time.Time) (*EventsReceipt, error) {
	times := make(map[string]string, len(suppliedThrough))
	for topic, at := range suppliedThrough {
		times[topic] = formatTime(at)
	}
	return c.reportEvents(ctx, token, events, map[string]any{"suppliedThrough": times})
}

// reportEvents sends events with the other fields of the body.
func (c *Client) reportEvents(ctx context.Context, token Secret, events []LineEvent, body map[string]any) (*EventsReceipt, error) {
	r, err := c.newRequest(ctx, "tell events", "/api/v1/lines/events")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(token); err != nil {
		return nil, err
	}
	list := make([]map[string]any, len(events))
	for i := range events {
		list[i] = make(map[string]any)
		for name, text := range events[i].fields() {
			if !utf8.ValidString(text) {
				return nil, r.wrong(name + " of an event is not valid UTF-8")
			}
			if text != "" {
				list[i][name] = text
			}
		}
		if events[i].FirstHolder {
			list[i]["firstHolder"] = true
		}
	}
	body["events"] = list
	if err := r.sendJSON(body); err != nil {
		return nil, err
	}
	r.repeatable = true // each event has an id
	return sendData(ctx, c, r, func(d *EventsReceipt) bool { return len(d.Results) != len(events) })
}

// fields returns the text fields of an event; those that are not set are empty.
func (e *LineEvent) fields() map[string]string {
	effective := formatTime(e.EffectiveAt)
	if e.Day {
		effective = e.EffectiveAt.Format(time.DateOnly)
	}
	return map[string]string{
		"id": e.ID, "phoneNumber": e.PhoneNumber, "type": e.Type, "effectiveAt": effective, "network": e.Network, "level": e.Level,
		"reason": e.Reason, "churnAt": formatTime(e.ChurnAt), "voids": e.Voids, "note": e.Note,
	}
}

// formatTime formats a time for the service; the zero time is empty.
func formatTime(t time.Time) string {
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
	OrderVoid      = "VOID"    // withdraws an event
	OrderConfirm   = "CONFIRM" // lets a held event count
)

// The scopes of a bar.
const (
	BarHolder = "HOLDER" // ends when the number has rested after the end of the tenure
	BarNumber = "NUMBER" // stays until it is lifted
)

// Order is an order of the regulator about a number.
type Order struct {
	PhoneNumber string
	Action      string    // OrderBar and the like
	Reason      string    // of a bar: NIN, FRAUD, COURT, LOST, DEBT or OTHER
	Scope       string    // of a bar: BarHolder, BarNumber, or empty for what the reason implies
	Note        string    // why
	EffectiveAt time.Time // zero means now
	Event       string    // of OrderVoid and OrderConfirm: the Event of a [HistoryEvent] or a [Conflict]

	IdempotencyKey string // as in [Application]
}

// CreatedOrder is an order with its state.
type CreatedOrder struct {
	ID          string       `json:"orderId"`
	Action      string       `json:"action"`
	State       string       `json:"state"`                // PENDING, UNCONFIRMED or DONE
	EffectiveAt time.Time    `json:"effectiveAt,omitzero"` // zero while it is pending
	LapsesAt    time.Time    `json:"lapsesAt,omitzero"`    // when an unconfirmed bar ends; zero for others
	Result      *EventResult `json:"result,omitzero"`      // nil while it is pending
}

// CreateOrder creates an order. The credential is an access token with [ScopeOrder],
// or a session of the regulator's staff.
func (c *Client) CreateOrder(ctx context.Context, credential Secret, o Order) (*CreatedOrder, error) {
	fields := map[string]any{"phoneNumber": o.PhoneNumber, "action": o.Action, "note": o.Note}
	for name, value := range map[string]string{"reason": o.Reason, "scope": o.Scope, "effectiveAt": formatTime(o.EffectiveAt), "event": o.Event} {
		if value != "" {
			fields[name] = value
		}
	}
	return c.order(ctx, credential, o.IdempotencyKey, fields)
}

// ConfirmOrder confirms an order that waits for a second person. The creator of
// the order cannot confirm it.
func (c *Client) ConfirmOrder(ctx context.Context, credential Secret, id string) (*CreatedOrder, error) {
	return c.order(ctx, credential, "", map[string]any{"confirms": id})
}

func (c *Client) order(ctx context.Context, credential Secret, key string, fields map[string]any) (*CreatedOrder, error) {
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
	return sendData(ctx, c, r, func(d *CreatedOrder) bool { return d.ID == "" || d.State == "" })
}
