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
	"github.com/riverqueue/river/rivertype"

	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/pg"
)

// documents is the queue of everything about documents. It has workers of its
// own, so that no letter waits for a scan, and a node of a version that knows no
// scans does not take one.
const documents = "documents"

const (
	scanWorkers = 2
	// scanSlack is what a scan may take beside the scanner: fetching the file,
	// opening it, recording the outcome.
	scanSlack = 2 * time.Minute
	// minAway and maxAway bound how long a document waits before the scanner is
	// asked again.
	minAway = 2 * time.Second
	maxAway = time.Minute
	// maxScanRetry bounds how long it waits after any other trouble.
	maxScanRetry = 10 * time.Minute
)

// ScanDocumentArgs asks for a document to be scanned. It says which, and nothing
// about it.
type ScanDocumentArgs struct {
	Document uuid.UUID `json:"document"`
}

// Kind implements river.JobArgs. It is stored; never change it.
func (ScanDocumentArgs) Kind() string { return "scan_document" }

// InsertOpts implements river.JobArgsWithInsertOpts. A document that is queued is
// not queued again.
func (ScanDocumentArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: documents, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
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
		return scanSlack
	}
	return 2*w.jobs.Scanner.Timeout + scanSlack
}

// NextRetry implements river.Worker. What is wrong with a store or a database is
// put right within hours at the most, and nobody should wait a day more.
func (w *scanDocument) NextRetry(job *river.Job[ScanDocumentArgs]) time.Time {
	return w.jobs.Now().Add(min(time.Second<<min(job.Attempt, 10), maxScanRetry))
}

// Work implements river.Worker. While there is no scanner that can be trusted
// the document waits, for as long as it takes.
func (w *scanDocument) Work(ctx context.Context, job *river.Job[ScanDocumentArgs]) error {
	state, err := w.scan(ctx, job.Args.Document)
	switch {
	case errors.Is(err, clamd.ErrAway), errors.Is(err, clamd.ErrBlind):
		w.jobs.Scanned("waiting")
		return river.JobSnooze(min(max(w.jobs.Now().Sub(job.CreatedAt)/2, minAway), maxAway))
	case errors.Is(err, document.ErrNoDocument):
		return river.JobCancel(err)
	case errors.Is(ctx.Err(), context.Canceled):
		return err // the node is being stopped; another takes it up
	case err != nil:
		w.jobs.Scanned("failed")
		w.jobs.Log.LogAttrs(ctx, slog.LevelError, "a document could not be scanned; it is tried again",
			slog.String("document", job.Args.Document.String()), slog.Any("error", err))
		return err
	}
	if state == document.Clean || state == document.Refused || state == document.Infected { // else it has moved on since
		w.jobs.Scanned(string(state))
	}
	if state == document.Infected || state == document.Refused {
		w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "a document is not fit to be opened",
			slog.String("document", job.Args.Document.String()), slog.String("state", string(state)))
	}
	return nil
}

func (w *scanDocument) scan(ctx context.Context, id uuid.UUID) (document.State, error) {
	if w.jobs.Scanner == nil {
		w.jobs.noScanner.Do(func() {
			w.jobs.Log.LogAttrs(ctx, slog.LevelWarn, "documents are not scanned, because LINEPROOF_CLAMD_ADDR is not set; they wait")
		})
		return document.Received, clamd.ErrAway
	}
	// A scanner that passes the test file would pass anything. To ask costs a
	// millisecond.
	if err := w.jobs.Scanner.SelfTest(ctx); err != nil {
		return document.Received, err
	}
	return w.jobs.Documents.Scan(ctx, id)
}

// Scans returns a function that queues the scan of a document in the transaction
// of its record. It needs no client that runs: the command line queues, too.
func Scans(pool *pgxpool.Pool) (func(context.Context, pg.Tx, uuid.UUID) error, error) {
	c, err := queuer(pool)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pg.Tx, id uuid.UUID) error {
		if _, err := c.InsertTx(ctx, tx, ScanDocumentArgs{Document: id}, nil); err != nil {
			return fmt.Errorf("jobs: queue a scan: %w", err)
		}
		return nil
	}, nil
}
