package jobs_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/approval"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/message"
	"github.com/lineproof/lineproof/internal/numbering"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/tally"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// An approval that waits is told to those who may confirm it, once, and not to who
// requested it; one that was rejected is told to who requested it, with the reason.
func TestApprovalsAreToldOnce(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), pgtest.New(t)
	rows, source, _ := numbering.Shipped("NG")
	if _, err := (&numbering.Service{Pool: pool, Now: time.Now}).Set(ctx, rows, source, time.Time{}); err != nil {
		t.Fatal(err)
	}
	requester, second := uuid.New(), uuid.New()
	owner := pgtest.Open(t, pool.Config().ConnString(), "")
	defer owner.Close()
	for id, email := range map[uuid.UUID]string{requester: "ada@regulator.example", second: "bola@regulator.example"} {
		_, err := owner.Exec(ctx, `INSERT INTO account (id, kind, name, email, email_key, role, password_hash, created_at) VALUES ($1, 'staff', 'Ada', $2, $2, 'administrator', 'x', now())`, id, email)
		if err != nil {
			t.Fatal(err)
		}
	}
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
		c, err := jobs.New(&jobs.Jobs{
			Pool: pool, Access: &access.Service{Pool: pool, Now: time.Now}, Answers: &idempotency.Store{Pool: pool, Now: time.Now},
			People: &people.People{Pool: pool, Now: time.Now, QueueEmail: queue}, Ahead: func(int) {}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Documents: emptyDocuments(t, pool), Removed: func(string, int) {}, Tally: &tally.Tally{Pool: pool, Now: time.Now}, Counted: func(time.Time) {}, Supply: emptySupply(pool),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := c.Insert(ctx, jobs.NotifyWorkArgs{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = jobs.Stop(context.WithoutCancel(ctx), c) }()
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
	select {
	case e := <-told:
		t.Errorf("told again is %+v", e)
	case <-time.After(3 * time.Second):
	}
	if list, err := message.List(ctx, pool, requester, uuid.Nil, 10); err != nil || len(list) != 1 || list[0].Detail != "The licence is of last year." {
		t.Errorf("who made the request reads %+v, %v", list, err)
	}
}
