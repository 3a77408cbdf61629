package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
)

// ForgetExpiredArgs asks for credentials and kept answers to be dropped whose
// time is over.
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
	credentials, err := w.jobs.Keeper.Forget(ctx)
	if err != nil {
		return err
	}
	answers, err := w.jobs.Answers.Forget(ctx)
	if err != nil {
		return err
	}
	traces, err := w.jobs.People.Forget(ctx)
	if err != nil {
		return err
	}
	if credentials+answers+traces > 0 {
		w.jobs.Log.LogAttrs(ctx, slog.LevelInfo, "forgot what had expired",
			slog.Int64("credentials", credentials), slog.Int64("answers", answers),
			slog.Int64("logins", traces))
	}
	return nil
}
