package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/lineproof/lineproof/internal/auditchain"
)

// ChainAuditArgs chains the hours of the audit trail that are over. Two runs at the same
// time write the same.
type ChainAuditArgs struct{}

// Kind implements river.JobArgs. It is stored; never change it.
func (ChainAuditArgs) Kind() string { return "chain_audit" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ChainAuditArgs) InsertOpts() river.InsertOpts { return once(chainInterval) }

const chainInterval = 10 * time.Minute

type chainAudit struct {
	river.WorkerDefaults[ChainAuditArgs]

	jobs *Jobs
}

// Work implements river.Worker.
func (w *chainAudit) Work(ctx context.Context, _ *river.Job[ChainAuditArgs]) error {
	_, err := auditchain.Extend(ctx, w.jobs.Pool)
	if errors.Is(err, auditchain.ErrBusy) {
		return nil // the next run does it
	}
	return err
}
