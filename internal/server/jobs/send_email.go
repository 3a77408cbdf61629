package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/platform/mail"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// SendEmailArgs sends an e-mail. It has the account and the kind of e-mail, but no
// address and no secret: a link is created when the e-mail is sent.
type SendEmailArgs struct {
	Email   people.EmailKind `json:"letter"` // the name is stored; never change it
	Account uuid.UUID        `json:"account"`
	Message uuid.UUID        `json:"message,omitzero"`
}

// Kind implements river.JobArgs. It is stored; never change it.
func (SendEmailArgs) Kind() string { return "send_letter" }

// noMailWait is the time between two attempts while no mail server is configured.
const noMailWait = 10 * time.Minute

type sendEmail struct {
	river.WorkerDefaults[SendEmailArgs]

	jobs *Jobs
}

// Work implements river.Worker. An e-mail that the server does not accept now is
// retried at growing intervals, until it has expired.
func (w *sendEmail) Work(ctx context.Context, job *river.Job[SendEmailArgs]) error {
	err := w.jobs.People.Deliver(ctx, people.Email{Kind: job.Args.Email, Account: job.Args.Account, Message: job.Args.Message}, job.CreatedAt)
	switch {
	case errors.Is(err, people.ErrNoMail):
		w.jobs.noMail.Do(func() {
			w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "e-mails wait and are not sent, because LINEPROOF_SMTP_URL is not set")
		})
		return river.JobSnooze(noMailWait)
	case errors.Is(err, mail.ErrRefused):
		w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "the mail server permanently rejected an e-mail",
			slog.String("kind", string(job.Args.Email)), slog.String("account", job.Args.Account.String()))
		return river.JobCancel(err)
	}
	return err
}

// EmailQueue returns a function that queues an e-mail in the transaction of the
// change that it reports. It needs no running client, so that the command line can
// use it too.
func EmailQueue(pool *pgxpool.Pool) (func(context.Context, pg.Tx, people.Email) error, error) {
	c, err := insertOnly(pool)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pg.Tx, m people.Email) error {
		_, err := c.InsertTx(ctx, tx, SendEmailArgs{Email: m.Kind, Account: m.Account, Message: m.Message}, nil)
		return fault.Wrap(err, "jobs: queue an e-mail")
	}, nil
}
