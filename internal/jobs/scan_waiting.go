package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// requeueAfter is how long a document waits before the job checks that its scan is
// queued, and the interval of that job.
const requeueAfter = 5 * time.Minute

// ScanWaitingArgs queues scans for waiting documents that have no scan job, because
// their job was discarded.
type ScanWaitingArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (ScanWaitingArgs) Kind() string { return "scan_waiting" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ScanWaitingArgs) InsertOpts() river.InsertOpts {
	opts := once(time.Minute)
	opts.Queue = documentQueue
	return opts
}

type scanWaiting struct {
	river.WorkerDefaults[ScanWaitingArgs]

	jobs *Jobs
}

// Work implements river.Worker. For a document whose scan is already queued this
// does nothing: scan jobs are unique.
func (w *scanWaiting) Work(ctx context.Context, _ *river.Job[ScanWaitingArgs]) error {
	ids, _, _, err := w.jobs.Documents.Waiting(ctx, requeueAfter)
	if err != nil {
		return err
	}
	c, err := river.ClientFromContextSafely[pgx.Tx](ctx)
	if err != nil {
		return fmt.Errorf("jobs: queue scans: %w", err)
	}
	for _, id := range ids {
		if _, err := c.Insert(ctx, ScanDocumentArgs{Document: id}, nil); err != nil {
			return fmt.Errorf("jobs: queue a scan: %w", err)
		}
	}
	return nil
}
