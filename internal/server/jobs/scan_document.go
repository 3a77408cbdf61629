package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/document"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// documentQueue is the queue of all jobs about documents. It has its own workers,
// so that no e-mail waits for a scan, and a node whose version has no scans does
// not take a scan job.
const documentQueue = "documents"

const (
	scanWorkers = 2
	// scanOverhead is the time for everything but the scanner: reading the file,
	// inspecting it, recording the outcome.
	scanOverhead = 2 * time.Minute
	// minSnooze and maxSnooze bound the time before the next attempt while the
	// scanner is unavailable.
	minSnooze = 2 * time.Second
	maxSnooze = time.Minute
	// maxScanRetry bounds the time before the next attempt after any other failure.
	maxScanRetry = 10 * time.Minute
)

// ScanDocumentArgs scans a document. It has only the document's id.
type ScanDocumentArgs struct {
	Document uuid.UUID `json:"document"`
}

// Kind implements river.JobArgs. It is stored; never change it.
func (ScanDocumentArgs) Kind() string { return "scan_document" }

// InsertOpts implements river.JobArgsWithInsertOpts. A document that is already
// queued is not queued twice.
func (ScanDocumentArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: documentQueue, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}}}
}

type scanDocument struct {
	river.WorkerDefaults[ScanDocumentArgs]

	jobs *Jobs
}

// Timeout implements river.Worker.
func (w *scanDocument) Timeout(*river.Job[ScanDocumentArgs]) time.Duration {
	if w.jobs.Scanner == nil {
		return scanOverhead
	}
	return 2*w.jobs.Scanner.Timeout + scanOverhead
}

// NextRetry implements river.Worker. An outage of the store or the database ends
// within hours, and with River's own growing intervals a document could wait a
// day longer.
func (w *scanDocument) NextRetry(job *river.Job[ScanDocumentArgs]) time.Time {
	return w.jobs.Now().Add(min(time.Second<<min(job.Attempt, 10), maxScanRetry))
}

// Work implements river.Worker. Without a scanner that passes its self-test the
// document waits, without a limit.
func (w *scanDocument) Work(ctx context.Context, job *river.Job[ScanDocumentArgs]) error {
	state, err := w.scan(ctx, job.Args.Document)
	switch {
	case errors.Is(err, clamd.ErrUnavailable), errors.Is(err, clamd.ErrTestFileMissed):
		w.jobs.Scanned("waiting")
		return river.JobSnooze(min(max(w.jobs.Now().Sub(job.CreatedAt)/2, minSnooze), maxSnooze))
	case errors.Is(err, document.ErrNoDocument):
		return river.JobCancel(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return err // the node is shutting down; another runs the job
	case err != nil:
		w.jobs.Scanned("failed")
		w.jobs.Log.LogAttrs(ctx, slog.LevelError, "a document could not be scanned; the scan will be retried",
			slog.String("document", job.Args.Document.String()), slog.Any("error", err))
		return err
	}
	if state == document.Clean || state == document.Refused || state == document.Infected { // else its state has changed since
		w.jobs.Scanned(string(state))
	}
	if state == document.Infected || state == document.Refused {
		w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "a document was found infected or unsafe",
			slog.String("document", job.Args.Document.String()), slog.String("state", string(state)))
	}
	return nil
}

func (w *scanDocument) scan(ctx context.Context, id uuid.UUID) (document.State, error) {
	if w.jobs.Scanner == nil {
		w.jobs.noScanner.Do(func() {
			w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "documents wait and are not scanned, because LINEPROOF_CLAMD_ADDR is not set")
		})
		return document.Received, clamd.ErrUnavailable
	}
	// A scanner that does not detect the test file may detect nothing. The test
	// takes a millisecond.
	if err := w.jobs.Scanner.SelfTest(ctx); err != nil {
		return document.Received, err
	}
	return w.jobs.Documents.Scan(ctx, id)
}

// Scans returns a function that queues the scan of a document in the transaction
// that creates the document. It needs no running client, so that the command line
// can use it too.
func Scans(pool *pgxpool.Pool) (func(context.Context, pg.Tx, uuid.UUID) error, error) {
	c, err := insertOnly(pool)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pg.Tx, id uuid.UUID) error {
		_, err := c.InsertTx(ctx, tx, ScanDocumentArgs{Document: id}, nil)
		return fault.Wrap(err, "jobs: queue a scan")
	}, nil
}
