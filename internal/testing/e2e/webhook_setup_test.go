package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// hooked is an organisation with a feed and an endpoint of its own. It is also the
// receiver, and checks what arrives.
type hooked struct {
	owner  feed.Owner
	server *httptest.Server

	mu       sync.Mutex
	answer   func(w http.ResponseWriter, r *http.Request) (accepted bool) // nil accepts
	next     int                                                          // the seq of the next event
	repeated int                                                          // events that came again
	bodies   map[string][sha256.Size]byte                                 // hashes of requests, by webhook-id
	sentAt   func(*sentEvent) time.Time                                   // just before the commit; nil reads it from the event
	wrong    []string
	took     []time.Duration // from just before the commit to here

	restores *restoredHistory // what a receiver has that takes restores into account; nil for others
}

type sentEvent struct {
	ID, Type, Sequence string
	Data               struct {
		Challenge   string
		Cursor      string // of an event that tells of a restore
		At          int64  // microseconds, just before the commit
		PhoneNumber string
		Version     int32
	}
}

func (h *hooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var one sentEvent
	if json.Unmarshal(body, &one) == nil && one.Type == "org.lineproof.endpoint.v1.challenge" {
		_, _ = fmt.Fprintf(w, `{"challenge": %q}`, one.Data.Challenge)
		return
	}
	h.mu.Lock()
	answer := h.answer
	h.mu.Unlock()
	if answer == nil || answer(w, r) {
		h.take(r.Header.Get("webhook-id"), body, arrived)
		if answer != nil && rand.IntN(20) == 0 {
			panic(http.ErrAbortHandler) // it has accepted the events, and its answer is lost
		}
	}
}

// take checks and counts what was accepted.
func (h *hooked) take(id string, body []byte, arrived time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hash := sha256.Sum256(body)
	if before, seen := h.bodies[id]; seen && before != hash {
		h.wrong = append(h.wrong, "the same id with other bytes: "+id)
	}
	h.bodies[id] = hash
	var batch []json.RawMessage
	if err := json.Unmarshal(body, &batch); err != nil {
		h.wrong = append(h.wrong, "no batch: "+err.Error())
		return
	}
	for _, text := range batch {
		var e sentEvent
		if err := json.Unmarshal(text, &e); err != nil {
			h.wrong = append(h.wrong, "no event: "+err.Error())
			return
		}
		if h.restores == nil || h.isNext(&e, text) {
			h.count(&e, arrived)
		}
	}
}

// count notes one event that has arrived.
func (h *hooked) count(e *sentEvent, arrived time.Time) {
	var seq int
	_, _ = fmt.Sscan(e.Sequence, &seq)
	switch {
	case seq < h.next:
		h.repeated++
	case seq > h.next:
		h.wrong = append(h.wrong, fmt.Sprintf("event %d came before %d", seq, h.next))
	default:
		h.next++
		at := time.UnixMicro(e.Data.At)
		if h.sentAt != nil {
			at = h.sentAt(e)
		}
		h.took = append(h.took, arrived.Sub(at))
	}
}

func (h *hooked) respond(answer func(http.ResponseWriter, *http.Request) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

// hooks are organisations with endpoints, over the database of a fixture.
type hooks struct {
	w       *fixture
	service *webhook.Service
	all     []*hooked
}

// webhookService returns the service of webhook endpoints over the database of a fixture.
func webhookService(t *testing.T, w *fixture) *webhook.Service {
	t.Helper()
	return &webhook.Service{
		Pool: w.pool, Feed: &feed.Service{Pool: w.pool, Now: time.Now}, Peppers: must(secret.NewPeppers([]secret.Text{pepper}))(t), Loopback: true, Now: time.Now,
		Notify: func(context.Context, pg.Tx, uuid.UUID, webhook.Notice) error { return nil },
	}
}

// newHooks creates organisations with confirmed endpoints on this machine.
func newHooks(t *testing.T, w *fixture, count int) *hooks {
	t.Helper()
	client := egress.New(egress.Options{})
	t.Cleanup(client.Close)
	x := &hooks{w: w, service: webhookService(t, w)}
	x.service.Egress = client
	by := webhook.By{Actor: access.Operator}
	for i := range count {
		bank := must(w.registry.CreateRelyingParty(t.Context(), fmt.Sprintf("Bank %d", i), fmt.Sprintf("RC %d", 1000+i), access.Operator, uuid.Nil))(t)
		h := &hooked{owner: feed.Owner{Entity: bank.ID, Mode: access.Test}, next: 1, bodies: map[string][sha256.Size]byte{}}
		h.server = httptest.NewServer(h)
		t.Cleanup(func() {
			h.server.CloseClientConnections()
			h.server.Close()
		})
		e := must(x.service.Create(t.Context(), h.owner, webhook.NewForm{Name: "core", URL: h.server.URL}, by))(t)
		must(x.service.Confirm(t.Context(), h.owner, e.ID, by))(t)
		x.all = append(x.all, h)
	}
	return x
}

// tell adds one event to each of the feeds, in one transaction.
func (x *hooks) tell(ctx context.Context, of []*hooked) error {
	return pg.InTx(ctx, x.w.pool, func(tx pg.Tx) error { return tellIn(ctx, tx, of) })
}

func tellIn(ctx context.Context, tx pg.Tx, of []*hooked) error {
	events := map[feed.Owner][]feed.Event{}
	now := time.Now()
	for _, h := range of {
		events[h.owner] = append(events[h.owner], feed.Event{Type: "line.v1.swapped", Time: now, Data: map[string]any{"at": now.UnixMicro()}})
	}
	return feed.AppendAll(ctx, tx, events)
}

func percentile(list []time.Duration, p float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(int(float64(len(sorted))*p), len(sorted)-1)]
}
