package httpapi_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/lineproof/lineproof/internal/access"
)

// creations are the requests of API keys that create something, the name of its id, and a request
// with other content.
var creations = []struct{ path, id, table, body, other string }{
	{jobsPath, "jobId", "file_job", `{"name":"customers"}`, `{"name":"payroll"}`},
	{listsPath, "listId", "watch_list", `{"name":"customers"}`, `{"name":"payroll"}`},
	{hooksPath, "webhookId", "hook_endpoint", `{"name":"core","url":"https://hooks.bank.example/"}`, `{"name":"core","url":"https://hooks.bank.example/","algorithm":"hmac"}`},
}

// A request with an Idempotency-Key that is sent again, and many times at once, creates one thing,
// and each response is the first. Other content under the same key is refused, and a key that
// nobody can have is a mistake of the request.
func TestCreationsWithAnIdempotencyKeyTakeEffectOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, doc := s.bankKey(t, access.Live), loadContract(t)
	for _, c := range creations {
		send := func(body, with string) (status int, text, replayed string) {
			r := post(c.path, key, body)
			r.Header.Set("Idempotency-Key", with)
			res := s.do(t, r)
			doc.check(t, r, res)
			return res.Code, res.Body.String(), res.Header().Get("Idempotency-Replayed")
		}
		status, first, replayed := send(c.body, "one")
		if status != http.StatusOK || replayed != "" {
			t.Fatalf("%s: %d, replayed %q: %s", c.path, status, replayed, first)
		}
		if status, text, replayed := send(c.body, "one"); status != http.StatusOK || text != first || replayed != "true" {
			t.Errorf("%s again: %d, replayed %q: %s; want %s", c.path, status, replayed, text, first)
		}
		if status, text, _ := send(c.other, "one"); status != http.StatusConflict || !strings.Contains(text, "INCOMPATIBLE_STATE") {
			t.Errorf("%s with other content: %d %s", c.path, status, text)
		}
		if status, text, _ := send(c.body, strings.Repeat("k", 256)); status != http.StatusBadRequest || !strings.Contains(text, `"field":"Idempotency-Key"`) {
			t.Errorf("%s with a key of 256 characters: %d %s", c.path, status, text)
		}
		// The violations of the body come with it.
		if status, text, _ := send(`{"x":1}`, strings.Repeat("k", 256)); status != http.StatusBadRequest || !strings.Contains(text, "Idempotency-Key") || !strings.Contains(text, "UNKNOWN_FIELD") {
			t.Errorf("%s with two mistakes: %d %s", c.path, status, text)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { send(c.body, "two") })
		}
		wg.Wait()
		var n int
		if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+c.table).Scan(&n); err != nil || n != 2 {
			t.Errorf("%s: %d rows, %v; want 2", c.path, n, err)
		}
	}
}

// The secret of a webhook endpoint is shown once: it is not stored with the response, and is not in
// one that is repeated.
func TestRepeatedResponseHasNoSecret(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, doc := s.bankKey(t, access.Live), loadContract(t)
	send := func() string {
		r := post(hooksPath, key, creations[2].other)
		r.Header.Set("Idempotency-Key", "one")
		res := s.do(t, r)
		doc.check(t, r, res)
		return res.Body.String()
	}
	if first := send(); !strings.Contains(first, `"secret":"whsec_`) {
		t.Errorf("the first response has no secret: %s", first)
	}
	if again := send(); strings.Contains(again, "whsec_") || !strings.Contains(again, `"webhookId"`) {
		t.Errorf("the repeated response: %s", again)
	}
	var n int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM idempotency WHERE answer LIKE '%whsec_%'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d stored responses have a secret, %v", n, err)
	}
}
