package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
)

// While the guard has stopped an organisation it reads neither its feed nor its stream with a
// live key, and is told why; after the release it finds what was added meanwhile.
func TestStoppedOrganisationReadsNoFeed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, test := s.bankKey(t, access.Live), s.bankKey(t, access.Test)
	guard := s.Bank.Lists.Guard
	alert := uuid.Must(uuid.NewV7())
	must(s.pool.Exec(t.Context(), `INSERT INTO guard_alert (id, entity_id, kind, level, since, node, numbers, misses, dense, block, budget)
		VALUES ($1, $2, 'density', 'stopped', now(), 'test', 1, 0, 1, 100, 0)`, alert, s.bank.ID))(t)
	if err := guard.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.tell(t, access.Live)
	for _, path := range []string{feedPath, streamPath} {
		refusal(t, s.checked(t, get(path, key)), "SCAN_SUSPECTED", "ask the regulator for a release")
	}
	if res := s.checked(t, get(feedPath, test)); res.Code != http.StatusOK {
		t.Errorf("a test key is answered %d", res.Code)
	}
	must(s.pool.Exec(t.Context(), `UPDATE guard_alert SET released_at = now(), reason = 'asked' WHERE id = $1`, alert))(t)
	if err := guard.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res := s.checked(t, get(feedPath, key)); field(t, res.Body.Bytes(), "data", "next") == "" || res.Code != http.StatusOK {
		t.Errorf("after the release it answered %d: %s", res.Code, res.Body)
	}
}
