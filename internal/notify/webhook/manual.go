package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json/v2"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// manualPause is the time between two requests to an endpoint that somebody asks for, so
// that nobody can use the service to flood an address.
const manualPause = 5 * time.Second

var (
	errTooSoon = &fault.Error{
		Code: fault.TooManyRequests, RetryAfter: manualPause,
		Message: "Wait five seconds between requests to the same endpoint.",
	}
	errUnconfirmed = fault.New(fault.IncompatibleState, "Confirm the endpoint first. Events are sent only to an endpoint that has answered the challenge.")
	errStopped     = fault.New(fault.ScanSuspected, "The organisation is stopped, so no event is sent. Its events are kept: ask the regulator for a release, after which they are sent in their order.")
	errNoEvent     = fault.New(fault.NotFound, "The feed does not keep this event any more, or never had it.")
)

// ChallengeError reports an endpoint that did not answer the challenge as it must.
type ChallengeError struct{ Attempt Attempt }

// Error implements error.
func (e *ChallengeError) Error() string { return "webhook: the endpoint did not answer the challenge" }

// Unwrap returns the fault that callers see.
func (e *ChallengeError) Unwrap() error {
	message := "The endpoint must answer the challenge with status 200 and the JSON object {\"challenge\": …}, with the value that it got."
	switch {
	case e.Attempt.Error != "":
		message += " There was no answer: " + e.Attempt.Error + "."
	case e.Attempt.Status != 200:
		message += fmt.Sprintf(" It answered with status %d.", e.Attempt.Status)
	default:
		message += " Its answer was another one."
	}
	return fault.New(fault.IncompatibleState, message)
}

// once begins a request that somebody asked for: it reads the endpoint, and refuses one
// that was sent something a moment ago.
func (s *Service) once(ctx context.Context, o feed.Owner, id uuid.UUID) (Endpoint, error) {
	e, err := s.Endpoint(ctx, o, id)
	if err != nil {
		return Endpoint{}, err
	}
	taken, err := s.Pool.Exec(ctx, `UPDATE hook_cursor SET manual_at = clock_timestamp() WHERE endpoint_id = $1 AND (manual_at IS NULL OR manual_at < clock_timestamp() - $2::interval)`, e.ID, manualPause)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhook: begin a request: %w", err)
	}
	if taken.RowsAffected() == 0 {
		return Endpoint{}, errTooSoon
	}
	return e, nil
}

// deliver sends a message that somebody asked for, and records the attempt.
func (s *Service) deliver(ctx context.Context, e *Endpoint, m message) (Attempt, error) {
	keys, err := s.keys(e, s.now())
	if err != nil {
		return Attempt{}, err
	}
	a, _, err := s.post(ctx, e, keys, m)
	if err != nil && ctx.Err() != nil {
		return Attempt{}, err
	}
	return a, record(ctx, s.Pool, e.ID, &a)
}

// ownEvent is an event that is not of the feed, as a message.
func (s *Service) ownEvent(e *Endpoint, kind Kind, data map[string]any) (message, error) {
	m := message{id: string(kind) + "-" + uuid.Must(uuid.NewV7()).String(), kind: kind, events: 1, contentType: "application/cloudevents+json"}
	body, err := json.Marshal(map[string]any{
		"specversion": "1.0", "id": m.id, "source": "/webhooks/" + e.ID.String(), "type": feed.TypePrefix + "endpoint.v1." + string(kind),
		"time": s.now().Format("2006-01-02T15:04:05.000Z"), "datacontenttype": "application/json", "data": data,
	}, json.Deterministic(true))
	if err != nil {
		return message{}, fmt.Errorf("webhook: encode an event: %w", err)
	}
	if m.body = body; e.Form == Batch && kind != KindChallenge {
		m.contentType, m.body = "application/cloudevents-batch+json", append(append([]byte{'['}, body...), ']')
	}
	return m, nil
}

// Confirm sends the endpoint a signed challenge, a random value that it must send back. If
// it does, it is active: whoever created it controls the address, and wants the events.
func (s *Service) Confirm(ctx context.Context, o feed.Owner, id uuid.UUID, by By) (Endpoint, error) {
	e, err := s.once(ctx, o, id)
	if err != nil {
		return Endpoint{}, err
	}
	if e.State != Unconfirmed && e.State != Disabled {
		return Endpoint{}, errConfirmed
	}
	challenge := rand.Text()
	m, err := s.ownEvent(&e, KindChallenge, map[string]any{"challenge": challenge})
	if err != nil {
		return Endpoint{}, err
	}
	a, err := s.deliver(ctx, &e, m)
	if err != nil {
		return Endpoint{}, err
	}
	var got struct {
		Challenge string `json:"challenge"`
	}
	if a.Status != 200 || json.Unmarshal(bytes.TrimSpace(a.Answer), &got) != nil || subtle.ConstantTimeCompare([]byte(got.Challenge), []byte(challenge)) != 1 {
		return Endpoint{}, &ChallengeError{a}
	}
	return s.change(ctx, o, id, by, audit.WebhookConfirmed, func(tx pg.Tx, now *Endpoint) error {
		if now.State != e.State || !bytes.Equal(now.encryptedKey, e.encryptedKey) {
			return errConfirmed // somebody was faster
		}
		return activate(ctx, tx, now, by)
	})
}

// SendTest sends the endpoint an event that says it is a test.
func (s *Service) SendTest(ctx context.Context, o feed.Owner, id uuid.UUID) (Attempt, error) {
	e, err := s.once(ctx, o, id)
	if err != nil {
		return Attempt{}, err
	}
	if e.State == Unconfirmed {
		return Attempt{}, errUnconfirmed
	}
	m, err := s.ownEvent(&e, KindTest, map[string]any{"message": "This is a test event. It is not part of the feed."})
	if err != nil {
		return Attempt{}, err
	}
	return s.deliver(ctx, &e, m)
}

// checkStopped refuses to send events that must wait; see [mayGet].
func (s *Service) checkStopped(ctx context.Context, id uuid.UUID) error {
	var may bool
	row := pg.Row{Table: "entity"}
	err := s.Pool.QueryRow(ctx, `SELECT `+mayGet+`, o.id, o.row_sum, o.row_mac FROM hook_endpoint e JOIN entity o ON o.id = e.entity_id WHERE e.id = $1`, id).Scan(&may, &row.ID, &row.Sum, &row.MAC)
	if err == nil {
		err = pg.Signed(ctx, s.Pool, nil, row)
	}
	if err != nil {
		return fmt.Errorf("webhook: find out whether events may be sent: %w", err)
	}
	if !may {
		return errStopped
	}
	return nil
}

// SendAgain sends events of the feed once more, from the one with the seq first to last,
// as far as they fit into one request. The cursor stays. An event that was dead and is
// accepted now is not dead any more.
func (s *Service) SendAgain(ctx context.Context, o feed.Owner, id uuid.UUID, first, last int64) (Attempt, error) {
	e, err := s.once(ctx, o, id)
	if err != nil {
		return Attempt{}, err
	}
	if e.State == Unconfirmed {
		return Attempt{}, errUnconfirmed
	}
	if e.keyRevoked {
		return Attempt{}, errKeyRevoked
	}
	if err := s.checkStopped(ctx, e.ID); err != nil {
		return Attempt{}, err
	}
	entries, err := s.Feed.After(ctx, e.Owner(), first-1, int(min(max(last-first, 0)+1, maxEvents)))
	if err != nil {
		return Attempt{}, err
	}
	if len(entries) == 0 || entries[0].Seq != first {
		return Attempt{}, errNoEvent
	}
	m := compose(e.Form, entries)
	m.kind = KindAgain
	a, err := s.deliver(ctx, &e, m)
	if err == nil && a.Succeeded() {
		_, err = s.Pool.Exec(ctx, `UPDATE hook_dead SET sent_at = $4 WHERE endpoint_id = $1 AND seq BETWEEN $2 AND $3 AND sent_at IS NULL`, e.ID, m.first, m.last, s.now())
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("webhook: send again: %w", err)
	}
	return a, nil
}
