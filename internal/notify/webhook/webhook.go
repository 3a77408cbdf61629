// Package webhook sends the entries of a feed to the endpoints of its owner.
//
// What it guarantees:
//
//   - Every entry of the feed is sent until the endpoint has accepted it, in the order of
//     the feed. An endpoint has one cursor and, over all nodes, one sender ([Sender]): an
//     endpoint that hangs delays itself and nobody else. An entry may be sent twice, and
//     is then the same bytes under the same id. An entry that was archived before the
//     endpoint got it is left out, and the list of attempts says so.
//   - Requests are signed ([Key]), and an endpoint gets events only after it has
//     answered a signed challenge.
//   - Nothing is sent to an address that the service itself did not store: the key that
//     signs is encrypted together with the address, so that whoever can write to the
//     database, and does not have the pepper, cannot send a feed elsewhere.
//   - Requests leave by [egress], which reaches public addresses only.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/stepup"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Service keeps the endpoints. All fields but Loopback, LoopbackLive, CheckPerson
// and NotifyCreated are required.
type Service struct {
	Pool     *pgxpool.Pool
	Feed     *feed.Service
	Egress   *egress.Client
	Peppers  *secret.Peppers
	Loopback bool // endpoints in test mode may be at http://127.0.0.1
	// LoopbackLive allows that in live mode, too: for a demonstration with fictitious lines.
	LoopbackLive bool
	// CheckPerson returns an error unless a person may create, resume or roll an endpoint for
	// live events, in that transaction; nil refuses everybody.
	CheckPerson func(ctx context.Context, from pg.DB, account uuid.UUID, action stepup.Action) error
	// Notify queues an e-mail to the admins of an entity, in the caller's transaction.
	Notify func(ctx context.Context, tx pg.Tx, entity uuid.UUID, n Notice) error
	// NotifyCreated notifies the admins of an entity of a new endpoint for live events, in
	// the transaction that creates it; nil means that nobody is notified.
	NotifyCreated func(ctx context.Context, tx pg.Tx, e *Endpoint, by audit.Actor) error
	// NotifyDeleted notifies them in the same way of one that is deleted.
	NotifyDeleted func(ctx context.Context, tx pg.Tx, e *Endpoint, by audit.Actor) error
	Now           func() time.Time
}

// Notice is a kind of e-mail to admins about an endpoint.
type Notice string

// The notices.
const (
	NoticeFailing  Notice = "failing"
	NoticeDisabled Notice = "disabled"
	NoticeRefused  Notice = "refused" // an event was put aside
)

// State is the state of an endpoint. The values are stored and part of the contract.
type State string

// The states.
const (
	Unconfirmed State = "unconfirmed" // it has not yet answered the challenge
	Active      State = "active"
	Paused      State = "paused"
	Disabled    State = "disabled" // by the service; see [Endpoint.Reason]
)

// The reasons why the service disabled or paused an endpoint.
const (
	ReasonGone       = "gone"        // it answered 410
	ReasonFailing    = "failing"     // it accepted nothing for three days
	ReasonKeyRevoked = "key_revoked" // the API key that created it is revoked
)

// Form is how events are sent. The values are stored and part of the contract.
type Form string

// The forms.
const (
	Batch  Form = "batch"  // up to 100 events as application/cloudevents-batch+json
	Single Form = "single" // one event as application/cloudevents+json
)

// Endpoint is an endpoint without its key.
type Endpoint struct {
	ID                   uuid.UUID
	Name, URL            string
	Mode                 string // live or test
	Form                 Form
	Algorithm            Algorithm
	State                State
	Reason               string // why the service disabled or paused it
	CreatedAt            time.Time
	ChangedAt            time.Time
	PreviousUntil        time.Time // until when the key before a roll also signs; zero without one
	Seq                  int64     // of the last event that it has accepted
	Behind               int64     // events that wait
	DeliveredAt          time.Time // of the last event that it has accepted; zero if none
	FailingSince         time.Time // zero if the last attempt succeeded
	Failures             int       // in a row
	NextAt               time.Time // of the next attempt; zero if it fails not
	Dead                 int64     // events that it refused for good
	previousEncryptedKey []byte
	encryptedKey         []byte
	entity               uuid.UUID
	notified             bool // the admins know that it fails
	refusals             int
	refusedSince         time.Time
	lease, attempts      int64
	madeByKey            uuid.UUID // zero if a person created it, or has taken it over
	keyRevoked           bool      // that key is revoked: it gets no events, whatever its state
}

// Failing reports whether the last attempt failed.
func (e *Endpoint) Failing() bool { return !e.FailingSince.IsZero() }

// CircuitOpen reports whether so many attempts failed that the service only tries from
// time to time.
func (e *Endpoint) CircuitOpen() bool { return e.Failures >= circuitFailures }

// Owner returns the owner of the feed that the endpoint gets.
func (e *Endpoint) Owner() feed.Owner { return feed.Owner{Entity: e.entity, Mode: e.Mode} }

const (
	maxEndpoints = 10
	maxName      = 100
)

var (
	// ErrNoEndpoint reports an endpoint that does not exist for this caller.
	ErrNoEndpoint = fault.New(fault.NotFound, "There is no such webhook endpoint.")
	// ErrTooManyEndpoints reports an organisation that has as many endpoints as it may.
	ErrTooManyEndpoints = fault.New(fault.IncompatibleState, "The organisation has "+strconv.Itoa(maxEndpoints)+" webhook endpoints of this mode, which is the limit. Delete one first.")
)

// NewForm is the form by which a caller creates an endpoint.
type NewForm struct {
	Name, URL string
	Form      Form      // "" means Batch
	Algorithm Algorithm // "" means Ed25519
}

func (s *Service) check(f *NewForm, mode string) error {
	f.Name = strings.TrimSpace(f.Name)
	if f.Form == "" {
		f.Form = Batch
	}
	if f.Algorithm == "" {
		f.Algorithm = Ed25519
	}
	var wrong fault.Form
	wrong.Check(f.Name != "", "name", fault.Required, "Give the endpoint a name.")
	wrong.Check(utf8.ValidString(f.Name) && utf8.RuneCountInString(f.Name) <= maxName && !strings.ContainsRune(f.Name, 0), "name", fault.TooLong, "Use at most 100 characters in UTF-8.")
	if f.URL == "" {
		wrong.Check(false, "url", fault.Required, "Give the address of the endpoint.")
	} else if _, problem := egress.CheckURL(f.URL, s.allowsLoopback(mode)); problem != "" {
		wrong.Check(false, "url", fault.BadFormat, problem)
	}
	wrong.Check(f.Form == Batch || f.Form == Single, "form", fault.NotAllowed, "The form must be batch or single.")
	wrong.Check(f.Algorithm == Ed25519 || f.Algorithm == HMAC, "algorithm", fault.NotAllowed, "The algorithm must be ed25519 or hmac.")
	return wrong.Err()
}

// allowsLoopback reports whether endpoints of the mode may be on this machine.
func (s *Service) allowsLoopback(mode string) bool {
	return s.Loopback && (mode == "test" || s.LoopbackLive)
}

// By is the person or client who changes an endpoint.
type By struct {
	Actor   audit.Actor
	Request uuid.UUID
}

// Created is an endpoint that was just created or rolled. If the algorithm is HMAC, its
// key is a secret that is shown only now.
type Created struct {
	Endpoint

	Key secret.Text // with which the receiver verifies
}

// Create creates an endpoint. It gets no events before [Service.Confirm]; then it gets
// those that were added to the feed after now.
func (s *Service) Create(ctx context.Context, o feed.Owner, f NewForm, by By) (c Created, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		c, err = s.CreateIn(ctx, tx, o, f, by)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	return c, nil
}

// CreateIn is [Service.Create] in a transaction of the caller.
func (s *Service) CreateIn(ctx context.Context, tx pg.Tx, o feed.Owner, f NewForm, by By) (Created, error) {
	if err := s.check(&f, o.Mode); err != nil {
		return Created{}, err
	}
	key := NewKey(f.Algorithm)
	e := Endpoint{
		ID: uuid.Must(uuid.NewV7()), Name: f.Name, URL: f.URL, Mode: o.Mode, Form: f.Form, Algorithm: f.Algorithm,
		State: Unconfirmed, CreatedAt: s.now(), entity: o.Entity,
	}
	e.ChangedAt = e.CreatedAt
	if by.Actor.Kind == audit.APIKey {
		e.madeByKey = by.Actor.ID
	}
	e.encryptedKey = s.encryptKey(&e, key)
	if err := s.insert(ctx, tx, &e, by); err != nil {
		return Created{}, fmt.Errorf("webhook: create an endpoint: %w", err)
	}
	return Created{Endpoint: e, Key: key.Receiver()}, nil
}

func (s *Service) insert(ctx context.Context, tx pg.Tx, e *Endpoint, by By) error {
	if err := s.checkPerson(ctx, tx, e.Mode, by, stepup.CreateWebhook); err != nil {
		return err
	}
	// Of two calls at once the second counts the endpoint of the first.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof webhooks ' || $1::text, 0))`, e.entity.String()); err != nil {
		return err
	}
	made, err := tx.Exec(ctx, `INSERT INTO hook_endpoint (id, entity_id, mode, name, url, form, algorithm, state, key, created_at, changed_at, made_by_key)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $12 WHERE (SELECT count(*) FROM hook_endpoint WHERE entity_id = $2 AND mode = $3) < $11`,
		e.ID, e.entity, e.Mode, e.Name, e.URL, e.Form, e.Algorithm, e.State, e.encryptedKey, e.CreatedAt, maxEndpoints, pg.ID(e.madeByKey))
	if err != nil {
		return err
	}
	if made.RowsAffected() == 0 {
		return ErrTooManyEndpoints
	}
	err = tx.QueryRow(ctx, `INSERT INTO hook_cursor (endpoint_id, seq) SELECT $1, coalesce((SELECT seq FROM feed_head WHERE entity_id = $2 AND mode = $3), 0) RETURNING seq`,
		e.ID, e.entity, e.Mode).Scan(&e.Seq)
	if err != nil {
		return err
	}
	if e.Mode != "test" && s.NotifyCreated != nil {
		if err := s.NotifyCreated(ctx, tx, e, by.Actor); err != nil {
			return err
		}
	}
	return audit.Write(ctx, tx, audit.Entry{
		At: e.CreatedAt, Actor: by.Actor, Action: audit.WebhookCreated, Subject: e.ID, Entity: e.entity, Request: by.Request,
		After: map[string]any{"name": e.Name, "url": e.URL, "mode": e.Mode, "form": e.Form, "algorithm": e.Algorithm},
	})
}

// Count returns how many endpoints an owner has, and how many it may have.
func (s *Service) Count(ctx context.Context, from pg.DB, o feed.Owner) (endpoints, most int64, err error) {
	err = from.QueryRow(ctx, `SELECT count(*) FROM hook_endpoint WHERE entity_id = $1 AND mode = $2`, o.Entity, o.Mode).Scan(&endpoints)
	if err != nil {
		return 0, 0, fmt.Errorf("webhook: count endpoints: %w", err)
	}
	return endpoints, maxEndpoints, nil
}

// checkPerson returns an error unless a person may decide where live events go. What an API
// key may was decided by the person who created it.
func (s *Service) checkPerson(ctx context.Context, tx pg.Tx, mode string, by By, action stepup.Action) error {
	if mode == "test" || by.Actor.Kind != audit.Account {
		return nil
	}
	if s.CheckPerson == nil {
		return errors.New("webhook: CheckPerson is not set, so people decide nothing about live events")
	}
	return s.CheckPerson(ctx, tx, by.Actor.ID, action)
}

// keyRevoked is the condition under which nothing leaves for the endpoint e: the API key
// that created it is revoked. A leaked key must not leave a way for the feed behind.
const keyRevoked = `EXISTS (SELECT FROM api_key k WHERE k.id = e.made_by_key AND k.revoked_at IS NOT NULL)`

const endpointColumns = `e.id, e.entity_id, e.mode, e.name, e.url, e.form, e.algorithm, e.state, e.reason, ` + keyRevoked + `, e.key, e.previous_key, e.previous_until, e.created_at, e.changed_at,
	c.seq, greatest(coalesce(h.seq, 0) - c.seq, 0), c.delivered_at, c.failing_since, c.failures, c.next_at, c.notified_at IS NOT NULL, c.refusals, c.refused_since, c.lease, c.attempts,
	(SELECT count(*) FROM hook_dead d WHERE d.endpoint_id = e.id AND d.sent_at IS NULL)`

const endpointTables = ` FROM hook_endpoint e JOIN hook_cursor c ON c.endpoint_id = e.id LEFT JOIN feed_head h ON h.entity_id = e.entity_id AND h.mode = e.mode `

func scanEndpoint(row pgx.CollectableRow) (e Endpoint, err error) {
	var previousUntil, deliveredAt, failingSince, nextAt, refusedSince *time.Time
	err = row.Scan(&e.ID, &e.entity, &e.Mode, &e.Name, &e.URL, &e.Form, &e.Algorithm, &e.State, &e.Reason, &e.keyRevoked, &e.encryptedKey, &e.previousEncryptedKey, &previousUntil, &e.CreatedAt, &e.ChangedAt,
		&e.Seq, &e.Behind, &deliveredAt, &failingSince, &e.Failures, &nextAt, &e.notified, &e.refusals, &refusedSince, &e.lease, &e.attempts, &e.Dead)
	if e.keyRevoked && e.State == Active {
		e.State, e.Reason = Paused, ReasonKeyRevoked
	}
	e.CreatedAt, e.ChangedAt = e.CreatedAt.UTC(), e.ChangedAt.UTC()
	e.PreviousUntil, e.DeliveredAt, e.FailingSince = orZero(previousUntil), orZero(deliveredAt), orZero(failingSince)
	e.NextAt, e.refusedSince = orZero(nextAt), orZero(refusedSince)
	return e, err
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Endpoints returns the endpoints of an organisation, oldest first; of one mode, or for ""
// of both.
func (s *Service) Endpoints(ctx context.Context, o feed.Owner) ([]Endpoint, error) {
	list, err := pg.Collect(ctx, s.Pool, scanEndpoint, `SELECT `+endpointColumns+endpointTables+`WHERE e.entity_id = $1 AND (e.mode = $2 OR $2 = '') ORDER BY e.created_at, e.id`, o.Entity, o.Mode)
	return list, fault.Wrap(err, "webhook: read endpoints")
}

// Endpoint returns an endpoint of an organisation, or [ErrNoEndpoint]; for the mode "", of
// either mode.
func (s *Service) Endpoint(ctx context.Context, o feed.Owner, id uuid.UUID) (Endpoint, error) {
	return endpoint(ctx, s.Pool, o, id, "")
}

func endpoint(ctx context.Context, from pg.DB, o feed.Owner, id uuid.UUID, lock string) (Endpoint, error) {
	rows, err := from.Query(ctx, `SELECT `+endpointColumns+endpointTables+`WHERE e.id = $1 AND e.entity_id = $2 AND (e.mode = $3 OR $3 = '')`+lock, id, o.Entity, o.Mode)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhook: read an endpoint: %w", err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, scanEndpoint)
	if errors.Is(err, pgx.ErrNoRows) {
		return Endpoint{}, ErrNoEndpoint
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhook: read an endpoint: %w", err)
	}
	return e, nil
}

// now returns the time in whole microseconds, the precision of PostgreSQL.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }
