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
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/server/jobs"
	"github.com/lineproof/lineproof/internal/testing/mailtest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// emailTest has a database, a mail server, and jobs that send the queued e-mails.
type emailTest struct {
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

func newEmailTest(t *testing.T) *emailTest {
	t.Helper()
	o := &emailTest{pool: pgtest.New(t), mail: mailtest.Start(t), log: &lockedBuffer{}}
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
	queue, err := jobs.EmailQueue(o.pool)
	if err != nil {
		t.Fatal(err)
	}
	passwords := secret.NewPasswords(peppers, secret.Cost{MemoryKiB: 64, Time: 1, Threads: 1}, 2, 2)
	o.People = &people.People{
		Pool: o.pool, Access: &access.Service{Pool: o.pool, Peppers: peppers, Now: time.Now}, Peppers: peppers, Passwords: passwords,
		Registry: &registry.Registry{Pool: o.pool, Region: region, Passwords: passwords, PasswordMin: 8, Now: time.Now},
		Issuer:   "Lineproof", PublicURL: "https://lineproof.example", Mail: server, QueueEmail: queue, Now: time.Now,
	}
	return o
}

// start runs the jobs until the function that it returns is called.
func (o *emailTest) start(t *testing.T) (stop func()) {
	t.Helper()
	c, err := jobs.New(&jobs.Jobs{
		Pool: o.pool, Access: o.Access, Answers: &idempotency.Store{Pool: o.pool, Now: time.Now}, People: o.People,
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

// invite queues an e-mail to a new member of staff.
func (o *emailTest) invite(t *testing.T, email string) uuid.UUID {
	t.Helper()
	i, err := o.CreateInvited(t.Context(), people.InviteForm{Email: email, Kind: registry.StaffAccount, Role: "auditor"}, audit.Actor{Kind: audit.Operator}, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("timed out waiting for: " + what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (o *emailTest) state(t *testing.T, account uuid.UUID) (state, row string) {
	t.Helper()
	err := o.pool.QueryRow(t.Context(), `SELECT state::text, j::text FROM river_job j WHERE kind = 'send_letter' AND args->>'account' = $1`, account.String()).Scan(&state, &row)
	if err != nil {
		t.Fatal(err)
	}
	return state, row
}

// An e-mail is queued in the transaction of its cause or not at all, waits until a
// node runs the jobs, and arrives. The queue has no address and no link.
func TestEmailIsQueuedWithItsCauseAndArrives(t *testing.T) {
	t.Parallel()
	o := newEmailTest(t)
	rolledBack := errors.New("rolled back")
	err := pg.InTx(t.Context(), o.pool, func(tx pg.Tx) error {
		return errors.Join(o.QueueEmail(t.Context(), tx, people.Email{Kind: people.Reset, Account: uuid.New()}), rolledBack)
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	id := o.invite(t, "ada@regulator.example")
	var waiting int
	if err := o.pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'send_letter'`).Scan(&waiting); err != nil || waiting != 1 {
		t.Errorf("%d e-mails wait, %v; want the one whose cause was committed", waiting, err)
	}
	if _, row := o.state(t, id); strings.Contains(row, "regulator.example") || strings.Contains(row, "lp_lnk_") {
		t.Errorf("the queue has an address or a link: %s", row)
	}
	defer o.start(t)()
	l := o.mail.Wait(t, "ada@regulator.example", "invited")
	if !strings.Contains(l.Text, "https://lineproof.example/portal/invitation#lp_lnk_") {
		t.Errorf("no link in:\n%s", l.Text)
	}
	eventually(t, "the job to end", func() bool { state, _ := o.state(t, id); return state == "completed" })
	if _, row := o.state(t, id); strings.Contains(row, "regulator.example") || strings.Contains(row, "lp_lnk_") {
		t.Errorf("the queue has an address or a link afterwards: %s", row)
	}
}

// An e-mail that the server does not accept now is retried; after a permanent
// rejection it is not. Neither the log nor the queue contains the address.
func TestEmailIsRetriedUnlessPermanentlyRejected(t *testing.T) {
	t.Parallel()
	o := newEmailTest(t)
	o.mail.Refuse(450)
	defer o.start(t)()
	later := o.invite(t, "later@regulator.example")
	eventually(t, "a failed attempt", func() bool { state, _ := o.state(t, later); return state == "retryable" || state == "scheduled" })
	o.mail.Refuse(0)
	o.mail.Wait(t, "later@regulator.example", "invited")

	o.mail.Refuse(550)
	never := o.invite(t, "never@regulator.example")
	eventually(t, "the job to be cancelled", func() bool { state, _ := o.state(t, never); return state == "cancelled" })
	for _, id := range []uuid.UUID{later, never} {
		if _, row := o.state(t, id); strings.Contains(row, "regulator.example") {
			t.Errorf("the queue has the address: %s", row)
		}
	}
	if log := o.log.String(); strings.Contains(log, "regulator.example") || !strings.Contains(log, "permanently rejected an e-mail") {
		t.Errorf("the log:\n%s", log)
	}
}

// Without a mail server e-mails wait, and that is logged once.
func TestEmailsWaitForAServer(t *testing.T) {
	t.Parallel()
	o := newEmailTest(t)
	o.Mail = nil
	defer o.start(t)()
	for _, email := range []string{"a@regulator.example", "b@regulator.example", "c@regulator.example"} {
		id := o.invite(t, email)
		eventually(t, "the e-mail to wait", func() bool { state, _ := o.state(t, id); return state == "scheduled" })
	}
	if n := strings.Count(o.log.String(), "LINEPROOF_SMTP_URL is not set"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}
