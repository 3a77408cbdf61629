package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/mail"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/pg"
)

// SendLetterArgs asks for a letter to be written and sent. It says to whom and
// about what, and holds no address and no secret: a link is made when the letter
// is written.
type SendLetterArgs struct {
	Letter  people.LetterKind `json:"letter"`
	Account uuid.UUID         `json:"account"`
}

// Kind implements river.JobArgs. It is stored; never change it.
func (SendLetterArgs) Kind() string { return "send_letter" }

// noMailWait is how long a letter waits for somebody to name a mail server.
const noMailWait = 10 * time.Minute

type sendLetter struct {
	river.WorkerDefaults[SendLetterArgs]

	jobs *Jobs
}

// Work implements river.Worker. A letter that the server does not take now is
// tried again, later each time, until nobody expects it any more.
func (w *sendLetter) Work(ctx context.Context, job *river.Job[SendLetterArgs]) error {
	err := w.jobs.People.Deliver(ctx, people.Letter{Kind: job.Args.Letter, Account: job.Args.Account}, job.CreatedAt)
	switch {
	case errors.Is(err, people.ErrNoMail):
		w.jobs.noMail.Do(func() {
			w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "letters are not sent, because LINEPROOF_SMTP_URL is not set; they wait")
		})
		return river.JobSnooze(noMailWait)
	case errors.Is(err, mail.ErrRefused):
		w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "the mail server refuses a letter for good",
			slog.String("letter", string(job.Args.Letter)), slog.String("account", job.Args.Account.String()))
		return river.JobCancel(err)
	}
	return err
}

// Poster returns a function that queues a letter in the transaction of its
// cause. It needs no client that runs: the command line queues, too.
func Poster(pool *pgxpool.Pool) (func(context.Context, pg.Tx, people.Letter) error, error) {
	c, err := queuer(pool)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pg.Tx, l people.Letter) error {
		if _, err := c.InsertTx(ctx, tx, SendLetterArgs{Letter: l.Kind, Account: l.Account}, nil); err != nil {
			return fmt.Errorf("jobs: queue a letter: %w", err)
		}
		return nil
	}, nil
}
