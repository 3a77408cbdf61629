package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/notify/webhook"
	"github.com/lineproof/lineproof/internal/platform/egress"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const hooksPath = "/api/v1/webhooks"

func newWebhooks(pool *pgxpool.Pool, peppers *secret.Peppers) *webhook.Service {
	return &webhook.Service{
		Pool: pool, Feed: &feed.Service{Pool: pool, Now: time.Now}, Egress: egress.New(egress.Options{}), Peppers: peppers, Loopback: true, Now: time.Now,
		Notify: func(context.Context, pg.Tx, uuid.UUID, webhook.Notice) error { return nil },
	}
}

// hookServer is a bank's server that answers challenges.
func hookServer(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var event struct{ Data struct{ Challenge string } }
		_ = json.Unmarshal(body, &event)
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": event.Data.Challenge})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// hook creates the only endpoint, in a state.
func (s *stack) hook(t *testing.T, entity uuid.UUID, mode, state string) uuid.UUID {
	t.Helper()
	super(t, s, `DELETE FROM hook_endpoint`) // there may be only so many
	return s.oneMoreHook(t, entity, mode, state)
}

// oneMoreHook creates an endpoint in a state. Nobody answers at that of a live key: only one
// of a test key can be on this machine.
func (s *stack) oneMoreHook(t *testing.T, entity uuid.UUID, mode, state string) uuid.UUID {
	t.Helper()
	o := feed.Owner{Entity: entity, Mode: mode}
	address := "https://hooks.bank.example/lineproof"
	if mode == access.Test {
		address = hookServer(t)
	}
	e := must(s.Bank.Webhooks.Create(t.Context(), o, webhook.NewForm{Name: "core banking", URL: address}, webhook.By{Actor: access.Operator}))(t)
	super(t, s, `UPDATE hook_endpoint SET state = '`+state+`' WHERE id = '`+e.ID.String()+`'`)
	return e.ID
}

// tellBank adds an event to a feed of the bank.
func (s *stack) tellBank(t *testing.T, mode string) {
	t.Helper()
	s.tellFeed(t, feed.Owner{Entity: s.bank.ID, Mode: mode})
}

// tellFeed adds an event to a feed.
func (s *stack) tellFeed(t *testing.T, o feed.Owner) {
	t.Helper()
	must(struct{}{}, pg.InTx(t.Context(), s.Bank.Webhooks.Pool, func(tx pg.Tx) error {
		return feed.Append(t.Context(), tx, o, feed.Event{Type: "list.v1.applied", Time: time.Now(), Data: map[string]int{"members": 7}})
	}))(t)
}

// hookState is the state in which an endpoint must be for an operation to succeed.
func hookState(path string) string {
	switch {
	case strings.HasSuffix(path, "/confirm"):
		return "unconfirmed"
	case strings.HasSuffix(path, "/resume"):
		return "paused"
	}
	return "active"
}

// hookRequest returns a request about endpoints that a key of the bank may send.
func hookRequest(t *testing.T, s *stack, method, path string) *http.Request {
	t.Helper()
	id := s.hook(t, s.bank.ID, access.Live, hookState(path)).String()
	switch {
	case path == hooksPath && method == http.MethodPost:
		return post(path, "", `{"name":"core banking","url":"https://hooks.bank.example/"}`)
	case strings.HasSuffix(path, "/resend"):
		s.tellBank(t, access.Live)
		return post(strings.Replace(path, "{webhookId}", id, 1), "", `{"first":"1"}`)
	case method == http.MethodPost:
		return post(strings.Replace(path, "{webhookId}", id, 1), "", `{}`)
	}
	return httptest.NewRequest(method, strings.Replace(path, "{webhookId}", id, 1), http.NoBody)
}

func hookAnswers() map[string]answer {
	all := make(map[string]answer)
	some := hooksPath + "/" + uuid.NewString()
	body := func(path string) func(key string) *http.Request {
		return func(key string) *http.Request { return post(path, key, `{}`) }
	}
	ops := map[string]func(key string) *http.Request{
		"hooks": func(key string) *http.Request { return get(hooksPath, key) }, "hooks_create": body(hooksPath), "hooks_show": func(key string) *http.Request { return get(some, key) },
		"hooks_delete": func(key string) *http.Request { return without(http.MethodDelete, some, key) }, "hooks_attempts": func(key string) *http.Request { return get(some+"/attempts", key) },
		"hooks_confirm": body(some + "/confirm"), "hooks_test": body(some + "/test"), "hooks_pause": body(some + "/pause"), "hooks_resume": body(some + "/resume"),
		"hooks_roll": body(some + "/roll"), "hooks_replay": body(some + "/replay"), "hooks_refused": func(key string) *http.Request { return get(some+"/refused", key) },
		"hooks_resend": func(key string) *http.Request { return post(some+"/resend", key, `{"first":"1"}`) },
	}
	on := func(name, state, mode string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			id := s.hook(t, s.bank.ID, mode, state).String()
			r := ops[name](s.bankKey(t, mode))
			r.URL.Path = strings.Replace(r.URL.Path, strings.TrimPrefix(some, hooksPath+"/"), id, 1)
			return r
		}
	}
	for name, ask := range ops {
		maps.Copy(all, bankTrouble(name, ask))
		if name == "hooks" || name == "hooks_create" {
			continue
		}
		all[name+"_none"] = answer{404, func(t *testing.T, s *stack) *http.Request { return ask(s.bankKey(t, access.Live)) }}
	}
	for name, state := range map[string]string{"hooks": "active", "hooks_show": "active", "hooks_delete": "active", "hooks_pause": "active", "hooks_resume": "paused", "hooks_roll": "active", "hooks_replay": "active", "hooks_attempts": "active", "hooks_refused": "active"} {
		all[name+"_ok"] = answer{200, on(name, state, access.Live)}
	}
	create := func(text string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(hooksPath, s.bankKey(t, access.Live), text) }
	}
	large := `{"after":"` + strings.Repeat("x", 17<<10) + `"}`
	replay := func(text string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			id := s.hook(t, s.bank.ID, access.Live, "active").String()
			return post(hooksPath+"/"+id+"/replay", s.bankKey(t, access.Live), text)
		}
	}
	resend := func(text string) asker {
		return func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_resend", "active", access.Test)(t, s)
			s.tellBank(t, access.Test)
			return post(r.URL.Path, s.bankKey(t, access.Test), text)
		}
	}
	untyped := func(ask asker) asker {
		return func(t *testing.T, s *stack) *http.Request {
			r := ask(t, s)
			r.Header.Del("Content-Type")
			return r
		}
	}
	maps.Copy(all, map[string]answer{
		"hooks_create_ok":      {200, create(`{"name":"core banking","url":"https://hooks.bank.example/lineproof"}`)},
		"hooks_create_ok_hmac": {200, create(`{"name":"core banking","url":"https://hooks.bank.example:8443/","form":"single","algorithm":"hmac"}`)},
		"hooks_create_wrong":   {400, create(`{"url":"http://127.0.0.1/","form":"xml","algorithm":"rsa"}`)},
		"hooks_create_large":   {413, create(large)},
		"hooks_create_type":    {415, untyped(create(`{}`))},
		"hooks_create_many": {409, func(t *testing.T, s *stack) *http.Request {
			for range 10 {
				must(s.Bank.Webhooks.Create(t.Context(), feed.Owner{Entity: s.bank.ID, Mode: access.Live}, webhook.NewForm{Name: "x", URL: "https://hooks.bank.example/"}, webhook.By{Actor: access.Operator}))(t)
			}
			return create(`{"name":"x","url":"https://hooks.bank.example/"}`)(t, s)
		}},
		"hooks_show_other_mode": {404, func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_show", "active", access.Live)(t, s)
			r.Header.Set("Authorization", "Bearer "+s.bankKey(t, access.Test))
			return r
		}},
		"hooks_attempts_wrong": {400, func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_attempts", "active", access.Live)(t, s)
			r.URL.RawQuery = "limit=101&before=x"
			return r
		}},
		"hooks_attempts_ok_one": {200, func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_attempts", "active", access.Live)(t, s)
			super(t, s, `INSERT INTO hook_attempt (endpoint_id, n, at, kind, message, first_seq, last_seq, events, status, error, took_ms, answer)
				SELECT id, 7, now(), 'events', '1-1_1-3', 1, 3, 3, 503, '', 12, 'later' FROM hook_endpoint`)
			return r
		}},
		"hooks_confirm_ok":     {200, on("hooks_confirm", "unconfirmed", access.Test)},
		"hooks_confirm_active": {409, on("hooks_confirm", "active", access.Test)},
		"hooks_test_ok":        {200, on("hooks_test", "active", access.Test)},
		"hooks_test_new":       {409, on("hooks_test", "unconfirmed", access.Test)},
		"hooks_pause_paused":   {409, on("hooks_pause", "paused", access.Live)},
		"hooks_resume_active":  {409, on("hooks_resume", "active", access.Live)},
		"hooks_roll_again": {409, func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_roll", "active", access.Live)(t, s)
			super(t, s, `UPDATE hook_endpoint SET previous_key = key, previous_until = now() + interval '1 hour'`)
			return r
		}},
		"hooks_refused_ok_one": {200, func(t *testing.T, s *stack) *http.Request {
			r := on("hooks_refused", "active", access.Live)(t, s)
			super(t, s, `INSERT INTO hook_dead (endpoint_id, seq, type, refusals, died_at, status, answer) SELECT id, 7, 'line.v1.swapped', 10, now(), 422, 'unknown type' FROM hook_endpoint`)
			return r
		}},
		"hooks_resend_ok":       {200, resend(`{"first":"1"}`)},
		"hooks_resend_ok_range": {200, resend(`{"first":"1","last":"9"}`)},
		"hooks_resend_wrong":    {400, resend(`{"first":"1-1","last":"0"}`)},
		"hooks_resend_order":    {400, resend(`{"first":"9","last":"2"}`)},
		"hooks_resend_unknown":  {404, resend(`{"first":"99"}`)},
		"hooks_resend_new":      {409, on("hooks_resend", "unconfirmed", access.Test)},
		"hooks_resend_large":    {413, resend(strings.Replace(large, "after", "first", 1))},
		"hooks_resend_type":     {415, untyped(resend(`{}`))},
		"hooks_replay_cursor":   {400, replay(`{"after":"x"}`)},
		"hooks_replay_other":    {409, replay(`{"after":"1-1-0123456789abcdef"}`)},
		"hooks_replay_large":    {413, replay(large)},
		"hooks_replay_type":     {415, untyped(replay(`{}`))},
		"hooks_replay_gone": {410, func(t *testing.T, s *stack) *http.Request {
			gone := feedAnswers()["feed_gone"].ask(t, s) // a cursor whose events are deleted
			id := s.hook(t, s.bank.ID, access.Live, "active").String()
			return post(hooksPath+"/"+id+"/replay", s.bankKey(t, access.Live), `{"after":"`+gone.URL.Query().Get("after")+`"}`)
		}},
	})
	return all
}
