package httpapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// field returns a string in a JSON response.
func field(t testing.TB, body []byte, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, body)
	}
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("no %s in %s", name, body)
		}
		v = m[name]
	}
	s, ok := v.(string)
	if !ok {
		t.Fatalf("%v is no text in %s", path, body)
	}
	return s
}

func randomPhone() string { return fmt.Sprintf("+23480%08d", rand.IntN(100_000_000)) }

// openAs returns a pool of the superuser on the database of a stack.
func openAs(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	return pgtest.Open(t, url, "")
}
