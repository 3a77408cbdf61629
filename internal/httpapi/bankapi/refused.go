package bankapi

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/feed"
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
func (a *API) showRefused(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	if _, err := a.Webhooks.Endpoint(r.Context(), c.feedOwner(), id); err != nil {
		return err
	}
	list, err := a.Webhooks.Dead(r.Context(), c.feedOwner(), id, maxRefused)
	if err != nil {
		return err
	}
	shown := make([]refusedResponse, len(list))
	for i := range list {
		d := &list[i]
		shown[i] = refusedResponse{d.Seq, feed.TypePrefix + d.Type, d.Refusals, stamp(d.DiedAt), d.Status, validText(d.Answer), stampOrNull(d.SentAt)}
	}
	return c.Respond(map[string]any{"events": shown})
}

// resendWebhook serves POST /api/v1/webhooks/{webhookId}/resend.
func (a *API) resendWebhook(w http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	var texts [2]string
	var isRange bool
	if err := c.Decode(maxList, nil, Field{Name: "first", Text: &texts[0]}, Field{Name: "last", Text: &texts[1], Present: &isRange}); err != nil {
		return err
	}
	if !isRange {
		texts[1] = texts[0]
	}
	var wrong fault.Form
	var seqs [2]int64
	for i, name := range []string{"first", "last"} {
		n, err := strconv.ParseInt(texts[i], 10, 64)
		wrong.Check(err == nil && n > 0 && n < 1<<53 || i == 1 && !isRange, name, fault.BadFormat, "Must be the sequence of an event, as its member sequence has it.")
		seqs[i] = n
	}
	wrong.Check(seqs[1] >= seqs[0] || !isRange, "last", fault.NotAllowed, "Must not be before first.")
	if err := wrong.Err(); err != nil {
		return err
	}
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	attempt, err := a.Webhooks.SendAgain(ctx, c.feedOwner(), id, seqs[0], seqs[1])
	if err != nil {
		return err
	}
	return c.Respond(attemptOf(&attempt))
}
