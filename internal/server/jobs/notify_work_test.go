package jobs_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/message"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/approval"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// An approval that waits is told to those who may confirm it, once, and not to who
// requested it; one that was rejected is told to who requested it, with the reason.
func TestApprovalsAreToldOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pool, requester, second := newDesk(t)
	anybody := func(context.Context, pg.DB, audit.Actor, ...string) error { return nil }
	var ids [2]uuid.UUID
	for i := range ids {
		err := pg.InTx(ctx, pool, func(tx pg.Tx) (err error) {
			ids[i], err = approval.Create(ctx, tx, anybody, approval.Request{
				Kind: "entity.restore", Subject: uuid.New(), Reason: "Renewed", By: audit.Actor{Kind: audit.Account, ID: requester}, At: time.Now().UTC().Truncate(time.Microsecond),
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	decide := &approval.Service{Pool: pool, Now: time.Now, CheckStaff: anybody}
	if _, err := decide.Refuse(ctx, ids[1], "The licence is of last year.", audit.Actor{Kind: audit.Account, ID: second}, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	told := make(chan people.Email, 10)
	queue := func(_ context.Context, _ pg.Tx, e people.Email) error {
		told <- e
		return nil
	}
	for range 2 { // two nodes that start
		startNotifying(t, pool, queue)
	}
	want := map[uuid.UUID]people.EmailKind{second: people.ApprovalWaits, requester: people.RequestRejected}
	for range len(want) {
		select {
		case e := <-told:
			if e.Kind != want[e.Account] {
				t.Errorf("told is %+v", e)
			}
			delete(want, e.Account)
		case <-time.After(30 * time.Second):
			t.Fatalf("nobody is told: %v", want)
		}
	}
	waitForNotifyWork(t, pool)
	if len(told) > 0 {
		t.Errorf("told again is %+v", <-told)
	}
	if list, err := message.List(ctx, pool, requester, uuid.Nil, 10); err != nil || len(list) != 1 || list[0].Detail != "The licence is of last year." {
		t.Errorf("who made the request reads %+v, %v", list, err)
	}
}

// newDesk returns a database with a numbering plan and two administrators.
func newDesk(t *testing.T) (pool *pgxpool.Pool, requester, second uuid.UUID) {
	t.Helper()
	pool = pgtest.New(t)
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Service{Pool: pool, Now: time.Now}).Set(t.Context(), rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	requester, second = uuid.New(), uuid.New()
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	for id, email := range map[uuid.UUID]string{requester: "ada@regulator.example", second: "bola@regulator.example"} {
		_, err := owner.Exec(t.Context(), `INSERT INTO account (id, kind, name, email, email_key, role, password_hash, created_at) VALUES ($1, 'staff', 'Ada', $2, $2, 'administrator', 'x', now())`, id, email)
		if err != nil {
			t.Fatal(err)
		}
	}
	return pool, requester, second
}

// startNotifying starts a node that looks twice for what people are to be notified of.
func startNotifying(t *testing.T, pool *pgxpool.Pool, queue func(context.Context, pg.Tx, people.Email) error) {
	t.Helper()
	c, err := jobs.New(&jobs.Jobs{
		Pool: pool, Access: &access.Service{Pool: pool, Now: time.Now}, Answers: &idempotency.Store{Pool: pool, Now: time.Now},
		People: &people.People{Pool: pool, Now: time.Now, QueueEmail: queue}, Ahead: func(int) {}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Documents: emptyDocuments(t, pool), Removed: func(string, int) {}, Tally: &tally.Tally{Pool: pool, Now: time.Now}, Counted: func(time.Time) {}, Supply: emptySupply(pool),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Insert(t.Context(), jobs.NotifyWork{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = jobs.Stop(context.WithoutCancel(t.Context()), c) })
}

// waitForNotifyWork waits until every job that was inserted has run.
func waitForNotifyWork(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(20 * time.Millisecond) {
		var open, completed int
		err := owner.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE state <> 'completed'), count(*) FILTER (WHERE state = 'completed')
			FROM river_job WHERE kind = 'notify_work'`).Scan(&open, &completed)
		if err != nil {
			t.Fatal(err)
		}
		if open == 0 && completed > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d jobs have not run", open)
		}
	}
}

// Who requested an order hears that it was rejected, although many orders were given since;
// of a bar, until when it acts.
func TestRejectedOrdersAreTold(t *testing.T) {
	t.Parallel()
	pool, requester, second := newDesk(t)
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	give := func(action, state string, decider *uuid.UUID, lapses *time.Time, rejectedFor string) {
		t.Helper()
		_, err := owner.Exec(t.Context(), `INSERT INTO line_order (id, number, action, state, reason, asked_kind, asked_by, asked_at, second_kind, second_by, second_at, effective_at,
				bar_reason, bar_scope, given_at, event, lapses_at, rejected_for)
			VALUES ($1, 2348031234567, $2, $3, 'case 12', 'account', $4, now(), CASE WHEN $5::uuid IS NOT NULL THEN 'account' END, $5, CASE WHEN $5::uuid IS NOT NULL THEN now() END, now(), '', '', '', '', $6, $7)`,
			uuid.Must(uuid.NewV7()), action, state, requester, decider, lapses, rejectedFor)
		if err != nil {
			t.Fatal(err)
		}
	}
	lapses := time.Now().Add(48 * time.Hour).UTC()
	give("BAR", "WITHDRAWN", &second, &lapses, "The letter names another line.")
	give("BLACKLIST", "WITHDRAWN", &second, nil, "There is no case.")
	give("BLACKLIST", "WITHDRAWN", &requester, nil, "") // which the requester withdrew
	for range 600 {
		give("UNBAR", "DONE", nil, nil, "")
	}
	told := make(chan people.Email, 10)
	startNotifying(t, pool, func(_ context.Context, _ pg.Tx, e people.Email) error {
		told <- e
		return nil
	})
	for range 2 {
		select {
		case e := <-told:
			if e.Kind != people.RequestRejected || e.Account != requester {
				t.Errorf("told is %+v", e)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("nobody is told")
		}
	}
	waitForNotifyWork(t, pool) // the e-mail is queued before the message is committed
	list, err := message.List(t.Context(), pool, requester, uuid.Nil, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("who requested them reads %+v, %v", list, err)
	}
	for _, m := range list {
		if acts := strings.Contains(m.About, "acts until "+lapses.Format("2006-01-02 15:04")+" UTC"); acts != (m.Detail == "The letter names another line.") {
			t.Errorf("who requested it reads %+v", m)
		}
	}
}
