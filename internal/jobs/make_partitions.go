package jobs

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/journal"
	"github.com/lineproof/lineproof/internal/journalgap"
	"github.com/lineproof/lineproof/internal/requestlog"
)

// MakePartitionsArgs creates the partitions of the journal and of refused requests of the
// coming days, drops those of refused requests that are too old, and records the ends of epochs whose process was killed.
type MakePartitionsArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (MakePartitionsArgs) Kind() string { return "make_partitions" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (MakePartitionsArgs) InsertOpts() river.InsertOpts { return once(10 * time.Minute) }

type makePartitions struct {
	river.WorkerDefaults[MakePartitionsArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *makePartitions) Work(ctx context.Context, _ *river.Job[MakePartitionsArgs]) error {
	created, err := journal.MakePartitions(ctx, w.jobs.Pool, w.jobs.DaysAhead)
	if err != nil {
		return err
	}
	ahead, err := journal.DaysAhead(ctx, w.jobs.Pool, w.jobs.Now())
	if err != nil {
		return err
	}
	w.jobs.Ahead(ahead)
	if created > 0 {
		w.jobs.Log.LogAttrs(ctx, slog.LevelInfo, "created journal partitions", slog.Int("created", created), slog.Int("days_ahead", ahead))
	}
	if _, err := requestlog.MakePartitions(ctx, w.jobs.Pool); err != nil {
		return err
	}
	_, err = journalgap.EndDead(ctx, w.jobs.Pool)
	return err
}
