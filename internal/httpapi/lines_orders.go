package httpapi

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/supply"
)

type orderResponse struct {
	OrderID     string       `json:"orderId"`
	Action      string       `json:"action"`
	State       string       `json:"state"`
	EffectiveAt *string      `json:"effectiveAt"`
	Result      *eventResult `json:"result,omitzero"` // once the order is an event
}

// giveOrder serves POST /api/v1/lines/orders: an order, or the second person's
// word for one that waits for it.
func (a *API) giveOrder(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var f supply.OrderForm
	var confirms string
	var confirming bool
	found, err := decode(w, r,
		field{name: "phoneNumber", text: &f.PhoneNumber}, field{name: "action", text: &f.Action}, field{name: "reason", text: &f.Reason},
		field{name: "note", text: &f.Note}, field{name: "effectiveAt", text: &f.EffectiveAt}, field{name: "event", text: &f.Event},
		field{name: "confirms", text: &confirms, given: &confirming})
	if err != nil {
		return err
	}
	key, keyErr := idempotencyKey(r)
	wrong := fault.Form{}
	wrong.Add(found...)
	wrong.Add(keyErr...)
	order, err := uuid.Parse(confirms)
	wrong.Check(!confirming || err == nil && len(confirms) == 36, "confirms", fault.BadFormat, "Give the orderId of the order that is to be confirmed.")
	wrong.Check(!confirming || f == supply.OrderForm{}, "confirms", fault.NotAllowed, "Confirm an order with this field alone, or give one without it.")
	if err := wrong.Err(); err != nil {
		return err
	}
	who := principal(ctx)
	speaker := supply.Speaker{Authorities: []line.Authority{line.Regulator}, Client: who.Client, Actor: who.Actor()}
	ticket := idempotency.Ticket{
		Caller: who.Caller(), Operation: "lines-order", Key: key,
		Body: []byte(strings.Join([]string{f.PhoneNumber, f.Action, f.Reason, f.Note, f.EffectiveAt, f.Event, confirms}, "\x00")),
	}
	// An order takes a second connection beside that of its ticket. One at a time,
	// so that many of them do not take all connections and wait for more; orders
	// are rare, and those who wait here are at most as late as their deadline.
	a.ordering.Lock()
	defer a.ordering.Unlock()
	return a.once(w, r, ticket, func(pg.Tx) (any, error) {
		// The order commits in a transaction of its own, which is begun again when
		// others speak of the same number. If the service dies between the two, the
		// order stands and its answer is not kept: given again, it is one more event
		// that changes nothing, or one more that waits to be confirmed.
		give := func() (supply.Order, error) { return a.Lines.GiveOrder(ctx, speaker, f) }
		if confirming {
			give = func() (supply.Order, error) { return a.Lines.ConfirmOrder(ctx, speaker, order) }
		}
		o, err := give()
		if err != nil {
			return nil, err
		}
		return orderOf(o), nil
	}, nil)
}

func orderOf(o supply.Order) orderResponse {
	answer := orderResponse{OrderID: o.ID.String(), Action: o.Action, State: o.State, EffectiveAt: stampOrNull(o.EffectiveAt)}
	if o.Result.Outcome != "" {
		result := resultOf(o.Result)
		answer.Result = &result
	}
	return answer
}
