package server_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

// at moves the clock of the service to a time from now.
func (w *twoPeople) at(d time.Duration) {
	now := time.Now().Add(d)
	clock := func() time.Time { return now }
	w.approvals.Now, w.people.Registry.Now, w.people.Access.Now, w.orders.Supply.Now = clock, clock, clock, clock
}

// oldPuppet returns a member of staff whom somebody alone created some time ago.
func (w *twoPeople) oldPuppet(of audit.Actor, role string, age time.Duration) audit.Actor {
	w.Helper()
	id := w.account(role)
	err := pg.InTx(w.Context(), w.pool, func(tx pg.Tx) error {
		return registry.RecordAccess(w.Context(), tx, id, registry.AccessCreated, of, time.Now().Add(-age))
	})
	if err != nil {
		w.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: id}
}

// alone lets Ada carry a request out by break-glass, which ended 25 hours ago.
func (w *twoPeople) alone(request func() (uuid.UUID, error)) {
	w.Helper()
	w.at(-49 * time.Hour)
	id := value(pendingOf(request()))(w)
	value(w.approvals.BreakGlass(w.Context(), id, "Nobody is here", w.ada, uuid.Nil))(w)
	w.at(-25 * time.Hour)
	value(w.approvals.Confirm(w.Context(), id, w.ada, uuid.Nil))(w)
	w.at(0)
}

// helpers are everybody whom Ada can have beside her without another person, with time and
// with break-glass that nobody refuses.
func (w *twoPeople) helpers(orders bool) map[string]audit.Actor {
	w.Helper()
	const day = 24 * time.Hour
	old := w.oldPuppet(w.ada, approval.Administrator, 400*day)
	raised := w.oldPuppet(w.ada, "auditor", 30*day)
	same := w.oldPuppet(w.ada, approval.Administrator, 30*day)
	colleague := audit.Actor{Kind: audit.Account, ID: w.account(approval.Administrator)}
	give := func(to audit.Actor) func() (uuid.UUID, error) {
		return func() (pending uuid.UUID, err error) {
			err = pg.InTx(w.Context(), w.pool, func(tx pg.Tx) error {
				pending, err = w.people.Registry.GiveRole(w.Context(), tx, to.ID, approval.Administrator, reason, w.ada, uuid.Nil)
				return err
			})
			return pending, err
		}
	}
	w.alone(give(raised))
	w.alone(give(same)) // who they are, which two people would have to say
	w.alone(func() (uuid.UUID, error) {
		return uuid.Nil, w.people.ResetFactor(w.Context(), colleague.ID, reason, w.ada, uuid.Nil)
	})
	w.exec(`INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, 'x', now(), now())`, colleague.ID)
	all := map[string]audit.Actor{
		"a puppet": w.puppet(w.ada), "a puppet of 400 days": old, "a puppet reviewer of 30 days": w.oldPuppet(w.ada, approval.Reviewer, 30*day),
		"a puppet of that puppet": w.oldPuppet(old, approval.Administrator, 300*day), "a puppet that was raised by break-glass": raised,
		"a puppet that was confirmed by break-glass": same, "a colleague whose factor was reset by break-glass": colleague,
	}
	if orders {
		w.alone(func() (uuid.UUID, error) {
			form := access.ClientForm{Name: "Court", Scopes: []string{"line:order"}, Reason: reason}
			c, err := w.people.Access.CreateClient(w.Context(), form, w.ada, uuid.Nil)
			all["a client that was made by break-glass"] = audit.Actor{Kind: audit.Client, ID: c.ID}
			return c.Pending, err
		})
	}
	return all
}

// What one administrator reaches alone, and when.
const (
	reachedAtOnce = "at once"
	reachedBar    = "at once, and it ends after 72 hours"
	reachedBroken = "24 hours after an e-mail to all staff, unless one of them refuses (break-glass)"
	reachedNever  = "never"
)

// patience is how long they wait. A request of an approval expires after a week, an order
// never does.
var patience = []time.Duration{
	0, 23 * time.Hour, 25 * time.Hour, 71 * time.Hour, 73 * time.Hour, 167 * time.Hour, 30 * 24 * time.Hour, 400 * 24 * time.Hour,
}

// walkAlone lets Ada request an action, and everybody whom she has confirm it, for more than a
// year; then the other way round; then when her colleague has left; then by break-glass.
func (w *twoPeople) walkAlone(a approval.Action, c actionCase) string {
	w.Helper()
	helpers := w.helpers(a.Order)
	names := slices.Sorted(maps.Keys(helpers))
	refuses := func(id uuid.UUID, by audit.Actor, who string, after time.Duration) {
		w.Helper()
		w.at(after)
		err := w.confirm(a, id, by)
		w.at(0)
		if err == nil || c.done(w) {
			w.Errorf("%s: %s after %s, made it take effect: %v", a.Kind, who, after, err)
		}
	}
	waits := func(times ...time.Duration) uuid.UUID {
		w.Helper()
		for _, d := range times {
			id := value(pendingOf(c.request(w, w.ada)))(w)
			for _, name := range names {
				refuses(id, helpers[name], name, d)
			}
			refuses(id, w.ada, "she herself", d)
			w.refuse(a, id, w.ada)
		}
		return value(pendingOf(c.request(w, w.ada)))(w)
	}
	w.refuse(a, waits(patience...), w.ada)
	for _, name := range names {
		id, err := pendingOf(c.request(w, helpers[name]))
		if err != nil {
			continue // a reviewer may not request it, and a client only orders
		}
		refuses(id, w.ada, "she, for "+name, 0)
		for _, other := range names {
			refuses(id, helpers[other], other+", for "+name, 0)
		}
		w.refuse(a, id, helpers[name])
	}
	w.exec(`UPDATE account SET disabled_at = now() WHERE id = $1`, w.bola.ID)
	id := waits(0, 400*24*time.Hour)
	if used, early, late := w.breaks(id, w.ada); used != nil || early == nil || late != nil {
		if c.done(w) {
			w.Errorf("%s takes effect: %v, %v, %v", a.Kind, used, early, late)
		}
		return reachedNever
	}
	if !c.done(w) {
		w.Errorf("%s was carried out without effect", a.Kind)
	}
	return reachedBroken
}

// barAlone lets Ada bar a number, which nobody whom she has makes last.
func (w *twoPeople) barAlone(a approval.Action) string {
	w.Helper()
	helpers := w.helpers(true)
	o := value(w.orders.Create(w.Context(), supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: w.ada}, order.Form{
		PhoneNumber: number, Action: "BAR", Reason: "COURT", Note: reason,
	}))(w)
	for _, d := range patience {
		w.at(d)
		for name, h := range helpers {
			if err := w.confirm(a, o.ID, h); err == nil {
				w.Errorf("%s confirmed a bar after %s", name, d)
			}
		}
	}
	if !w.holds(`number_bar_until - number_bar_at = 72 * 3600 FROM line_now`) {
		w.Error("the bar does not end after 72 hours")
	}
	return reachedBar
}

// One administrator who has puppets, break-glass that nobody refuses and more than a year
// reaches alone, of all actions of the table, what the page about threats says.
func TestPatientAdministrator(t *testing.T) { //nolint:tparallel // the group waits for its parallel subtests
	t.Parallel()
	reached := make([]string, len(approval.Actions))
	t.Run("actions", func(t *testing.T) {
		for i, a := range approval.Actions {
			if a.Rule == approval.OnePerson {
				reached[i] = reachedAtOnce
				continue
			}
			t.Run(string(a.Kind), func(t *testing.T) {
				t.Parallel()
				if a.Rule == approval.ConfirmLater {
					reached[i] = newTwoPeople(t, nil).barAlone(a)
					return
				}
				c := actionCases[a.Kind]
				reached[i] = newTwoPeople(t, c.prepare).walkAlone(a, c)
			})
		}
	})
	if t.Failed() {
		return
	}
	const path, begin, end = "../../docs/explanation/threats.md", "<!-- patient:begin -->\n", "<!-- patient:end -->"
	page := string(value(os.ReadFile(path))(t))
	before, rest, ok := strings.Cut(page, begin)
	was, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the page has no place for what one administrator reaches alone")
	}
	var text strings.Builder
	text.WriteString("| when | what |\n| --- | --- |\n")
	for _, when := range []string{reachedAtOnce, reachedBar, reachedBroken, reachedNever} {
		var what []string
		for i, a := range approval.Actions {
			if reached[i] == when {
				what = append(what, a.What)
			}
		}
		fmt.Fprintf(&text, "| %s | %s |\n", when, strings.Join(what, "; "))
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+text.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(text.String(), was); diff != "" {
		t.Errorf("docs/explanation/threats.md says something else (-reached +written); run this test with -update:\n%s", diff)
	}
}
