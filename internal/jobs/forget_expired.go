package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/filerows"
	"github.com/lineproof/lineproof/internal/impact"
	"github.com/lineproof/lineproof/internal/message"
	"github.com/lineproof/lineproof/internal/outbox"
	"github.com/lineproof/lineproof/internal/whoasked"
)

// ForgetExpiredArgs deletes expired credentials, idempotency responses, login
// records, searches of who asked about a number, messages, values of rejected
// rows, and changes of lines that were passed on.
type ForgetExpiredArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (ForgetExpiredArgs) Kind() string { return "forget_expired" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ForgetExpiredArgs) InsertOpts() river.InsertOpts { return once(10 * time.Minute) }

type forgetExpired struct {
	river.WorkerDefaults[ForgetExpiredArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *forgetExpired) Work(ctx context.Context, _ *river.Job[ForgetExpiredArgs]) error {
	credentials, err := w.jobs.Access.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	answers, err := w.jobs.Answers.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	logins, err := w.jobs.People.DeleteExpired(ctx)
	if err != nil {
		return err
	}
	searches, err := whoasked.DeleteExpired(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	changes, err := outbox.DeleteOld(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	notices, err := impact.DeleteOld(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	messages, err := message.DeleteOld(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	values, err := filerows.DeleteOld(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	if credentials+answers+logins+searches+changes+notices+messages+values > 0 {
		w.jobs.Log.LogAttrs(ctx, slog.LevelInfo, "deleted expired rows",
			slog.Int64("credentials", credentials), slog.Int64("answers", answers),
			slog.Int64("logins", logins), slog.Int64("searches", searches), slog.Int64("changes", changes), slog.Int64("notices", notices), slog.Int64("messages", messages), slog.Int64("file_values", values))
	}
	return nil
}
