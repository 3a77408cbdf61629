package jobs_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/jobs"
	"github.com/lineproof/lineproof/internal/mail"
	"github.com/lineproof/lineproof/internal/mailtest"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/pgtest"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/registry"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/tally"
)

// post is an office: a database, a mail server, and jobs that carry letters from
// the one to the other.
type post struct {
	*people.People

	pool *pgxpool.Pool
	mail *mailtest.Server
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newPost(t *testing.T) *post {
	t.Helper()
	o := &post{pool: pgtest.New(t), mail: mailtest.Start(t), log: &lockedBuffer{}}
	peppers, err := secret.NewPeppers([]secret.Text{"a pepper for tests, thirty-two bytes long"})
	if err != nil {
		t.Fatal(err)
	}
	region, err := phone.NewRegion("NG")
	if err != nil {
		t.Fatal(err)
	}
	server, err := mail.Open(secret.Text(o.mail.URL()), "no-reply@regulator.example")
	if err != nil {
		t.Fatal(err)
	}
	queue, err := jobs.Poster(o.pool)
	if err != nil {
		t.Fatal(err)
	}
	passwords := secret.NewPasswords(secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 2)
	o.People = &people.People{
		Pool: o.pool, Keeper: &access.Keeper{Pool: o.pool, Peppers: peppers, Now: time.Now}, Peppers: peppers, Passwords: passwords,
		Registry: &registry.Registry{Pool: o.pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now},
		Issuer:   "Lineproof", PublicURL: "https://lineproof.example", Mail: server, Post: queue, Now: time.Now,
	}
	return o
}

// start runs the jobs until the function that it returns is called.
func (o *post) start(t *testing.T) (stop func()) {
	t.Helper()
	c, err := jobs.New(&jobs.Jobs{
		Pool: o.pool, Keeper: o.Keeper, Answers: &idempotency.Store{Pool: o.pool, Now: time.Now}, People: o.People,
		DaysAhead: 7, Ahead: func(int) {}, Now: time.Now, Log: slog.New(slog.NewTextHandler(o.log, nil)),
		Documents: emptyDocuments(t, o.pool), Removed: func(string, int) {}, Tally: &tally.Tally{Pool: o.pool, Now: time.Now}, Counted: func(time.Time) {},
		Supply: emptySupply(o.pool),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := jobs.Stop(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
}

// invite queues a letter to a new member of staff.
func (o *post) invite(t *testing.T, email string) uuid.UUID {
	t.Helper()
	i, err := o.Welcome(t.Context(), people.Guest{Email: email, Kind: registry.StaffAccount, Role: "auditor"}, audit.Actor{Kind: audit.Operator}, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (o *post) state(t *testing.T, account uuid.UUID) (state, row string) {
	t.Helper()
	err := o.pool.QueryRow(t.Context(), `SELECT state::text, j::text FROM river_job j WHERE kind = 'send_letter' AND args->>'account' = $1`, account.String()).Scan(&state, &row)
	if err != nil {
		t.Fatal(err)
	}
	return state, row
}

// A letter is queued with its cause or not at all, survives until a node runs
// the jobs, and arrives. While it waits the queue holds no address and no link.
func TestLetterIsQueuedWithItsCauseAndArrives(t *testing.T) {
	t.Parallel()
	o := newPost(t)
	gone := errors.New("changed my mind")
	err := pg.InTx(t.Context(), o.pool, func(tx pg.Tx) error {
		return errors.Join(o.Post(t.Context(), tx, people.Letter{Kind: people.Reset, Account: uuid.New()}), gone)
	})
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	id := o.invite(t, "ada@regulator.example")
	var waiting int
	if err := o.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'send_letter'`).Scan(&waiting); err != nil || waiting != 1 {
		t.Errorf("%d letters wait, %v; want the one whose cause was committed", waiting, err)
	}
	if _, row := o.state(t, id); strings.Contains(row, "regulator.example") || strings.Contains(row, "lp_lnk_") {
		t.Errorf("the queue knows too much: %s", row)
	}
	defer o.start(t)()
	l := o.mail.Wait(t, "ada@regulator.example", "invited")
	if !strings.Contains(l.Text, "https://lineproof.example/portal/invitation#lp_lnk_") {
		t.Errorf("no link in:\n%s", l.Text)
	}
	eventually(t, "the job to end", func() bool { state, _ := o.state(t, id); return state == "completed" })
	if _, row := o.state(t, id); strings.Contains(row, "regulator.example") || strings.Contains(row, "lp_lnk_") {
		t.Errorf("the queue knows too much afterwards: %s", row)
	}
}

// A server that does not take a letter now gets it later; one that never will is
// not bothered again. Neither the log nor the queue learns the address.
func TestLetterIsTriedAgainUnlessItIsRefusedForGood(t *testing.T) {
	t.Parallel()
	o := newPost(t)
	o.mail.Refuse(450)
	defer o.start(t)()
	later := o.invite(t, "later@regulator.example")
	eventually(t, "a try that fails", func() bool { state, _ := o.state(t, later); return state == "retryable" || state == "scheduled" })
	o.mail.Refuse(0)
	o.mail.Wait(t, "later@regulator.example", "invited")

	o.mail.Refuse(550)
	never := o.invite(t, "never@regulator.example")
	eventually(t, "the job to be given up", func() bool { state, _ := o.state(t, never); return state == "cancelled" })
	for _, id := range []uuid.UUID{later, never} {
		if _, row := o.state(t, id); strings.Contains(row, "regulator.example") {
			t.Errorf("the queue knows the address: %s", row)
		}
	}
	if log := o.log.String(); strings.Contains(log, "regulator.example") || !strings.Contains(log, "refuses a letter for good") {
		t.Errorf("the log:\n%s", log)
	}
}

// Without a server letters wait, and that is said once.
func TestLettersWaitForAServer(t *testing.T) {
	t.Parallel()
	o := newPost(t)
	o.Mail = nil
	defer o.start(t)()
	for _, email := range []string{"a@regulator.example", "b@regulator.example", "c@regulator.example"} {
		id := o.invite(t, email)
		eventually(t, "the letter to wait", func() bool { state, _ := o.state(t, id); return state == "scheduled" })
	}
	if n := strings.Count(o.log.String(), "LINEPROOF_SMTP_URL is not set"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}
