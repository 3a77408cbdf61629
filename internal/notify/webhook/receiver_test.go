package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// env is a service with a real database, whose endpoints are on this machine.
type env struct {
	*webhook.Service

	t    *testing.T
	pool *pgxpool.Pool

	mu      sync.Mutex
	notices []webhook.Notice
}

var by = webhook.By{Actor: audit.Actor{Kind: audit.Operator}}

func newEnv(t *testing.T) *env {
	t.Helper()
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, pool: pgtest.New(t)}
	f := &feed.Service{Pool: e.pool, Now: time.Now}
	client := egress.New(egress.Options{})
	t.Cleanup(client.Close)
	e.Service = &webhook.Service{
		Pool: e.pool, Feed: f, Egress: client, Peppers: peppers, Loopback: true, Now: time.Now,
		Notify: func(_ context.Context, _ pg.Tx, _ uuid.UUID, n webhook.Notice) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.notices = append(e.notices, n)
			return nil
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	running.Go(func() { (&pg.Listener{Pool: e.pool, Channels: []pg.Channel{f.Channel()}}).Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return e
}

// bank returns the feed of a new organisation.
func (e *env) bank() feed.Owner {
	e.t.Helper()
	o := feed.Owner{Entity: uuid.Must(uuid.NewV7()), Mode: "test"}
	_, err := e.pool.Exec(e.t.Context(), `INSERT INTO entity (id, name, cac, status, document_required, asks, supplies, created_at)
		VALUES ($1, 'A Bank', 'RC 1', 'Approved', false, true, false, '2020-01-01')`, o.Entity)
	if err != nil {
		e.t.Fatal(err)
	}
	return o
}

// tell adds events to a feed, from first to last.
func (e *env) tell(o feed.Owner, first, last int) {
	e.t.Helper()
	var events []feed.Event
	for i := first; i <= last; i++ {
		events = append(events, feed.Event{Type: "line.v1.swapped", Time: time.Now(), Data: map[string]any{"i": i}})
	}
	if err := pg.InTx(e.t.Context(), e.pool, func(tx pg.Tx) error { return feed.Append(e.t.Context(), tx, o, events...) }); err != nil {
		e.t.Fatal(err)
	}
}

// sender runs a sender until the test ends.
func (e *env) sender(lease time.Duration) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &webhook.Sender{Service: e.Service, Node: "one", Log: slog.New(slog.DiscardHandler), Lease: lease}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	e.t.Cleanup(func() { cancel(); <-done })
}

// senderLooks waits until the sender has looked for endpoints twice after the call: endpoints
// that are made now, one after the other, get their event.
func (e *env) senderLooks() {
	e.t.Helper()
	for range 2 {
		o, r := e.bank(), newReceiver(e.t)
		e.endpoint(o, r)
		e.tell(o, 1, 1)
		eventually(e.t, "the event of an endpoint that was just made", func() bool { return len(r.got()) == 1 })
	}
}

// endpoint creates and confirms an endpoint at a receiver.
func (e *env) endpoint(o feed.Owner, r *receiver) webhook.Created {
	e.t.Helper()
	return e.endpointBy(o, r, by)
}

func (e *env) endpointBy(o feed.Owner, r *receiver, by webhook.By) webhook.Created {
	e.t.Helper()
	c, err := e.Create(e.t.Context(), o, webhook.NewForm{Name: "core banking", URL: r.URL, Form: webhook.Batch}, by)
	if err != nil {
		e.t.Fatal(err)
	}
	if c.Endpoint, err = e.Confirm(e.t.Context(), o, c.ID, by); err != nil || c.State != webhook.Active {
		e.t.Fatalf("confirm: %s, %v", c.State, err)
	}
	return c
}

// hurry lets the next attempt of an endpoint be due now.
func (e *env) hurry(id uuid.UUID) {
	e.t.Helper()
	_, err := e.pool.Exec(e.t.Context(), `WITH c AS (UPDATE hook_cursor SET next_at = NULL, manual_at = NULL WHERE endpoint_id = $1) UPDATE hook_endpoint SET version = version + 1 WHERE id = $1`, id)
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) now(o feed.Owner, id uuid.UUID) webhook.Endpoint {
	e.t.Helper()
	x, err := e.Endpoint(e.t.Context(), o, id)
	if err != nil {
		e.t.Fatal(err)
	}
	return x
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("timed out waiting for: " + what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// receiver is a bank's server. It answers challenges, and keeps the ids of events in the
// order in which it accepted them.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	handle   func(w http.ResponseWriter, r *http.Request, body []byte) (accepted bool) // nil accepts
	accepted []string                                                                  // ids of events
	bodies   map[string]string                                                         // of requests, by webhook-id
	changed  []string                                                                  // webhook-ids that came with other bytes
	requests int
	inFlight int
	overlaps int // requests while another was in flight
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{bodies: map[string]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *receiver) on(handle func(w http.ResponseWriter, req *http.Request, body []byte) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handle = handle
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	if r.inFlight++; r.inFlight > 1 {
		r.overlaps++
	}
	r.requests++
	id := req.Header.Get("webhook-id")
	if before, seen := r.bodies[id]; seen && before != string(body) {
		r.changed = append(r.changed, id)
	}
	r.bodies[id] = string(body)
	handle := r.handle
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.inFlight--
		r.mu.Unlock()
	}()
	if answerChallenge(w, body) {
		return
	}
	if handle == nil || handle(w, req, body) {
		r.accept(body)
	}
}

// answerChallenge answers a challenge, if it is one.
func answerChallenge(w io.Writer, body []byte) bool {
	var c struct {
		Type string
		Data struct{ Challenge string }
	}
	if json.Unmarshal(body, &c) != nil || c.Type != "org.lineproof.endpoint.v1.challenge" {
		return false
	}
	_, _ = fmt.Fprintf(w, `{"challenge": %q}`, c.Data.Challenge)
	return true
}

func eventsOf(body []byte) (ids []string) {
	type event struct{ ID string }
	var list []event
	if body[0] != '[' {
		list = make([]event, 1)
		_ = json.Unmarshal(body, &list[0])
	} else {
		_ = json.Unmarshal(body, &list)
	}
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

func (r *receiver) accept(body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted = append(r.accepted, eventsOf(body)...)
}

func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.accepted...)
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}
