package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// NotifyExpiryArgs notifies organisations of live keys that expire soon.
type NotifyExpiryArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (NotifyExpiryArgs) Kind() string { return "notify_expiry" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (NotifyExpiryArgs) InsertOpts() river.InsertOpts { return once(10 * time.Minute) }

// notifyExpiry may run twice at once: each notice is given by one of them.
type notifyExpiry struct {
	river.WorkerDefaults[NotifyExpiryArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *notifyExpiry) Work(ctx context.Context, _ *river.Job[NotifyExpiryArgs]) error {
	return w.jobs.People.NotifyOfExpiry(ctx)
}
