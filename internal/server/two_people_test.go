package server_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/line"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/order"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

var update = flag.Bool("update", false, "write the reference")

const reason = "Case 12 of 2026"

// twoPeople is the service with two founders, as its commands and pages use it.
type twoPeople struct {
	*testing.T
	pool      *pgxpool.Pool
	people    *people.People
	orders    *order.Service
	approvals *approval.Service

	ada, bola audit.Actor // the founders
	member    uuid.UUID   // a reviewer whom nobody of the others created
	entity    uuid.UUID   // an organisation that verifies numbers
	subject   uuid.UUID   // what the case has prepared
	since     time.Time   // when the service was set up
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

// newTwoPeople lets the operator prepare the case alone, and then enrols the founders.
func newTwoPeople(t *testing.T, prepare func(*twoPeople)) *twoPeople {
	t.Helper()
	w := newService(t)
	if prepare != nil {
		prepare(w)
	}
	founder := func(name string) registry.StaffForm {
		return registry.StaffForm{Name: name, Email: strings.ToLower(name) + "@regulator.example", Password: "quiet-river-9"}
	}
	ids := value(w.people.Registry.Found(t.Context(), []registry.StaffForm{founder("Ada"), founder("Bola")}, access.Operator, uuid.Nil))(t)
	w.ada, w.bola = audit.Actor{Kind: audit.Account, ID: ids[0]}, audit.Actor{Kind: audit.Account, ID: ids[1]}
	w.member = w.account("reviewer")
	return w
}

// newService returns the service before anybody works for the regulator.
func newService(t *testing.T) *twoPeople {
	t.Helper()
	ctx, pool := t.Context(), pgtest.NewAnyTime(t) // break-glass is tried a day ahead
	peppers := value(secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"}))(t)
	region := value(phone.NewRegion("NG"))(t)
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 16)
	credentials := &access.Service{Pool: pool, Peppers: peppers, TokenLifetime: time.Hour, Limits: access.Limits{DayNumbers: 1000}, Now: time.Now}
	reg := &registry.Registry{Pool: pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now}
	lines := &supply.Service{Pool: pool, Region: region, Lines: &linestore.Resolver{}, Now: time.Now}
	w := &twoPeople{T: t, pool: pool, orders: &order.Service{Supply: lines, CheckClient: access.CheckOrders}, people: value(server.OpenPeople(config.Config{}, pool, peppers, credentials, reg, passwords))(t)}
	w.approvals = &approval.Service{
		Pool: pool, CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Effects: server.Effects(w.people, lines), Now: time.Now, NotifyStaff: w.people.NotifyOfBreakGlass,
	}
	rows, source, _ := numbering.Shipped("NG")
	value((&numbering.Service{Pool: pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}))(t)
	w.entity = value(reg.CreateRelyingParty(ctx, "Harbour Bank", "RC 7", access.Operator, uuid.Nil))(t).ID
	w.since = time.Now()
	return w
}

func (w *twoPeople) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.pool.Exec(w.Context(), sql, args...); err != nil {
		w.Fatal(err)
	}
}

// holds reports whether a condition holds in the database.
func (w *twoPeople) holds(condition string, args ...any) (yes bool) {
	w.Helper()
	if err := w.pool.QueryRow(w.Context(), `SELECT `+condition, args...).Scan(&yes); err != nil {
		w.Fatal(err)
	}
	return yes
}

// account inserts a member of staff whom nobody created, who has a second factor.
func (w *twoPeople) account(role string) uuid.UUID {
	w.Helper()
	id := uuid.New()
	w.exec(`INSERT INTO account (id, kind, role, name, email, email_key, password_hash, created_at) VALUES ($1, 'staff', $2, 'S', $3, $3, 'none', now())`,
		id, role, id.String()+"@regulator.example")
	w.exec(`INSERT INTO second_factor (account_id, sealed, confirmed_at, created_at) VALUES ($1, 'x', now(), now())`, id)
	return id
}

// puppet returns an administrator whom somebody alone created.
func (w *twoPeople) puppet(of audit.Actor) audit.Actor {
	w.Helper()
	id := w.account("administrator")
	err := pg.InTx(w.Context(), w.pool, func(tx pg.Tx) error {
		return registry.RecordAccess(w.Context(), tx, id, registry.AccessCreated, of, time.Now())
	})
	if err != nil {
		w.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: id}
}

func (w *twoPeople) confirm(a approval.Action, id uuid.UUID, by audit.Actor) error {
	if a.Order {
		_, err := w.orders.Confirm(w.Context(), supply.Supplier{Authorities: []line.Authority{line.Regulator}, Actor: by}, id)
		return err
	}
	_, err := w.approvals.Confirm(w.Context(), id, by, uuid.Nil)
	return err
}

func (w *twoPeople) refuse(a approval.Action, id uuid.UUID, by audit.Actor) {
	w.Helper()
	var err error
	if a.Order {
		_, err = w.orders.Refuse(w.Context(), by, id, "It is not needed.", uuid.Nil)
	} else {
		_, err = w.approvals.Refuse(w.Context(), id, "It is not needed.", by, uuid.Nil)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// pendingOf returns what a request waits for.
func pendingOf(pending uuid.UUID, err error) (uuid.UUID, error) {
	if w, ok := errors.AsType[*approval.WaitsError](err); ok {
		return w.ID, nil
	}
	return pending, err
}

// The cells of the matrix.
const (
	waits   = "waits"
	refused = "refused"
	effect  = "takes effect"
	atOnce  = "not tried: it acts at once"
)

// matrixRow is the result of one action, by who tried.
type matrixRow struct{ alone, again, puppet, operator, two string }

// walk tries an action in every way. It reports each way in which it takes effect before
// two independent people agree.
func (w *twoPeople) walk(a approval.Action, c actionCase) (row matrixRow) {
	w.Helper()
	stays := func(who string, err error) string {
		w.Helper()
		if c.done(w) {
			w.Errorf("%s: %s made it take effect", a.Kind, who)
			return effect
		}
		if err == nil {
			return waits
		}
		if code := fault.CodeOf(err); code != fault.PermissionDenied {
			w.Errorf("%s: %s: %v", a.Kind, who, err)
		}
		return refused
	}
	request := func(by audit.Actor) uuid.UUID {
		w.Helper()
		id, err := pendingOf(c.request(w, by))
		if err != nil || id == uuid.Nil {
			w.Fatalf("%s by %s: %v, %v", a.Kind, by.Kind, id, err)
		}
		return id
	}
	id := request(w.ada)
	row.alone = stays("one person", nil)
	row.again = stays("the same person, who confirms it,", w.confirm(a, id, w.ada))
	row.puppet = stays("an account that they created", w.confirm(a, id, w.puppet(w.ada)))
	if a.Order {
		row.operator = stays("the operator, who confirms it,", w.confirm(a, id, access.Operator))
	} else {
		w.refuse(a, id, w.bola)
		id = request(access.Operator)
		row.operator = stays("the operator", nil)
		stays("the operator, who confirms it,", w.confirm(a, id, access.Operator))
		stays("an account that the operator created", w.confirm(a, id, w.puppet(access.Operator)))
	}
	if err := w.confirm(a, id, w.bola); err != nil || !c.done(w) {
		w.Errorf("%s: two people: %v", a.Kind, err)
		return row
	}
	row.two = effect
	return row
}

// No action of the table that takes two people takes effect by one: not by one person
// who requests and confirms it, not with an account that they created, not by the
// command of the operator. The reference shows the result of each.
func TestNoActionOfTwoPeopleTakesEffectByOne(t *testing.T) { //nolint:tparallel // the group waits for its parallel subtests
	t.Parallel()
	rows := make([]matrixRow, len(approval.Actions))
	t.Run("actions", func(t *testing.T) {
		for i, a := range approval.Actions {
			if a.Rule != approval.TwoPeople {
				rows[i].alone = atOnce
				continue
			}
			t.Run(string(a.Kind), func(t *testing.T) {
				t.Parallel()
				c, ok := actionCases[a.Kind]
				if !ok {
					t.Fatal("the action is in the table, and no test tries it")
				}
				rows[i] = newTwoPeople(t, c.prepare).walk(a, c)
			})
		}
	})
	if t.Failed() {
		return
	}
	const path = "../../docs/reference/two-people-tried.md"
	text := matrix(rows)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(committed)); diff != "" {
		t.Errorf("the reference is not what happened (-happened +written); run this test with -update:\n%s", diff)
	}
}

const matrixHead = `# Two people, tried

Generated by ^go test ./internal/server -run TestNoActionOfTwoPeopleTakesEffectByOne -update^; do not edit.

Every action of [the table](two-people.md) on a service with two founders, and its result when these try it:

- **one person**: a founder requests it;
- **the same person again**: they confirm their own request;
- **their puppet**: an administrator whom they created confirms it;
- **the operator's command**: the operator requests it, and confirms it, also with an administrator whom the operator created. Of an order: the operator confirms it;
- **two people**: another founder confirms it.

| action | one person | the same person again | their puppet | the operator's command | two people |
| --- | --- | --- | --- | --- | --- |
`

func matrix(rows []matrixRow) string {
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(matrixHead, "^", "`"))
	for i, a := range approval.Actions {
		r := rows[i]
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", a.What, r.alone, r.again, r.puppet, r.operator, r.two)
	}
	return text.String()
}
