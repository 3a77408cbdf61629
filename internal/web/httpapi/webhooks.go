package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	// sendTime is how long an operation may take that sends a request to an endpoint.
	sendTime = 14 * time.Second
	// maxAttempts is how many attempts one response has at most.
	maxAttempts     = 100
	defaultAttempts = 25
)

type webhookResponse struct {
	WebhookID     string  `json:"webhookId"`
	Name          string  `json:"name"`
	URL           string  `json:"url"`
	Mode          string  `json:"mode"`
	Form          string  `json:"form"`
	Algorithm     string  `json:"algorithm"`
	State         string  `json:"state"`
	Reason        *string `json:"reason"`
	PublicKey     *string `json:"publicKey"`
	Secret        *string `json:"secret,omitzero"`
	OldKeyUntil   *string `json:"oldKeyUntil"`
	LastSequence  int64   `json:"lastSequence"`
	WaitingEvents int64   `json:"waitingEvents"`
	RefusedEvents int64   `json:"refusedEvents"`
	DeliveredAt   *string `json:"deliveredAt"`
	FailingSince  *string `json:"failingSince"`
	Failures      int     `json:"failures"`
	NextAttemptAt *string `json:"nextAttemptAt"`
	CreatedAt     string  `json:"createdAt"`
	ChangedAt     string  `json:"changedAt"`
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (b *Bank) webhookOf(e *webhook.Endpoint) webhookResponse {
	return webhookResponse{
		WebhookID: e.ID.String(), Name: e.Name, URL: e.URL, Mode: e.Mode, Form: string(e.Form), Algorithm: string(e.Algorithm), State: string(e.State), Reason: textOrNull(e.Reason),
		PublicKey: textOrNull(b.Webhooks.PublicKey(e)), OldKeyUntil: stampOrNull(e.PreviousUntil), LastSequence: e.Seq, WaitingEvents: e.Behind, RefusedEvents: e.Dead, DeliveredAt: stampOrNull(e.DeliveredAt),
		FailingSince: stampOrNull(e.FailingSince), Failures: e.Failures, NextAttemptAt: stampOrNull(e.NextAt), CreatedAt: stamp(e.CreatedAt), ChangedAt: stamp(e.ChangedAt),
	}
}

// createdOf is webhookOf with the key of a new or rolled endpoint.
func (b *Bank) createdOf(c *webhook.Created) webhookResponse {
	answer := b.webhookOf(&c.Endpoint)
	if key := c.Key.Reveal(); c.Algorithm == webhook.HMAC {
		answer.Secret = &key
	} else {
		answer.PublicKey = &key
	}
	return answer
}

// onWebhook reads the id of the path. What is not an id is not the id of an endpoint.
func (b *Bank) onWebhook(serve func(w http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error) func(http.ResponseWriter, *http.Request, *bankCall) error {
	return func(w http.ResponseWriter, r *http.Request, c *bankCall) error {
		id, err := pathID(r, "webhookId", webhook.ErrNoEndpoint)
		if err != nil {
			return err
		}
		return serve(w, r, c, id)
	}
}

// createWebhook serves POST /api/v1/webhooks. The stored response has no secret: a repeated one
// does not show it again.
func (b *Bank) createWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	var name, url, form, algorithm string
	ticket, err := c.decodeOnce("create-webhook",
		field{name: "name", text: &name}, field{name: "url", text: &url}, field{name: "form", text: &form}, field{name: "algorithm", text: &algorithm})
	if err != nil {
		return err
	}
	var made webhook.Created
	body, replayed, err := c.api.storeOnce(c.w, r, ticket, func(tx pg.Tx) (any, error) {
		f := webhook.NewForm{Name: name, URL: url, Form: webhook.Form(form), Algorithm: webhook.Algorithm(algorithm)}
		made, err = b.Webhooks.CreateIn(r.Context(), tx, c.feedOwner(), f, c.by)
		return b.webhookOf(&made.Endpoint), err
	})
	switch {
	case err != nil:
		return err
	case replayed:
		send(c.w, r, http.StatusOK, body)
		return nil
	}
	return c.respond(b.createdOf(&made))
}

// showWebhooks serves GET /api/v1/webhooks.
func (b *Bank) showWebhooks(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	list, err := b.Webhooks.Endpoints(r.Context(), c.feedOwner())
	if err != nil {
		return err
	}
	shown := make([]webhookResponse, len(list))
	for i := range list {
		shown[i] = b.webhookOf(&list[i])
	}
	return c.respond(map[string]any{"webhooks": shown})
}

// showWebhook serves GET /api/v1/webhooks/{webhookId}.
func (b *Bank) showWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	e, err := b.Webhooks.Endpoint(r.Context(), c.feedOwner(), id)
	return b.respondWebhook(c, &e, err)
}

func (b *Bank) respondWebhook(c *bankCall, e *webhook.Endpoint, err error) error {
	if err != nil {
		return err
	}
	return c.respond(b.webhookOf(e))
}

// deleteWebhook serves DELETE /api/v1/webhooks/{webhookId}.
func (b *Bank) deleteWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	if err := b.Webhooks.Delete(r.Context(), c.feedOwner(), id, c.by); err != nil {
		return err
	}
	return c.respond(struct{}{})
}

// pauseWebhook serves POST /api/v1/webhooks/{webhookId}/pause.
func (b *Bank) pauseWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	e, err := b.Webhooks.Pause(r.Context(), c.feedOwner(), id, c.by)
	return b.respondWebhook(c, &e, err)
}

// resumeWebhook serves POST /api/v1/webhooks/{webhookId}/resume.
func (b *Bank) resumeWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	e, err := b.Webhooks.Resume(r.Context(), c.feedOwner(), id, c.by)
	return b.respondWebhook(c, &e, err)
}

// rollWebhook serves POST /api/v1/webhooks/{webhookId}/roll.
func (b *Bank) rollWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	rolled, err := b.Webhooks.Roll(r.Context(), c.feedOwner(), id, c.by)
	if err != nil {
		return err
	}
	return c.respond(b.createdOf(&rolled))
}

// replayWebhook serves POST /api/v1/webhooks/{webhookId}/replay.
func (b *Bank) replayWebhook(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	var after string
	if err := c.decode(nil, field{name: "after", text: &after}); err != nil {
		return err
	}
	e, err := b.Webhooks.Replay(r.Context(), c.feedOwner(), id, after, c.by)
	return b.respondWebhook(c, &e, err)
}

// confirmWebhook serves POST /api/v1/webhooks/{webhookId}/confirm.
func (b *Bank) confirmWebhook(w http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	e, err := b.Webhooks.Confirm(ctx, c.feedOwner(), id, c.by)
	return b.respondWebhook(c, &e, err)
}

// testWebhook serves POST /api/v1/webhooks/{webhookId}/test.
func (b *Bank) testWebhook(w http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	attempt, err := b.Webhooks.SendTest(ctx, c.feedOwner(), id)
	if err != nil {
		return err
	}
	return c.respond(attemptOf(&attempt))
}

type attemptResponse struct {
	Attempt       int64   `json:"attempt"`
	At            string  `json:"at"`
	Kind          string  `json:"kind"`
	MessageID     string  `json:"messageId"`
	FirstSequence *int64  `json:"firstSequence"`
	LastSequence  *int64  `json:"lastSequence"`
	Events        int     `json:"events"`
	Status        *int    `json:"status"`
	Error         *string `json:"error"`
	Milliseconds  int64   `json:"milliseconds"`
	Response      string  `json:"response"`
}

func attemptOf(t *webhook.Attempt) attemptResponse {
	answer := attemptResponse{
		Attempt: t.N, At: stamp(t.At), Kind: string(t.Kind), MessageID: t.Message, Events: t.Events, Error: textOrNull(t.Error), Milliseconds: t.Took.Milliseconds(),
		Response: validText(t.Answer),
	}
	if t.First > 0 {
		answer.FirstSequence, answer.LastSequence = &t.First, &t.Last
	}
	if t.Status > 0 {
		answer.Status = &t.Status
	}
	return answer
}

// validText returns bytes as text; what is not UTF-8 is replaced.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// showAttempts serves GET /api/v1/webhooks/{webhookId}/attempts.
func (b *Bank) showAttempts(_ http.ResponseWriter, r *http.Request, c *bankCall, id uuid.UUID) error {
	values, wrong, err := readQuery(r.URL.RawQuery, "before", "limit")
	if err != nil {
		return err
	}
	number := func(name string, otherwise, most int64) int64 {
		if !values.Has(name) {
			return otherwise
		}
		n, err := strconv.ParseInt(values.Get(name), 10, 64)
		wrong.Check(err == nil && n >= 1 && n <= most, name, fault.NotAllowed, "Must be a number from 1 to "+strconv.FormatInt(most, 10)+".")
		return n
	}
	before, limit := number("before", 0, 1<<53), number("limit", defaultAttempts, maxAttempts)
	if err := wrong.Err(); err != nil {
		return err
	}
	return b.respondAttempts(r.Context(), c, id, before, int(limit))
}

func (b *Bank) respondAttempts(ctx context.Context, c *bankCall, id uuid.UUID, before int64, limit int) error {
	if _, err := b.Webhooks.Endpoint(ctx, c.feedOwner(), id); err != nil {
		return err
	}
	list, err := b.Webhooks.Attempts(ctx, c.feedOwner(), id, before, limit)
	if err != nil {
		return err
	}
	shown := make([]attemptResponse, len(list))
	for i := range list {
		shown[i] = attemptOf(&list[i])
	}
	return c.respond(map[string]any{"attempts": shown})
}
