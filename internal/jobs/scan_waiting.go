package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// forgotten is how long a document waits before somebody looks whether it is
// queued at all, and how often that is.
const forgotten = 5 * time.Minute

// ScanWaitingArgs asks for scans of the documents that wait without one: those
// that a version before the scanner has taken in, and those whose job was given
// up.
type ScanWaitingArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (ScanWaitingArgs) Kind() string { return "scan_waiting" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ScanWaitingArgs) InsertOpts() river.InsertOpts {
	opts := once(time.Minute)
	opts.Queue = documents
	return opts
}

type scanWaiting struct {
	river.WorkerDefaults[ScanWaitingArgs]

	jobs *Jobs
}

// Work implements river.Worker. A document that is queued already is left as it
// is: a scan is unique.
func (w *scanWaiting) Work(ctx context.Context, _ *river.Job[ScanWaitingArgs]) error {
	ids, _, _, err := w.jobs.Documents.Waiting(ctx, forgotten)
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
