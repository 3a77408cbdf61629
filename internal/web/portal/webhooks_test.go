package portal_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

// bankServer is the server of a bank: it answers challenges, and everything else with a
// status.
func bankServer(t testing.TB, status *atomic.Int64) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var challenge struct {
			Type string
			Data struct{ Challenge string }
		}
		if json.Unmarshal(body, &challenge) == nil && strings.HasSuffix(challenge.Type, ".challenge") {
			_ = json.NewEncoder(w).Encode(map[string]string{"challenge": challenge.Data.Challenge})
			return
		}
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write([]byte("thank you"))
	}))
	t.Cleanup(server.Close)
	return server
}

// hook creates an endpoint of an organisation that answers everything.
func (s *stack) hook(t testing.TB, entity uuid.UUID) uuid.UUID {
	t.Helper()
	var status atomic.Int64
	status.Store(http.StatusOK)
	o := feed.Owner{Entity: entity, Mode: access.Test}
	must(s.pool.Exec(t.Context(), `DELETE FROM hook_endpoint WHERE entity_id = $1`, entity))(t) // there is a limit
	return must(s.webhooks.Create(t.Context(), o, webhook.NewForm{Name: "core banking", URL: bankServer(t, &status).URL}, webhook.By{Actor: access.Operator}))(t).ID
}

// newHook creates an endpoint in a state.
func newHook(state string) func(*testing.T, *stack) uuid.UUID {
	return func(t *testing.T, s *stack) uuid.UUID {
		t.Helper()
		id := s.hook(t, s.bank.ID)
		must(s.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = $2 WHERE id = $1`, id, state))(t)
		return id
	}
}

var hookURL = regexp.MustCompile(`/portal/webhooks/([0-9a-f-]{36})/confirm`)

// An admin adds an endpoint, confirms it, sends it a test event and an event of the feed
// again, sees every attempt with its answer, pauses, resumes, rolls and deletes it.
func TestWebhookFromBirthToDeath(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, member := s.as(t, "admin"), s.as(t, "member")
	wantPage(t, s.get(t, "/portal/webhooks", admin.session), http.StatusOK, "No webhook endpoints yet", "/portal/new-webhook")
	wantPage(t, s.get(t, "/portal/webhooks", member.session), http.StatusOK, "An admin of your organisation can add")

	var status atomic.Int64
	status.Store(http.StatusOK)
	server := bankServer(t, &status)
	bad := s.post(t, "/portal/new-webhook", admin.session, url.Values{"url": {"http://hooks.bank.example/"}, "mode": {"live"}, "form": {"batch"}, "algorithm": {"ed25519"}})
	wantPage(t, bad, http.StatusUnprocessableEntity, `id="error-name"`, `id="error-url"`, "must start with https://")
	res := s.post(t, "/portal/new-webhook", admin.session, url.Values{"name": {"core banking"}, "url": {server.URL}, "mode": {"test"}, "form": {"batch"}, "algorithm": {"ed25519"}})
	wantPage(t, res, http.StatusOK, "whpk_", "Send challenge")
	id := hookURL.FindStringSubmatch(res.Body.String())[1]
	page := "/portal/webhooks/" + id
	wantPage(t, s.get(t, page, admin.session), http.StatusOK, "This endpoint gets no events yet", "Not confirmed", "whpk_")
	wait := func() { must(s.pool.Exec(t.Context(), `UPDATE hook_cursor SET manual_at = NULL`))(t) }

	wantGo(t, s.post(t, page+"/confirm", admin.session, url.Values{}), page)
	wantPage(t, s.post(t, page+"/test", admin.session, url.Values{}), http.StatusTooManyRequests, "Wait five seconds")
	wait()
	wantGo(t, s.post(t, page+"/test", admin.session, url.Values{}), page)
	o := feed.Owner{Entity: s.bank.ID, Mode: access.Test}
	err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
		return feed.Append(t.Context(), tx, o, feed.Event{Type: "line.v1.swapped", Time: time.Now(), Data: map[string]any{}})
	})
	if err != nil {
		t.Fatal(err)
	}
	wait()
	status.Store(http.StatusBadGateway)
	wantGo(t, s.post(t, page+"/again", admin.session, url.Values{"first": {"1"}, "last": {"1"}}), page)
	wantPage(t, s.get(t, page, admin.session), http.StatusOK, "Active", "Test event", "Challenge", "Sent again", "502 Bad Gateway", "thank you", "Waiting events")
	wait()
	wantPage(t, s.post(t, page+"/again", admin.session, url.Values{"first": {"7"}, "last": {"7"}}), http.StatusNotFound)
	wantPage(t, s.post(t, page+"/again", admin.session, url.Values{"first": {"x"}}), http.StatusUnprocessableEntity, "Choose the events")

	if body := s.get(t, page, member.session).Body.String(); strings.Contains(body, "Send test event") || !strings.Contains(body, "502 Bad Gateway") {
		t.Error("a member sees buttons, or no attempts")
	}
	wantGo(t, s.post(t, page+"/pause", admin.session, url.Values{}), page)
	wantPage(t, s.get(t, "/portal/webhooks", admin.session), http.StatusOK, "core banking", "Paused", server.URL)
	wantGo(t, s.post(t, page+"/resume", admin.session, url.Values{}), page)
	wantPage(t, s.post(t, page+"/resume", admin.session, url.Values{}), http.StatusConflict, "Only a paused endpoint")
	wantPage(t, s.post(t, page+"/replay", admin.session, url.Values{"after": {"nonsense"}}), http.StatusUnprocessableEntity, `id="error-after"`)
	wantGo(t, s.post(t, page+"/replay", admin.session, url.Values{}), page)
	wantPage(t, s.post(t, page+"/roll", admin.session, url.Values{}), http.StatusOK, "The new key", "whpk_")
	wantPage(t, s.post(t, page+"/roll", admin.session, url.Values{}), http.StatusConflict, "within the last 24 hours")
	wantGo(t, s.post(t, page+"/delete", admin.session, url.Values{}), "/portal/webhooks")
	wantPage(t, s.get(t, page, admin.session), http.StatusNotFound)
}

// A shared secret is shown once; a dead event is listed with its answer.
func TestWebhookSecretAndDeadEvents(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin := s.as(t, "admin")
	res := s.post(t, "/portal/new-webhook", admin.session, url.Values{"name": {"core banking"}, "url": {"https://hooks.bank.example/x"}, "mode": {"live"}, "form": {"single"}, "algorithm": {"hmac"}})
	wantPage(t, res, http.StatusOK, "whsec_", "shown only once")
	id := hookURL.FindStringSubmatch(res.Body.String())[1]
	must(s.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = 'disabled', reason = 'gone' WHERE id = $1`, id))(t)
	must(s.pool.Exec(t.Context(), `INSERT INTO hook_dead (endpoint_id, seq, type, refusals, died_at, status, answer) VALUES ($1, 17, 'line.v1.ported', 10, now(), 422, 'never heard of it')`, id))(t)
	body := s.get(t, "/portal/webhooks/"+id, admin.session)
	wantPage(t, body, http.StatusOK, "Disabled", "because it answered 410 Gone", "Refused events", "line.v1.ported", "never heard of it", "One in a request", "HMAC-SHA-256", "Send challenge")
	if strings.Contains(body.Body.String(), "whsec_") {
		t.Error("the secret is shown again")
	}
}

// Events that were archived before an endpoint could get them are shown as not sent, and are
// not offered to be sent again.
func TestArchivedEventsAreShownAsNotSent(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	admin, hook := s.as(t, "admin"), s.hook(t, s.bank.ID).String()
	must(s.pool.Exec(t.Context(), `UPDATE hook_endpoint SET state = 'active' WHERE id = $1`, hook))(t)
	must(s.pool.Exec(t.Context(), `INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
		VALUES ($1, 1000, now(), 'events', '', 3, 9, 7, NULL, 'not sent: archived', 0, '')`, hook))(t)
	page := s.get(t, "/portal/webhooks/"+hook, admin.session)
	wantPage(t, page, http.StatusOK, "Not sent", "The feed had archived these events", "3 to 9")
	wantNone(t, page.Body.String(), `name="first" value="3"`)
}
