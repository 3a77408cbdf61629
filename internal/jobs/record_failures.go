package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// failureInterval is how often failed logins are written to the audit trail: at most
// six entries for an account in an hour.
const failureInterval = 10 * time.Minute

// RecordFailuresArgs writes failed logins to the audit trail.
type RecordFailuresArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (RecordFailuresArgs) Kind() string { return "record_failures" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (RecordFailuresArgs) InsertOpts() river.InsertOpts { return once(failureInterval) }

// recordFailures may run twice at once: each failure is taken by one of them.
type recordFailures struct {
	river.WorkerDefaults[RecordFailuresArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *recordFailures) Work(ctx context.Context, _ *river.Job[RecordFailuresArgs]) error {
	return w.jobs.People.RecordFailures(ctx)
}
