package httpapi

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

// maxRefused is how many refused events one response has.
const maxRefused = 100

type refusedResponse struct {
	Sequence   int64   `json:"sequence"`
	Type       string  `json:"type"`
	Refusals   int     `json:"refusals"`
	RefusedAt  string  `json:"refusedAt"`
	Status     int     `json:"status"`
	Response   string  `json:"response"`
	AcceptedAt *string `json:"acceptedAt"`
}

// showRefused serves GET /api/v1/webhooks/{webhookId}/refused.
func (b *Bank) showRefused(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	if _, err := b.Webhooks.Endpoint(r.Context(), c.feedOwner(), id); err != nil {
		return err
	}
	list, err := b.Webhooks.Dead(r.Context(), c.feedOwner(), id, maxRefused)
	if err != nil {
		return err
	}
	shown := make([]refusedResponse, len(list))
	for i := range list {
		d := &list[i]
		shown[i] = refusedResponse{d.Seq, feed.TypePrefix + d.Type, d.Refusals, stamp(d.DiedAt), d.Status, validText(d.Answer), stampOrNull(d.SentAt)}
	}
	return c.respond(map[string]any{"events": shown})
}

// resendWebhook serves POST /api/v1/webhooks/{webhookId}/resend.
func (b *Bank) resendWebhook(w http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	var texts [2]string
	var hasFirst, isRange bool
	if err := c.decode(nil, field{name: "first", text: &texts[0], present: &hasFirst}, field{name: "last", text: &texts[1], present: &isRange}); err != nil {
		return err
	}
	if !isRange {
		texts[1] = texts[0]
	}
	var wrong fault.Form
	var seqs [2]int64
	for i, name := range []string{"first", "last"} {
		n, err := strconv.ParseInt(texts[i], 10, 64)
		wrong.Check(err == nil && n > 0 && n < 1<<53 || !hasFirst && i == 0 || !isRange && i == 1, name, fault.BadFormat, "Must be the sequence of an event, as its member sequence has it.")
		seqs[i] = n
	}
	wrong.Check(hasFirst, "first", fault.Required, "Missing field.")
	wrong.Check(seqs[1] >= seqs[0] || !isRange, "last", fault.NotAllowed, "Must not be before first.")
	if err := wrong.Err(); err != nil {
		return err
	}
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	attempt, err := b.Webhooks.SendAgain(ctx, c.feedOwner(), id, seqs[0], seqs[1])
	if err != nil {
		return err
	}
	return c.respond(attemptOf(&attempt))
}
