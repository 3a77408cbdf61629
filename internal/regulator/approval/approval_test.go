package approval_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const dangerous approval.Kind = "test.dangerous"

var operator = audit.Actor{Kind: audit.Operator}

// world is a service whose effect inserts a row, and a clock that the test moves.
type world struct {
	*testing.T
	*approval.Service
	clock time.Time
	fails error // of the effect
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: time.Now().UTC().Truncate(time.Microsecond)}
	w.Service = &approval.Service{Pool: pgtest.NewAnyTime(t), CheckStaff: registry.CheckStaff, CheckIndependent: registry.CheckIndependent, Now: func() time.Time { return w.clock }, Effects: map[approval.Kind]approval.Effect{
		dangerous: func(ctx context.Context, tx pg.Tx, a approval.Approval) error {
			_, err := tx.Exec(ctx, `INSERT INTO network (id, name) SELECT count(*) + 1, $1 || count(*) FROM network`, a.Details["name"])
			return errors.Join(err, w.fails)
		},
	}}
	return w
}

// effects returns how often the effect was applied.
func (w *world) effects() (n int) {
	w.Helper()
	if err := w.Pool.QueryRow(w.Context(), `SELECT count(*) FROM network`).Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

// person inserts an account and returns it as an actor.
func person(t *testing.T, pool *pgxpool.Pool, role string, disabled bool) audit.Actor {
	t.Helper()
	id := uuid.New()
	_, err := pool.Exec(t.Context(), `INSERT INTO account (id, kind, role, name, email, email_key, created_at, disabled_at)
		VALUES ($1, 'staff', $2, 'S', $4, $4, now(), CASE WHEN $3 THEN now() END)`, id, role, disabled, id.String())
	if err != nil {
		t.Fatal(err)
	}
	return audit.Actor{Kind: audit.Account, ID: id, From: netip.MustParseAddr("192.0.2.1")}
}

func (w *world) ask(by audit.Actor, subject uuid.UUID) (id uuid.UUID, err error) {
	w.Helper()
	err = pg.InTx(w.Context(), w.Pool, func(tx pg.Tx) error {
		id, err = approval.Create(w.Context(), tx, registry.CheckStaff, approval.Request{
			Kind: dangerous, Subject: subject, Details: map[string]string{"name": "n"}, Reason: "Because", By: by, At: w.clock,
		})
		return err
	})
	return id, err
}

func (w *world) asked(by audit.Actor, subject uuid.UUID) uuid.UUID {
	w.Helper()
	id, err := w.ask(by, subject)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// A requested change takes effect when another administrator confirms it, and
// nobody else can: not the requester, from any address; not the person it is
// about; nobody without the right.
func TestOnlyAnotherAdministratorConfirms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asker, about, other := person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false)
	elsewhere := asker
	elsewhere.From = netip.MustParseAddr("198.51.100.9")
	id := w.asked(asker, about.ID)
	for name, c := range map[string]struct {
		by   audit.Actor
		want error
	}{
		"who asked":                       {asker, approval.ErrSecondPerson},
		"who asked, with another session": {elsewhere, approval.ErrSecondPerson},
		"whom it is about":                {about, approval.ErrSecondPerson},
		"an auditor":                      {person(t, w.Pool, "auditor", false), approval.ErrNotAdministrator},
		"a reviewer":                      {person(t, w.Pool, "reviewer", false), approval.ErrNotAdministrator},
		"an administrator who has left":   {person(t, w.Pool, "administrator", true), approval.ErrNotAdministrator},
		"nobody":                          {audit.Actor{Kind: audit.Account, ID: uuid.New()}, approval.ErrNotAdministrator},
		"a client":                        {audit.Actor{Kind: audit.Client, ID: other.ID}, approval.ErrNotAdministrator},
		"the service itself":              {audit.Actor{Kind: audit.System}, approval.ErrNotAdministrator},
	} {
		if _, err := w.Confirm(t.Context(), id, c.by, uuid.Nil); !errors.Is(err, c.want) {
			t.Errorf("%s confirms: %v, want %v", name, err, c.want)
		}
		if errors.Is(c.want, approval.ErrNotAdministrator) {
			if _, err := w.ask(c.by, uuid.New()); !errors.Is(err, c.want) {
				t.Errorf("%s asks: %v, want %v", name, err, c.want)
			}
			if _, err := w.Refuse(t.Context(), id, "It is not needed.", c.by, uuid.Nil); !errors.Is(err, c.want) {
				t.Errorf("%s refuses: %v, want %v", name, err, c.want)
			}
		}
	}
	if n := w.effects(); n != 0 {
		t.Fatalf("%d effects before anybody confirmed", n)
	}
	got, err := w.Confirm(t.Context(), id, other, uuid.New())
	if err != nil || got.State != approval.Approved || !got.DecidedBy.Same(other) || !got.RequestedBy.Same(asker) || w.effects() != 1 {
		t.Errorf("%+v, %v, %d effects", got, err, w.effects())
	}
	if _, err := w.Confirm(t.Context(), id, other, uuid.Nil); !errors.Is(err, approval.ErrNotWaiting) || w.effects() != 1 {
		t.Errorf("a second time: %v, %d effects", err, w.effects())
	}
	if _, err := w.Confirm(t.Context(), uuid.New(), other, uuid.Nil); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("what was never asked: %v", err)
	}
}

// The operator at the command line counts as one person.
func TestOperatorIsOnePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff := person(t, w.Pool, "administrator", false)
	own, theirs := w.asked(operator, uuid.New()), w.asked(staff, uuid.New())
	if _, err := w.Confirm(t.Context(), own, operator, uuid.Nil); !errors.Is(err, approval.ErrSecondPerson) {
		t.Errorf("the operator alone: %v", err)
	}
	if _, err := w.Confirm(t.Context(), own, staff, uuid.Nil); err != nil {
		t.Errorf("the operator asks, staff confirm: %v", err)
	}
	if _, err := w.Confirm(t.Context(), theirs, operator, uuid.Nil); err != nil {
		t.Errorf("staff ask, the operator confirms: %v", err)
	}
}

// refuse is Refuse with a reason.
func (w *world) refuse(ctx context.Context, id uuid.UUID, by audit.Actor, request uuid.UUID) (approval.Approval, error) {
	return w.Refuse(ctx, id, "It is not needed.", by, request)
}

// Of many concurrent decisions one succeeds, and the effect is applied once or
// not at all, according to that one.
func TestRaceHasOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rounds, racers = 10, 8
	var people [racers]audit.Actor
	for i := range people {
		people[i] = person(t, w.Pool, "administrator", false)
	}
	for round := range rounds {
		id, before := w.asked(operator, uuid.New()), w.effects()
		var won [racers]string
		var all sync.WaitGroup
		start := make(chan struct{})
		for i, by := range people {
			decide, word := w.Confirm, "given"
			if i%4 == 3 {
				decide, word = w.refuse, "refused"
			}
			all.Go(func() {
				<-start
				_, err := decide(t.Context(), id, by, uuid.Nil)
				switch {
				case err == nil:
					won[i] = word
				case !errors.Is(err, approval.ErrNotWaiting):
					t.Errorf("a loser was told %v", err)
				}
			})
		}
		close(start)
		all.Wait()
		winners := strings.Join(won[:], "")
		want := before
		if winners == "given" {
			want++
		}
		if winners != "given" && winners != "refused" || w.effects() != want {
			t.Errorf("round %d: %q won, %d effects, want %d", round, winners, w.effects(), want)
		}
	}
}

// The effect, the decision and its audit entry are stored together or not at
// all.
func TestFailedEffectKeepsTheRequestWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff, id := person(t, w.Pool, "administrator", false), w.asked(operator, uuid.New())
	w.fails = fault.New(fault.IncompatibleState, "x")
	if _, err := w.Confirm(t.Context(), id, staff, uuid.Nil); !errors.Is(err, w.fails) {
		t.Fatalf("Confirm = %v, want the fault of the effect", err)
	}
	list, err := w.List(t.Context(), false, 10)
	if err != nil || len(list) != 1 || list[0].ID != id || w.effects() != 0 {
		t.Errorf("waiting are %+v, %v, %d effects", list, err, w.effects())
	}
	if entries, err := audit.List(t.Context(), w.Pool, audit.Filter{Action: string(audit.ApprovalGiven)}); err != nil || len(entries) != 0 {
		t.Errorf("entries %v, %v", entries, err)
	}
	w.fails = nil
	if _, err := w.Confirm(t.Context(), id, staff, uuid.Nil); err != nil || w.effects() != 1 {
		t.Errorf("once the effect works: %v, %d effects", err, w.effects())
	}
	delete(w.Effects, dangerous)
	if _, err := w.Confirm(t.Context(), w.asked(operator, uuid.New()), staff, uuid.Nil); err == nil {
		t.Error("a kind that nobody knows was confirmed")
	}
}

// A request waits for a week, and then the same change can be requested again.
func TestRequestsExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff, subject := person(t, w.Pool, "administrator", false), uuid.New()
	id := w.asked(operator, subject)
	if _, err := w.ask(staff, subject); !errors.Is(err, approval.ErrAlreadyRequested) {
		t.Errorf("asked twice: %v", err)
	}
	w.clock = w.clock.Add(approval.Lifetime)
	for name, decide := range map[string]func(context.Context, uuid.UUID, audit.Actor, uuid.UUID) (approval.Approval, error){"confirm": w.Confirm, "refuse": w.refuse} {
		if _, err := decide(t.Context(), id, staff, uuid.Nil); !errors.Is(err, approval.ErrNotWaiting) {
			t.Errorf("%s after a week: %v", name, err)
		}
	}
	if list, err := w.List(t.Context(), false, 10); err != nil || len(list) != 0 {
		t.Errorf("waiting are %+v, %v", list, err)
	}
	again := w.asked(operator, subject)
	w.clock = w.clock.Add(approval.Lifetime - time.Microsecond)
	if _, err := w.Confirm(t.Context(), again, staff, uuid.Nil); err != nil || w.effects() != 1 {
		t.Errorf("in the last moment: %v, %d effects", err, w.effects())
	}
	list, err := w.List(t.Context(), true, 10)
	if err != nil || len(list) != 2 || list[0].State != approval.Approved || list[1].State != approval.Expired {
		t.Errorf("all are %+v, %v", list, err)
	}
}

// A request can be refused, also by the requester, and then has no effect. Others have to
// say why.
func TestRefusedHasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asker, other := person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false)
	for _, by := range []audit.Actor{asker, other, operator} {
		id, reason := w.asked(asker, uuid.New()), ""
		if by != asker {
			for _, wrong := range []string{"", "0803 000 0001 is not in the letter", "Ask ada@bank.example"} {
				if _, err := w.Refuse(t.Context(), id, wrong, by, uuid.Nil); fault.CodeOf(err) != fault.InvalidArgument {
					t.Errorf("with the reason %q: %v", wrong, err)
				}
			}
			reason = "It is not needed."
		}
		if got, err := w.Refuse(t.Context(), id, reason, by, uuid.Nil); err != nil || got.State != approval.Refused {
			t.Errorf("%+v, %v", got, err)
		}
		if kept, err := w.Find(t.Context(), id); err != nil || kept.RejectedFor != reason {
			t.Errorf("stored as %+v, %v", kept, err)
		}
		if _, err := w.Confirm(t.Context(), id, other, uuid.Nil); !errors.Is(err, approval.ErrNotWaiting) || w.effects() != 0 {
			t.Errorf("confirmed after a refusal: %v, %d effects", err, w.effects())
		}
	}
}

// Both people must be administrators at the time of the effect.
func TestRequesterMustStillBeAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, leave := range []string{`disabled_at = now()`, `role = 'auditor'`, `role = 'reviewer'`} {
		asker, other := person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false)
		id := w.asked(asker, uuid.New())
		if _, err := w.Pool.Exec(t.Context(), `UPDATE account SET `+leave+` WHERE id = $1`, asker.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Confirm(t.Context(), id, other, uuid.Nil); !errors.Is(err, approval.ErrRequesterGone) || w.effects() != 0 {
			t.Errorf("%s: %v, %d effects", leave, err, w.effects())
		}
		if _, err := w.Refuse(t.Context(), id, "It is not needed.", other, uuid.Nil); err != nil {
			t.Errorf("%s: it could not even be refused: %v", leave, err)
		}
	}
}

// A constraint of the database enforces two people even if the code does not.
func TestDatabaseRefusesOnePersonTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	staff := person(t, w.Pool, "administrator", false)
	for _, by := range []audit.Actor{operator, staff} {
		id := w.asked(by, uuid.New())
		_, err := w.Pool.Exec(t.Context(), `UPDATE approval SET state = 'given', decided_kind = asked_kind, decided_by = asked_by, decided_at = now() WHERE id = $1`, id)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.ConstraintName != "approval_two_people" {
			t.Errorf("%s: %v", by.Kind, err)
		}
	}
}

// The audit trail names both people and the reason.
func TestBothPeopleAreInTheTrail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asker, other, request := person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false), uuid.New()
	id := w.asked(asker, uuid.New())
	if _, err := w.Confirm(t.Context(), id, other, request); err != nil {
		t.Fatal(err)
	}
	list, err := audit.List(t.Context(), w.Pool, audit.Filter{Subject: id})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	given, asked := list[0], list[1]
	if given.Action != audit.ApprovalGiven || !given.Actor.Same(other) || given.Request != request || given.After["askedBy"] != asker.ID.String() || given.After["reason"] != "Because" {
		t.Errorf("confirmed: %+v", given)
	}
	if asked.Action != audit.ApprovalAsked || asked.Actor != asker || asked.After["kind"] != string(dangerous) || asked.After["name"] != "n" {
		t.Errorf("asked: %+v", asked)
	}
}

// An invalid request is rejected before anything is stored.
func TestRequestsAreValidated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, q := range map[string]approval.Request{
		"no reason":       {Reason: " "},
		"a long reason":   {Reason: strings.Repeat("x", 501)},
		"a line break":    {Reason: "a\nb"},
		"personal data":   {Reason: "Because", Details: map[string]string{"who": "ada@regulator.example"}},
		"a secret's name": {Reason: "Because", Details: map[string]string{"password": "x"}},
	} {
		q.Kind, q.Subject, q.By, q.At = dangerous, uuid.New(), operator, w.clock
		err := pg.InTx(t.Context(), w.Pool, func(tx pg.Tx) error {
			_, err := approval.Create(t.Context(), tx, registry.CheckStaff, q)
			return err
		})
		if err == nil || strings.Contains(fmt.Sprint(err), "ada@") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := w.List(t.Context(), true, 10); err != nil || len(list) != 0 {
		t.Errorf("kept: %+v, %v", list, err)
	}
}

// An approval is found by its id, before and after it is decided.
func TestApprovalsAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.asked(operator, uuid.New())
	if a, err := w.Find(t.Context(), id); err != nil || a.ID != id || a.State != approval.Waiting || a.Details["name"] != "n" {
		t.Errorf("%+v, %v", a, err)
	}
	w.clock = w.clock.Add(approval.Lifetime)
	if a, err := w.Find(t.Context(), id); err != nil || a.State != approval.Expired {
		t.Errorf("after a week %+v, %v", a, err)
	}
	if _, err := w.Find(t.Context(), uuid.New()); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("what was never asked: %v", err)
	}
}

// A request of a kind that only a later version knows cannot be confirmed,
// stays unchanged, and can be refused.
func TestUnknownKindsAreNotConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asker, other := person(t, w.Pool, "administrator", false), person(t, w.Pool, "administrator", false)
	id := w.asked(asker, uuid.New())
	delete(w.Effects, dangerous)
	if _, err := w.Confirm(t.Context(), id, other, uuid.Nil); !errors.Is(err, approval.ErrUnknownKind) {
		t.Errorf("confirmed: %v", err)
	}
	if a, err := w.Find(t.Context(), id); err != nil || a.State != approval.Waiting || w.HasKind(dangerous) {
		t.Errorf("it is %s, %v", a.State, err)
	}
	if a, err := w.Refuse(t.Context(), id, "It is not needed.", other, uuid.Nil); err != nil || a.State != approval.Refused {
		t.Errorf("refused: %s, %v", a.State, err)
	}
}
