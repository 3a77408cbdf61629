package people_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// Failed logins are in the audit trail, counted by account and for all unknown
// addresses together, and never with what was typed. A flood leaves as many entries as
// one attempt.
func TestFailedLoginsAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	record := func() []audit.Record {
		t.Helper()
		if err := w.RecordFailures(t.Context()); err != nil {
			t.Fatal(err)
		}
		return must(audit.List(t.Context(), w.pool, audit.Filter{Action: string(audit.LoginFailed)}))(t)
	}
	if list := record(); len(list) != 0 {
		t.Fatalf("%d entries before anybody failed", len(list))
	}
	account := must(w.Registry.AccountByEmail(t.Context(), w.pool, w.admin))(t)
	fail := func(email string) {
		t.Helper()
		if _, err := w.LogIn(t.Context(), w.attempt(email, "my-Secret-typed-by-mistake"), uuid.Nil); err == nil {
			t.Fatal("a wrong password was accepted")
		}
		w.move(5 * time.Minute)
	}
	for range 7 {
		fail(w.admin)
	}
	for range 3 {
		fail("nobody-" + uuid.NewString() + "@bank.example")
	}
	w.in(t, w.attempt(w.admin, password)) // a success takes nothing back
	list := record()
	failures := map[uuid.UUID]any{}
	for _, r := range list {
		failures[r.Subject] = r.After["failures"]
	}
	if len(list) != 2 || failures[account.ID] != 7.0 || failures[uuid.Nil] != 3.0 {
		t.Errorf("the trail has %+v, want 7 failures of the account and 3 of unknown addresses", list)
	}
	var text string
	if err := w.pool.QueryRow(t.Context(), `SELECT string_agg(a::text, ' ') FROM audit a`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"my-Secret", "nobody-", "@bank.example"} {
		if strings.Contains(text, typed) {
			t.Errorf("the trail contains %q", typed)
		}
	}
	if again := record(); len(again) != 2 {
		t.Errorf("the same failures are recorded again: %d entries", len(again))
	}
	fail(w.admin)
	w.move(time.Hour)
	if _, err := w.DeleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last := record(); len(last) != 3 {
		t.Errorf("a failure was forgotten before it was recorded: %d entries", len(last))
	}
}
