package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/filejob"
	"github.com/lineproof/lineproof/internal/guard"
	"github.com/lineproof/lineproof/internal/httpapi"
	"github.com/lineproof/lineproof/internal/journalepoch"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/phone"
	"github.com/lineproof/lineproof/internal/telemetry"
	"github.com/lineproof/lineproof/internal/verify"
)

// fileJobs are files of numbers: the service that takes them, and the one that runs them,
// in the lane of files and with batches of its own.
type fileJobs struct {
	api     *filejob.Service
	runner  *filejob.Service
	numbers *journalepoch.Writer
}

func openFileJobs(ctx context.Context, cfg config.Config, l *lanes, files blob.Store, verifier *verify.Verifier, scanGuard *guard.Guard, keys *access.Service, region *phone.Region, metrics *telemetry.Metrics) (fileJobs, error) {
	numbers, err := journalepoch.Open(ctx, l.imports, cfg.Node, filejob.MaxWorkers)
	if err != nil {
		return fileJobs{}, err
	}
	api := &filejob.Service{
		Pool: l.people, Files: files, Verifier: verifier, Guard: scanGuard, Region: region, Now: time.Now, MaxRows: cfg.JobMaxRows, Keep: cfg.JobKeep,
		Caller: func(ctx context.Context, from pg.DB, key uuid.UUID) (filejob.Caller, error) {
			who, err := keys.PrincipalOf(ctx, from, key)
			return filejob.Caller{
				Owner: filejob.Owner{Entity: who.Entity, Mode: who.Mode}, Purpose: who.Purpose, PurposeText: who.PurposeText, Budget: httpapi.BudgetOf(&who),
			}, err
		},
	}
	runner := *api
	runner.Observe = filejob.Observe{Ended: func(s filejob.State) { metrics.FileJobEnded(string(s)) }, Rows: metrics.FileJobRows}
	runner.Pool, runner.Records = l.imports, &filejob.Records{Node: cfg.Node, Numbers: numbers}
	return fileJobs{api, &runner, numbers}, nil
}
