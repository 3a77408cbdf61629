package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// rivals is how many applications meet in one round.
const rivals = 32

// Of applications that arrive together and clash, exactly one is let in; no other
// learns which field it was; and nothing of them stays behind.
func TestRaceOnboard(t *testing.T) {
	w, book := newFixture(t, pgtest.URL(t)), newLedger(t)
	rounds := size(t, "LINEPROOF_E2E_ROUNDS", 50)
	p := start(t, w)
	callers := make([]*caller, rivals)
	for i := range callers {
		callers[i] = newCaller(t, w, p.public, book)
		defer callers[i].close()
	}
	begin := time.Now()
	for round := range rounds {
		clash := [][]string{{"adminEmail"}, {"adminPhone"}, {"adminEmail", "adminPhone"}}[round%3]
		compete(t, callers, clash)
		if t.Failed() {
			t.Fatalf("round %d of %d, clash on %v", round+1, rounds, clash)
		}
		if (round+1)%100 == 0 {
			t.Logf("round %d of %d", round+1, rounds)
		}
	}
	t.Logf("%d rounds of %d in %s", rounds, rivals, time.Since(begin).Round(time.Millisecond))
	report(t, &checker{world: w, book: book.read(t), noAnswerNoTrace: true})
	onboarded := 0
	err := w.pool.QueryRow(t.Context(), `SELECT count(*) FROM entity WHERE client_id IS NOT NULL AND id <> $1`, w.telco.ID).Scan(&onboarded)
	if err != nil || onboarded != rounds {
		t.Errorf("%d rounds left %d entities (%v)", rounds, onboarded, err)
	}
	for _, l := range p.lines(t) {
		if l.Level == "ERROR" {
			t.Errorf("the server logged an error: %+v", l)
		}
	}
}

// compete sends one round and judges it. The values that clash are written
// differently each time.
func compete(t *testing.T, callers []*caller, clash []string) {
	t.Helper()
	shared := callers[0].newApplication()
	statuses := make([]int, len(callers))
	codes := make([]string, len(callers))
	var all sync.WaitGroup
	gate := make(chan struct{})
	for i, c := range callers {
		m := c.newApplication()
		if slices.Contains(clash, "adminEmail") {
			m.Applied.AdminEmail = mixCase(c.rng, strings.ToLower(shared.Applied.AdminEmail))
		}
		if slices.Contains(clash, "adminPhone") {
			m.Phone, m.Applied.AdminPhone = shared.Phone, spell(c.rng, shared.Phone)
		}
		all.Go(func() {
			<-gate
			statuses[i], codes[i] = c.tryApplication(m)
		})
	}
	close(gate)
	all.Wait()
	won := 0
	for i := range callers {
		switch {
		case statuses[i] == http.StatusOK:
			won++
		case statuses[i] != http.StatusConflict || codes[i] != "ALREADY_EXISTS":
			t.Errorf("a rival was answered %d with %s", statuses[i], codes[i])
		}
	}
	if won != 1 {
		t.Errorf("%d of %d rivals were let in", won, len(callers))
	}
}

// tryApplication sends an application and returns the status and the code of the
// answer, with the fields that it names.
func (c *caller) tryApplication(m mark) (status int, code string) {
	c.page.write(m)
	a, err := c.wire.send(post(onboardPath, "application/json", encode(m.Applied),
		"Authorization", "Bearer "+c.world.token, "Idempotency-Key", m.ID))
	var data made
	end := mark{ID: m.ID, Status: a.status}
	if end.Outcome, end.Problem = judge(a, err, &data); end.Outcome == okay {
		end.Made = &data
	}
	c.page.write(end)
	if err != nil {
		return 0, err.Error()
	}
	var body struct {
		Data struct {
			Code       string
			Violations []struct{ Field string }
		}
	}
	if a.status != http.StatusOK && json.Unmarshal(a.body, &body) != nil {
		return a.status, "no envelope"
	}
	words := []string{body.Data.Code}
	for _, v := range body.Data.Violations {
		words = append(words, v.Field)
	}
	return a.status, strings.Join(words, " ")
}
