package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// fileJobs are files of numbers: the service that takes them, and the one that runs them,
// in the lane of files and with batches of its own.
type fileJobs struct {
	api     *filejob.Service
	runner  *filejob.Service
	numbers *journal.EpochWriter
}

func (s *service) openFileJobs(ctx context.Context) error {
	numbers, err := journal.OpenEpoch(ctx, s.lanes.imports, s.cfg.Node, filejob.MaxWorkers)
	if err != nil {
		return err
	}
	api := &filejob.Service{
		Pool: s.lanes.people, Files: s.stores.Jobs, Verifier: s.verifier, Guard: s.guard, Region: s.region, Now: time.Now, Keep: s.cfg.JobKeep,
		MaxRows: s.cfg.JobMaxRows, MaxBytes: s.cfg.JobMaxBytes, MaxWaiting: s.cfg.JobWaitingBytes, Uploads: &pause.TurnsByKey{Most: 2},
		Caller: func(ctx context.Context, from pg.DB, key uuid.UUID) (filejob.Caller, error) {
			who, err := s.access.PrincipalOf(ctx, from, key)
			return filejob.Caller{
				Owner: filejob.Owner{Entity: who.Entity, Mode: who.Mode}, Purpose: who.Purpose, PurposeText: who.PurposeText, Budget: httpapi.BudgetOf(&who),
			}, err
		},
	}
	runner := *api
	runner.Observe = filejob.Observe{Ended: func(state filejob.State) { s.metrics.FileJobEnded(string(state)) }, Rows: s.metrics.FileJobRows}
	runner.Pool, runner.Records = s.lanes.imports, &filejob.Records{Node: s.cfg.Node, Numbers: numbers}
	s.fileJobs = fileJobs{api, &runner, numbers}
	return nil
}

// run runs file jobs until ctx ends.
func (f *fileJobs) run(ctx context.Context, log *slog.Logger) {
	f.runner.Run(ctx, log)
	flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = f.numbers.Close(flushCtx) // otherwise another node ends the epoch
}
