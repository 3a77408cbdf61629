package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/rowmac"
)

// RenewRowsArgs signs rows that decide access anew after a rotation of the pepper. Two runs
// at the same time write the same.
type RenewRowsArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (RenewRowsArgs) Kind() string { return "renew_rows" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (RenewRowsArgs) InsertOpts() river.InsertOpts { return once(10 * time.Minute) }

type renewRows struct {
	river.WorkerDefaults[RenewRowsArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *renewRows) Work(ctx context.Context, _ *river.Job[RenewRowsArgs]) error {
	_, err := rowmac.Renew(ctx, w.jobs.Pool, w.jobs.Access.Peppers)
	return err
}
