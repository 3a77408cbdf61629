package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

const (
	// counts is the queue of this one job: it may be behind and busy for long, and
	// nobody's letter shall wait for it.
	counts = "counts"
	// countEvery is how old the counts of answers get.
	countEvery = 10 * time.Second
)

// CountAnswersArgs asks for what is new in the journal to be counted.
type CountAnswersArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (CountAnswersArgs) Kind() string { return "count_answers" }

// InsertOpts implements river.JobArgsWithInsertOpts. One that fails is not tried
// again: the next is due soon. While one waits or runs, no other is queued.
func (CountAnswersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{
		Queue: counts, MaxAttempts: 1,
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
