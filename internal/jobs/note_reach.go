package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// NoteReachArgs records how far each operator's supply reaches today.
type NoteReachArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (NoteReachArgs) Kind() string { return "note_reach" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (NoteReachArgs) InsertOpts() river.InsertOpts { return once(10 * time.Minute) }

type noteReach struct {
	river.WorkerDefaults[NoteReachArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *noteReach) Work(ctx context.Context, _ *river.Job[NoteReachArgs]) error {
	return w.jobs.Supply.RecordCoverage(ctx)
}
