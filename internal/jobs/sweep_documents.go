package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
)

// SweepDocumentsArgs asks for the files to be removed that no record names, and
// those that the settings say to keep no longer.
type SweepDocumentsArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (SweepDocumentsArgs) Kind() string { return "sweep_documents" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (SweepDocumentsArgs) InsertOpts() river.InsertOpts {
	opts := once(24 * time.Hour)
	opts.Queue = documents
	return opts
}

type sweepDocuments struct {
	river.WorkerDefaults[SweepDocumentsArgs]

	jobs *Jobs
}

// Timeout implements river.Worker. A store may hold millions of files.
func (w *sweepDocuments) Timeout(*river.Job[SweepDocumentsArgs]) time.Duration { return time.Hour }

// Work implements river.Worker. What keeps one part from its work does not keep
// the other.
func (w *sweepDocuments) Work(ctx context.Context, _ *river.Job[SweepDocumentsArgs]) error {
	swept, err := w.jobs.Documents.Sweep(ctx)
	w.jobs.Removed("orphan", swept)
	retired, late := w.jobs.Documents.Retain(ctx)
	w.jobs.Removed("retention", retired)
	if swept+retired > 0 {
		w.jobs.Log.LogAttrs(ctx, slog.LevelInfo, "removed files of documents", slog.Int("without_record", swept), slog.Int("kept_long_enough", retired))
	}
	return errors.Join(err, late)
}
