package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

const (
	// countQueue is the queue of this one job: it may run for long to catch up, and
	// no e-mail must wait for it.
	countQueue = "counts"
	// countInterval is the time between two counts, and so the age of the counts.
	countInterval = 10 * time.Second
)

// CountAnswersArgs counts the new entries of the journal.
type CountAnswersArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (CountAnswersArgs) Kind() string { return "count_answers" }

// InsertOpts implements river.JobArgsWithInsertOpts. A failed job is not retried:
// the next one is due soon. While one is queued or runs, no other is queued.
func (CountAnswersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: countQueue, MaxAttempts: 1,
		UniqueOpts: river.UniqueOpts{ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
		}},
	}
}

type countAnswers struct {
	river.WorkerDefaults[CountAnswersArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *countAnswers) Work(ctx context.Context, _ *river.Job[CountAnswersArgs]) error {
	settled, err := w.jobs.Tally.Count(ctx)
	if !settled.IsZero() {
		w.jobs.Counted(settled)
	}
	return err
}
