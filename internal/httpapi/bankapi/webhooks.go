package bankapi

import (
	"context"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/hooksign"
	"github.com/lineproof/lineproof/internal/keyright"
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/webhook"
)

const (
	webhooksPath = "/api/v1/webhooks"
	webhookPath  = webhooksPath + "/{webhookId}"

	// sendTime is how long an operation may take that sends a request to an endpoint.
	sendTime = 14 * time.Second
	// maxAttempts is how many attempts one response has at most.
	maxAttempts     = 100
	defaultAttempts = 25
)

// webhookOperations lists the operations on webhook endpoints.
func (a *API) webhookOperations() []Operation {
	return []Operation{
		{http.MethodPost, webhooksPath, keyright.Feed, Short, a.createWebhook},
		{http.MethodGet, webhooksPath, keyright.Feed, Short, a.showWebhooks},
		{http.MethodGet, webhookPath, keyright.Feed, Short, a.onWebhook(a.showWebhook)},
		{http.MethodDelete, webhookPath, keyright.Feed, Short, a.onWebhook(a.deleteWebhook)},
		{http.MethodGet, webhookPath + "/attempts", keyright.Feed, Short, a.onWebhook(a.showAttempts)},
		{http.MethodGet, webhookPath + "/refused", keyright.Feed, Short, a.onWebhook(a.showRefused)},
		{http.MethodPost, webhookPath + "/resend", keyright.Feed, Own, a.onWebhook(a.resendWebhook)},
		{http.MethodPost, webhookPath + "/confirm", keyright.Feed, Own, a.onWebhook(a.confirmWebhook)},
		{http.MethodPost, webhookPath + "/test", keyright.Feed, Own, a.onWebhook(a.testWebhook)},
		{http.MethodPost, webhookPath + "/pause", keyright.Feed, Short, a.onWebhook(a.pauseWebhook)},
		{http.MethodPost, webhookPath + "/resume", keyright.Feed, Short, a.onWebhook(a.resumeWebhook)},
		{http.MethodPost, webhookPath + "/roll", keyright.Feed, Short, a.onWebhook(a.rollWebhook)},
		{http.MethodPost, webhookPath + "/replay", keyright.Feed, Short, a.onWebhook(a.replayWebhook)},
	}
}

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

func stampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}

func (a *API) webhookOf(e *webhook.Endpoint) webhookResponse {
	return webhookResponse{
		WebhookID: e.ID.String(), Name: e.Name, URL: e.URL, Mode: e.Mode, Form: string(e.Form), Algorithm: string(e.Algorithm), State: string(e.State), Reason: textOrNull(e.Reason),
		PublicKey: textOrNull(a.Webhooks.PublicKey(e)), OldKeyUntil: stampOrNull(e.PreviousUntil), LastSequence: e.Seq, WaitingEvents: e.Behind, RefusedEvents: e.Dead, DeliveredAt: stampOrNull(e.DeliveredAt),
		FailingSince: stampOrNull(e.FailingSince), Failures: e.Failures, NextAttemptAt: stampOrNull(e.NextAt), CreatedAt: stamp(e.CreatedAt), ChangedAt: stamp(e.ChangedAt),
	}
}

// createdOf is webhookOf with the key of a new or rolled endpoint.
func (a *API) createdOf(c *webhook.Created) webhookResponse {
	answer := a.webhookOf(&c.Endpoint)
	if key := c.Key.Reveal(); c.Algorithm == hooksign.HMAC {
		answer.Secret = &key
	} else {
		answer.PublicKey = &key
	}
	return answer
}

// onWebhook reads the id of the path. What is not an id is not the id of an endpoint.
func (a *API) onWebhook(serve func(w http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error) func(http.ResponseWriter, *http.Request, *Call) error {
	return func(w http.ResponseWriter, r *http.Request, c *Call) error {
		id, err := uuid.Parse(r.PathValue("webhookId"))
		if err != nil {
			return webhook.ErrNoEndpoint
		}
		return serve(w, r, c, id)
	}
}

// createWebhook serves POST /api/v1/webhooks.
func (a *API) createWebhook(_ http.ResponseWriter, r *http.Request, c *Call) error {
	var name, url, form, algorithm string
	if err := c.Decode(maxList, nil, Field{Name: "name", Text: &name}, Field{Name: "url", Text: &url}, Field{Name: "form", Text: &form}, Field{Name: "algorithm", Text: &algorithm}); err != nil {
		return err
	}
	made, err := a.Webhooks.Create(r.Context(), c.feedOwner(), webhook.NewForm{Name: name, URL: url, Form: webhook.Form(form), Algorithm: hooksign.Algorithm(algorithm)}, c.By)
	if err != nil {
		return err
	}
	return c.Respond(a.createdOf(&made))
}

// showWebhooks serves GET /api/v1/webhooks.
func (a *API) showWebhooks(_ http.ResponseWriter, r *http.Request, c *Call) error {
	list, err := a.Webhooks.Endpoints(r.Context(), c.feedOwner())
	if err != nil {
		return err
	}
	shown := make([]webhookResponse, len(list))
	for i := range list {
		shown[i] = a.webhookOf(&list[i])
	}
	return c.Respond(map[string]any{"webhooks": shown})
}

// showWebhook serves GET /api/v1/webhooks/{webhookId}.
func (a *API) showWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	e, err := a.Webhooks.Endpoint(r.Context(), c.feedOwner(), id)
	return a.respondWebhook(c, &e, err)
}

func (a *API) respondWebhook(c *Call, e *webhook.Endpoint, err error) error {
	if err != nil {
		return err
	}
	return c.Respond(a.webhookOf(e))
}

// deleteWebhook serves DELETE /api/v1/webhooks/{webhookId}.
func (a *API) deleteWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	if err := a.Webhooks.Delete(r.Context(), c.feedOwner(), id, c.By); err != nil {
		return err
	}
	return c.Respond(struct{}{})
}

// pauseWebhook serves POST /api/v1/webhooks/{webhookId}/pause.
func (a *API) pauseWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	e, err := a.Webhooks.Pause(r.Context(), c.feedOwner(), id, c.By)
	return a.respondWebhook(c, &e, err)
}

// resumeWebhook serves POST /api/v1/webhooks/{webhookId}/resume.
func (a *API) resumeWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	e, err := a.Webhooks.Resume(r.Context(), c.feedOwner(), id, c.By)
	return a.respondWebhook(c, &e, err)
}

// rollWebhook serves POST /api/v1/webhooks/{webhookId}/roll.
func (a *API) rollWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	rolled, err := a.Webhooks.Roll(r.Context(), c.feedOwner(), id, c.By)
	if err != nil {
		return err
	}
	return c.Respond(a.createdOf(&rolled))
}

// replayWebhook serves POST /api/v1/webhooks/{webhookId}/replay.
func (a *API) replayWebhook(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	var after string
	if err := c.Decode(maxList, nil, Field{Name: "after", Text: &after}); err != nil {
		return err
	}
	e, err := a.Webhooks.Replay(r.Context(), c.feedOwner(), id, after, c.By)
	return a.respondWebhook(c, &e, err)
}

// confirmWebhook serves POST /api/v1/webhooks/{webhookId}/confirm.
func (a *API) confirmWebhook(w http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	e, err := a.Webhooks.Confirm(ctx, c.feedOwner(), id, c.By)
	return a.respondWebhook(c, &e, err)
}

// testWebhook serves POST /api/v1/webhooks/{webhookId}/test.
func (a *API) testWebhook(w http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	ctx, cancel := web.WithTimeout(r.Context(), w, sendTime)
	defer cancel()
	attempt, err := a.Webhooks.SendTest(ctx, c.feedOwner(), id)
	if err != nil {
		return err
	}
	return c.Respond(attemptOf(&attempt))
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
func (a *API) showAttempts(_ http.ResponseWriter, r *http.Request, c *Call, id uuid.UUID) error {
	values, wrong, err := c.Query("before", "limit")
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
	return a.respondAttempts(r.Context(), c, id, before, int(limit))
}

func (a *API) respondAttempts(ctx context.Context, c *Call, id uuid.UUID, before int64, limit int) error {
	if _, err := a.Webhooks.Endpoint(ctx, c.feedOwner(), id); err != nil {
		return err
	}
	list, err := a.Webhooks.Attempts(ctx, c.feedOwner(), id, before, limit)
	if err != nil {
		return err
	}
	shown := make([]attemptResponse, len(list))
	for i := range list {
		shown[i] = attemptOf(&list[i])
	}
	return c.Respond(map[string]any{"attempts": shown})
}
