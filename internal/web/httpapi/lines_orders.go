package httpapi

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

type orderResponse struct {
	OrderID     string       `json:"orderId"`
	Action      string       `json:"action"`
	State       string       `json:"state"`
	EffectiveAt *string      `json:"effectiveAt"`
	LapsesAt    *string      `json:"lapsesAt,omitzero"` // while nobody has confirmed a bar
	Result      *eventResult `json:"result,omitzero"`   // once the order is applied as an event
}

// createOrder serves POST /api/v1/lines/orders: a new order, or the confirmation
// of an order by a second person.
func (a *API) createOrder(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var f order.Form
	var confirms string
	var confirming bool
	found, err := decode(r,
		field{name: "phoneNumber", text: &f.PhoneNumber}, field{name: "action", text: &f.Action}, field{name: "reason", text: &f.Reason},
		field{name: "scope", text: &f.Scope}, field{name: "note", text: &f.Note}, field{name: "effectiveAt", text: &f.EffectiveAt}, field{name: "event", text: &f.Event},
		field{name: "confirms", text: &confirms, present: &confirming})
	if err != nil {
		return err
	}
	key, keyErr := idempotencyKey(r)
	wrong := fault.Form{}
	wrong.Add(found...)
	wrong.Add(keyErr...)
	pending, err := uuid.Parse(confirms)
	wrong.Check(!confirming || err == nil && len(confirms) == 36, "confirms", fault.BadFormat, "Must be the orderId of the order to confirm.")
	wrong.Check(!confirming || f == order.Form{}, "confirms", fault.NotAllowed, "Send this field alone to confirm an order, or leave it out to create one.")
	if err := wrong.Err(); err != nil {
		return err
	}
	who := principal(ctx)
	supplier := supply.Supplier{Authorities: []line.Authority{line.Regulator}, Client: who.Client, Actor: who.Actor()}
	ticket := idempotency.Ticket{
		Caller: who.Caller(), Operation: "lines-order", Key: key,
		Body: []byte(strings.Join([]string{f.PhoneNumber, f.Action, f.Reason, f.Scope, f.Note, f.EffectiveAt, f.Event, confirms}, "\x00")),
	}
	// An order uses a second database connection beside that of its ticket. A caller
	// creates one at a time, and all of them so many that connections are left for the
	// second ones. A request waits here at most until its deadline.
	leave, err := a.orders.Enter(ctx, who.Caller())
	if err != nil {
		return err
	}
	defer leave()
	done, err := a.allOrders.Enter(ctx, uuid.Nil)
	if err != nil {
		return err
	}
	defer done()
	return a.once(w, r, ticket, func(pg.Tx) (any, error) {
		// The order commits in its own transaction, which is retried on conflicts
		// about the same number. If the service stops between the two commits, the
		// order is stored but its response is not: the repeated request creates one
		// more event without effect, or one more order that waits for confirmation.
		orders := order.Service{Supply: a.Lines, CheckClient: access.CheckOrders}
		run := func() (order.Order, error) { return orders.Create(ctx, supplier, f) }
		if confirming {
			run = func() (order.Order, error) { return orders.Confirm(ctx, supplier, pending) }
		}
		o, err := run()
		if err != nil {
			return nil, err
		}
		return orderOf(o), nil
	}, nil)
}

func orderOf(o order.Order) orderResponse {
	answer := orderResponse{OrderID: o.ID.String(), Action: o.Action, State: o.State, EffectiveAt: stampOrNull(o.EffectiveAt)}
	if o.State == order.Unconfirmed {
		answer.LapsesAt = stampOrNull(o.LapsesAt)
	}
	if o.Result.Outcome != "" {
		result := resultOf(o.Result)
		answer.Result = &result
	}
	return answer
}
