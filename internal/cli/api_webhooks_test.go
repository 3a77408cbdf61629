package cli_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/notify/feed"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// bankMachine is a machine with a running service and a bank that has a key with the right
// feed in a mode.
func bankMachine(t *testing.T, mode string) (m machine, url string, bank uuid.UUID, withKey []string) {
	t.Helper()
	url = pgtest.URL(t)
	m = newMachine(t, url, t.TempDir(), "LINEPROOF_WEBHOOK_LOOPBACK=true")
	m.object(nil, "demo")
	at := "LINEPROOF_API_URL=" + m.serve()
	made := m.object(nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC 100001")
	id, _ := made["entityUid"].(string)
	create := []string{"key", "create", "--entity", id, "--name", "feed", "--purpose", "payment", "--right", "feed"}
	if mode == "test" {
		create = append(create, "--test")
	}
	key, _ := m.run(0, nil, create...)
	return m, url, uuid.MustParse(id), []string{at, "LINEPROOF_API_KEY=" + strings.TrimSpace(key)}
}

// The commands on webhooks call every operation: an endpoint is added, confirmed, tested,
// paused, resumed, rolled, sent events again and deleted, and what it refused is listed.
func TestAPIWebhooksCommandsCoverEveryOperation(t *testing.T) {
	t.Parallel()
	m, url, bank, withKey := bankMachine(t, "test")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var event struct{ Data struct{ Challenge string } }
		_ = json.Unmarshal(body, &event)
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": event.Data.Challenge})
	}))
	t.Cleanup(server.Close)
	super := pgtest.Open(t, url, "")
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := super.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	hurry := func() { exec(`UPDATE hook_cursor SET manual_at = NULL`) } // one such request every five seconds
	err := pg.InTx(t.Context(), super, func(tx pg.Tx) error {
		return feed.Append(t.Context(), tx, feed.Owner{Entity: bank, Mode: "test"}, feed.Event{Type: "list.v1.applied", Time: time.Now(), Data: map[string]int{"members": 7}})
	})
	if err != nil {
		t.Fatal(err)
	}

	m.run(2, withKey, "api", "webhooks", "add", server.URL) // without a name
	added := m.object(withKey, "api", "webhooks", "add", server.URL, "--name", "core banking", "--algorithm", "hmac", "--form", "single")
	id, _ := added["webhookId"].(string)
	if secret, _ := added["secret"].(string); !strings.HasPrefix(secret, "whsec_") || added["state"] != "unconfirmed" {
		t.Fatalf("add printed %v", added)
	}
	call := func(want int, args ...string) string {
		t.Helper()
		hurry()
		out, _ := m.run(want, withKey, append([]string{"api", "webhooks", args[0], id}, args[1:]...)...)
		return out
	}
	call(5, "test") // not confirmed yet
	if out := call(0, "show"); !strings.Contains(out, "unconfirmed") || strings.Contains(out, "whsec_") {
		t.Errorf("show printed:\n%s", out)
	}
	for _, step := range []struct{ command, want string }{
		{"confirm", "active"}, {"test", "200"}, {"pause", "paused"}, {"resume", "active"}, {"roll", "whsec_"}, {"replay", "active"}, {"attempts", "challenge"},
	} {
		if out := call(0, step.command); !strings.Contains(out, step.want) {
			t.Errorf("%s printed:\n%s", step.command, out)
		}
	}
	if out, _ := m.run(0, withKey, "api", "webhooks", "list"); !strings.Contains(out, "core banking") {
		t.Errorf("list printed:\n%s", out)
	}
	exec(`INSERT INTO hook_dead (endpoint_id, seq, type, refusals, died_at, status, answer) VALUES ($1, 1, 'list.v1.applied', 10, now(), 422, E'unknown\ntype')`, id)
	if out := call(0, "refused"); !strings.Contains(out, "list.v1.applied") || !strings.Contains(out, "unknown type") {
		t.Errorf("refused printed:\n%s", out)
	}
	if out := call(0, "resend", "1"); !strings.Contains(out, "again") {
		t.Errorf("resend printed:\n%s", out)
	}
	if list := m.list(withKey, "api", "webhooks", "refused", id); len(list) != 1 || list[0]["acceptedAt"] == nil {
		t.Errorf("after it was sent again, refused printed %v", list)
	}
	for _, id := range []string{"1-1", "01-1", "1-1-0123456789abcdef"} { // the id of an event as the feed has it, and what is none
		want := 2
		if id == "1-1" {
			want = 0
		}
		call(want, "resend", id)
	}
	call(0, "resend", "1", "--last", "1-1")
	call(2, "resend", "1", "--last", "last")
	call(2, "resend", "first")
	call(5, "resend", "99")
	// A member that the API has as null is null with --json, too.
	for path, args := range map[string][]string{"": {"show", id}, "/attempts": {"attempts", id}, "/refused": {"refused", id}, "/..": {"list"}} {
		var answer struct{ Data any }
		fetch(t, withKey, "/api/v1/webhooks/"+id+path, &answer)
		if of, isList := answer.Data.(map[string]any); isList && len(of) == 1 {
			for _, list := range of {
				answer.Data = list
			}
		}
		var printed any
		out, _ := m.run(0, withKey, append(append([]string{"api", "webhooks"}, args...), "--json")...)
		if err := json.Unmarshal([]byte(out), &printed); err != nil {
			t.Fatal(err)
		}
		if got, want := nullsOf(printed), nullsOf(answer.Data); got != want {
			t.Errorf("%s prints %s, and the API has %s", args[0], got, want)
		}
	}
	server.Config.Handler = http.NotFoundHandler()
	call(6, "test")
	call(0, "delete")
	call(5, "show")
}

// fetch reads a response of the service.
func fetch(t *testing.T, env []string, path string, into any) {
	t.Helper()
	address, _ := strings.CutPrefix(env[0], "LINEPROOF_API_URL=")
	key, _ := strings.CutPrefix(env[1], "LINEPROOF_API_KEY=")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+filepath.Clean(path), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := (&http.Client{Timeout: 10 * time.Second}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, res.Status, err)
	}
}

// nullsOf writes a value with its members and only whether they are null.
func nullsOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, name+" "+nullsOf(v[name]))
		}
		return "{" + strings.Join(all, ", ") + "}"
	case []any:
		var all strings.Builder
		for _, one := range v {
			all.WriteString("\n" + nullsOf(one))
		}
		return all.String()
	case nil:
		return "null"
	}
	return "set"
}

// A bank acknowledges notices about past answers by their ids.
func TestNoticesAreAcknowledged(t *testing.T) {
	t.Parallel()
	m, url, bank, withKey := bankMachine(t, "live")
	_, err := pgtest.Open(t, url, "").Exec(t.Context(), `INSERT INTO impact_notice (request_id, events, entity_id, event_id, told_at) SELECT gen_random_uuid(), 1, $1, '1-' || i, now() FROM generate_series(1, 3) AS i`, bank)
	if err != nil {
		t.Fatal(err)
	}
	out, note := m.run(0, withKey, "api", "feed", "ack", "1-1", "1-2", "1-99")
	if !strings.Contains(out, "2") || !strings.Contains(note, "1-99") {
		t.Errorf("ack printed %s and %s", out, note)
	}
	if again := m.object(withKey, "api", "feed", "ack", "1-1"); again["acknowledged"] != 1.0 {
		t.Errorf("a second acknowledgement says %v", again)
	}
	m.run(2, withKey, "api", "feed", "ack")
}
