package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// WebhookEndpoint is an address to which the feed of the organisation is sent.
type WebhookEndpoint struct {
	ID            string     `json:"webhookId"`
	Name          string     `json:"name"`
	URL           string     `json:"url"`
	Mode          string     `json:"mode"`            // live or test
	Form          string     `json:"form"`            // batch or single
	Algorithm     string     `json:"algorithm"`       // ed25519 or hmac
	State         string     `json:"state"`           // unconfirmed, active, paused or disabled
	Reason        string     `json:"reason"`          // why it is disabled
	PublicKey     string     `json:"publicKey"`       // with which requests are verified; empty with hmac
	Secret        Secret     `json:"secret,omitzero"` // of hmac, when it was just created or rolled
	OldKeyUntil   *time.Time `json:"oldKeyUntil"`
	LastSequence  int64      `json:"lastSequence"`  // of the last event that it has accepted
	WaitingEvents int64      `json:"waitingEvents"` // that wait for it
	RefusedEvents int64      `json:"refusedEvents"` // that were put aside
	DeliveredAt   *time.Time `json:"deliveredAt"`
	FailingSince  *time.Time `json:"failingSince"`
	Failures      int        `json:"failures"` // in a row
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	CreatedAt     time.Time  `json:"createdAt"`
	ChangedAt     time.Time  `json:"changedAt"`
}

// WebhookAttempt is a request to an endpoint, and what it answered.
type WebhookAttempt struct {
	Attempt       int64     `json:"attempt"` // counts the requests to the endpoint
	At            time.Time `json:"at"`
	Kind          string    `json:"kind"` // events, test, again or challenge
	MessageID     string    `json:"messageId"`
	FirstSequence int64     `json:"firstSequence"` // 0 if it is not of the feed
	LastSequence  int64     `json:"lastSequence"`
	Events        int       `json:"events"`
	Status        int       `json:"status"` // 0 without an answer
	Error         string    `json:"error"`  // why there was no answer
	Milliseconds  int64     `json:"milliseconds"`
	Response      string    `json:"response"` // its first 1,024 bytes
}

// Succeeded reports whether the endpoint accepted what it got.
func (a *WebhookAttempt) Succeeded() bool { return a.Status >= 200 && a.Status <= 299 }

// RefusedEvent is an event that an endpoint refused as malformed so often that it was put
// aside.
type RefusedEvent struct {
	Sequence   int64      `json:"sequence"`
	Type       string     `json:"type"`
	Refusals   int        `json:"refusals"`
	RefusedAt  time.Time  `json:"refusedAt"`
	Status     int        `json:"status"`
	Response   string     `json:"response"`   // the first 1,024 bytes of the last answer
	AcceptedAt *time.Time `json:"acceptedAt"` // when it was sent again and accepted
}

// NewWebhook describes an endpoint to create. Form and Algorithm may be empty.
type NewWebhook struct {
	Name, URL       string
	Form, Algorithm string
	IdempotencyKey  string // as in [Application]; a repeated response has no secret of hmac
}

const webhooksPath = "/api/v1/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// CreateWebhook creates an endpoint. It gets events when it is confirmed. The key needs the
// right feed, as for everything about webhooks.
func (c *Client) CreateWebhook(ctx context.Context, key Secret, w NewWebhook) (*WebhookEndpoint, error) {
	fields := map[string]any{"name": w.Name, "url": w.URL}
	for name, value := range map[string]string{"form": w.Form, "algorithm": w.Algorithm} {
		if value != "" {
			fields[name] = value
		}
	}
	r, err := c.newWatch(ctx, "create webhook", http.MethodPost, webhooksPath, key, fields)
	if err != nil {
		return nil, err
	}
	if err := r.once(w.IdempotencyKey); err != nil {
		return nil, err
	}
	return sendWebhook(ctx, c, r)
}

// Webhooks returns the endpoints of the organisation in the mode of the key, oldest first.
func (c *Client) Webhooks(ctx context.Context, key Secret) ([]WebhookEndpoint, error) {
	type list struct {
		Webhooks []WebhookEndpoint `json:"webhooks"`
	}
	data, err := readData(ctx, c, key, "webhooks", webhooksPath, func(d *list) bool { return d.Webhooks == nil })
	if err != nil {
		return nil, err
	}
	return data.Webhooks, nil
}

// Webhook returns one endpoint.
func (c *Client) Webhook(ctx context.Context, key Secret, id string) (*WebhookEndpoint, error) {
	return readData(ctx, c, key, "webhook", webhookPath(id), incompleteWebhook)
}

// DeleteWebhook deletes an endpoint.
func (c *Client) DeleteWebhook(ctx context.Context, key Secret, id string) error {
	r, err := c.newWatch(ctx, "delete webhook", http.MethodDelete, webhookPath(id), key, nil)
	if err != nil {
		return err
	}
	_, err = sendData(ctx, c, r, func(*struct{}) bool { return false })
	return err
}

// ConfirmWebhook sends the endpoint a challenge. If it answers as it must, it is active.
func (c *Client) ConfirmWebhook(ctx context.Context, key Secret, id string) (*WebhookEndpoint, error) {
	return c.changeWebhook(ctx, key, id, "confirm", nil)
}

// PauseWebhook stops sending to an endpoint. Events wait for it.
func (c *Client) PauseWebhook(ctx context.Context, key Secret, id string) (*WebhookEndpoint, error) {
	return c.changeWebhook(ctx, key, id, "pause", nil)
}

// ResumeWebhook goes on where a paused endpoint stopped.
func (c *Client) ResumeWebhook(ctx context.Context, key Secret, id string) (*WebhookEndpoint, error) {
	return c.changeWebhook(ctx, key, id, "resume", nil)
}

// RollWebhook gives an endpoint a new key. For a day both sign.
func (c *Client) RollWebhook(ctx context.Context, key Secret, id string) (*WebhookEndpoint, error) {
	return c.changeWebhook(ctx, key, id, "roll", nil)
}

// ReplayWebhook sends the feed again, from a cursor on or, if it is empty, from the oldest
// event that is kept.
func (c *Client) ReplayWebhook(ctx context.Context, key Secret, id, after string) (*WebhookEndpoint, error) {
	fields := map[string]any{}
	if after != "" {
		fields["after"] = after
	}
	return c.changeWebhook(ctx, key, id, "replay", fields)
}

// TestWebhook sends the endpoint an event that is no part of the feed.
func (c *Client) TestWebhook(ctx context.Context, key Secret, id string) (*WebhookAttempt, error) {
	return c.tryWebhook(ctx, key, id, "test", nil)
}

// ResendEvents sends the endpoint the events of the feed from one sequence to another once
// more, as far as they fit into one request.
func (c *Client) ResendEvents(ctx context.Context, key Secret, id string, first, last int64) (*WebhookAttempt, error) {
	return c.tryWebhook(ctx, key, id, "resend", map[string]any{"first": strconv.FormatInt(first, 10), "last": strconv.FormatInt(last, 10)})
}

// WebhookAttempts returns the last requests to an endpoint, newest first, at most 100: those
// before an attempt, or the newest if before is 0.
func (c *Client) WebhookAttempts(ctx context.Context, key Secret, id string, before int64) ([]WebhookAttempt, error) {
	path := webhookPath(id) + "/attempts?limit=100"
	if before > 0 {
		path += "&before=" + strconv.FormatInt(before, 10)
	}
	type list struct {
		Attempts []WebhookAttempt `json:"attempts"`
	}
	data, err := readData(ctx, c, key, "webhook attempts", path, func(d *list) bool { return d.Attempts == nil })
	if err != nil {
		return nil, err
	}
	return data.Attempts, nil
}

// RefusedEvents returns the last events that an endpoint refused for good, newest first.
func (c *Client) RefusedEvents(ctx context.Context, key Secret, id string) ([]RefusedEvent, error) {
	type list struct {
		Events []RefusedEvent `json:"events"`
	}
	data, err := readData(ctx, c, key, "refused events", webhookPath(id)+"/refused", func(d *list) bool { return d.Events == nil })
	if err != nil {
		return nil, err
	}
	return data.Events, nil
}

func (c *Client) changeWebhook(ctx context.Context, key Secret, id, what string, fields map[string]any) (*WebhookEndpoint, error) {
	r, err := c.newWatch(ctx, what+" webhook", http.MethodPost, webhookPath(id)+"/"+what, key, fields)
	if err != nil {
		return nil, err
	}
	return sendWebhook(ctx, c, r)
}

func (c *Client) tryWebhook(ctx context.Context, key Secret, id, what string, fields map[string]any) (*WebhookAttempt, error) {
	r, err := c.newWatch(ctx, what+" webhook", http.MethodPost, webhookPath(id)+"/"+what, key, fields)
	if err != nil {
		return nil, err
	}
	return sendData(ctx, c, r, func(d *WebhookAttempt) bool { return d.Attempt == 0 || d.Kind == "" })
}

func incompleteWebhook(d *WebhookEndpoint) bool { return d.ID == "" || d.State == "" }

func sendWebhook(ctx context.Context, c *Client, r *request) (*WebhookEndpoint, error) {
	return sendData(ctx, c, r, incompleteWebhook)
}
