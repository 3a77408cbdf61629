package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
)

// SweepDocumentsArgs removes files that belong to no document, and files whose
// configured retention has passed.
type SweepDocumentsArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (SweepDocumentsArgs) Kind() string { return "sweep_documents" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (SweepDocumentsArgs) InsertOpts() river.InsertOpts {
	opts := once(24 * time.Hour)
	opts.Queue = documentQueue
	return opts
}

type sweepDocuments struct {
	river.WorkerDefaults[SweepDocumentsArgs]

	jobs *Jobs
}

// Timeout implements river.Worker. A store may hold millions of files.
func (w *sweepDocuments) Timeout(*river.Job[SweepDocumentsArgs]) time.Duration { return time.Hour }

// Work implements river.Worker. If one part fails, the other still runs.
func (w *sweepDocuments) Work(ctx context.Context, _ *river.Job[SweepDocumentsArgs]) error {
	swept, err := w.jobs.Documents.Sweep(ctx)
	w.jobs.Removed("orphan", swept)
	expired, retainErr := w.jobs.Documents.DeleteExpired(ctx)
	w.jobs.Removed("retention", expired)
	if swept+expired > 0 {
		w.jobs.Log.LogAttrs(ctx, slog.LevelInfo, "removed files of documents", slog.Int("without_record", swept), slog.Int("retention_passed", expired))
	}
	return errors.Join(err, retainErr)
}
