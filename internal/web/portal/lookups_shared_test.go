package portal_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/web/portal"
)

// An administrator who alone invited two auditors has, with both, the look-ups of one person
// on a day, whoever of them looks up. Whom a second administrator has confirmed has a budget
// of their own, like everybody whom nobody gave access alone.
func TestPuppetsShareTheLookUpsOfTheirMaker(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.People.StaffLookups = 4
	maker, stranger := s.asAdministrator(t), s.as(t, "auditor")
	one, two := s.as(t, "auditor"), s.as(t, "auditor")
	s.independent(t)
	for _, puppet := range []visitor{one, two} {
		err := pg.InTx(t.Context(), s.pool, func(tx pg.Tx) error {
			return registry.RecordAccess(t.Context(), tx, puppet.id, registry.AccessCreated, actorOf(maker), time.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, who := range []visitor{one, two, maker, one} {
		wantPage(t, s.looksUp(t, who, nth(i)), http.StatusOK)
	}
	for _, who := range []visitor{one, two, maker} {
		wantPage(t, s.looksUp(t, who, nth(9)), http.StatusTooManyRequests, "another administrator to confirm")
		wantPage(t, s.get(t, portal.LookupsPath, who.session), http.StatusOK, "<strong>4</strong> of 4")
		wantPage(t, s.looksUp(t, who, nth(0)), http.StatusOK)
	}
	wantPage(t, s.looksUp(t, stranger, nth(9)), http.StatusOK)
	s.cosigned(t, two)
	for i := range 2 { // they have looked up two themselves
		wantPage(t, s.looksUp(t, two, nth(20+i)), http.StatusOK)
	}
	wantPage(t, s.looksUp(t, two, nth(30)), http.StatusTooManyRequests, "which is your limit")
	wantPage(t, s.looksUp(t, maker, nth(9)), http.StatusOK)
	wantPage(t, s.looksUp(t, one, nth(10)), http.StatusTooManyRequests)
}

// cosigned has a second administrator confirm who somebody is.
func (s *stack) cosigned(t testing.TB, who visitor) {
	t.Helper()
	must(s.pool.Exec(context.WithoutCancel(t.Context()), `INSERT INTO access_given (subject_id, by_id, how, before_staff, at) VALUES ($1, gen_random_uuid(), 'cosigned', false, now())`, who.id))(t)
}
