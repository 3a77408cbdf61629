package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
)

const (
	// retryInterval is how long an import that failed waits until it is run again.
	retryInterval = 5 * time.Second
	// maxWorkers is how many imports a process runs at the same time; more wait for
	// one of them to end. Each needs memory for its decompressor (32 MiB) and for the
	// numbers of its file (up to 63 MB for the largest countries).
	maxWorkers = 16
)

// RunImports runs the imports that were sent to the API until ctx ends, and returns
// when all of them have stopped. Each import, and so each network, has a worker of
// its own; the workers take turns, chunk by chunk. Every node may call it: an import
// is run by a node that has its file, and by one process at a time. An import that a
// killed process left unfinished is resumed.
func (s *Service) RunImports(ctx context.Context, log *slog.Logger) {
	w := s.newImportWorkers(log)
	since := time.Time{} // the first round deletes the files of all finished imports
	w.Run(ctx, func(ctx context.Context) error {
		err := errors.Join(w.start(ctx), w.deleteFinishedFiles(ctx, since))
		if err == nil {
			since = s.now().Add(-time.Hour)
		}
		return err
	}, func(err error) {
		log.LogAttrs(ctx, slog.LevelWarn, "imports could not be started or cleaned up, will retry", slog.Any("error", err))
	})
}

// importWorkers runs the imports of one process.
type importWorkers struct {
	pause.Workers

	service *Service
	log     *slog.Logger
	turns   *pause.Turns
	locks   *pg.SessionLocks
	deleted map[uuid.UUID]bool // finished imports whose files are deleted
}

func (s *Service) newImportWorkers(log *slog.Logger) *importWorkers {
	w := &importWorkers{service: s, log: log, turns: pause.NewTurns(1), locks: &pg.SessionLocks{Pool: s.Pool}, deleted: map[uuid.UUID]bool{}}
	w.Most, w.Retry, w.Do = maxWorkers, retryInterval, w.run
	return w
}

// start starts a worker for every waiting import that has none, the oldest first.
func (w *importWorkers) start(ctx context.Context) error {
	waiting, err := w.service.apiImports(ctx, `state IN ('checking', 'applying')`)
	if err == nil {
		w.Start(ctx, waiting)
	}
	return err
}

// run is the worker of one import. It returns how long that waits for the next run.
func (w *importWorkers) run(ctx context.Context, uid uuid.UUID) time.Duration {
	open := func() (io.ReadCloser, error) { return w.service.Files.Open(ctx, uid.String()) }
	im, err := w.service.run(ctx, uid, Source{Open: open, turns: w.turns}, nil, w.locks)
	switch {
	case err == nil:
		w.log.LogAttrs(ctx, slog.LevelInfo, "import", slog.String("import", uid.String()), slog.String("state", im.State), slog.Int64("rows", im.Rows),
			slog.Int64("refused", im.Counts.Refused))
	case errors.Is(err, errBusy), errors.Is(err, blob.ErrNotFound):
		// Another process runs it, or another node has its file.
	case ctx.Err() == nil:
		w.log.LogAttrs(ctx, slog.LevelWarn, "an import failed, will retry", slog.String("import", uid.String()), slog.Any("error", err))
		return retryInterval
	}
	return 0
}

// deleteFinishedFiles deletes the files of imports that finished after a time,
// whether a run ended them here, staff did, or a process that was killed before
// it could delete the file. It remembers and skips those that it has deleted, because
// each of them would otherwise cost a request to the object store twice a second.
func (w *importWorkers) deleteFinishedFiles(ctx context.Context, since time.Time) error {
	finished, err := w.service.apiImports(ctx, `state NOT IN ('checking', 'held', 'applying') AND finished_at >= $1`, since)
	if err != nil {
		return err
	}
	var failed error
	for _, uid := range finished {
		if w.deleted[uid] || w.Running(uid) { // a worker may still read a file whose import was cancelled
			continue
		}
		if err := w.service.Files.Delete(ctx, uid.String()); err != nil && !errors.Is(err, blob.ErrNotFound) {
			failed = errors.Join(failed, fmt.Errorf("supply: delete the file of a finished import: %w", err))
			continue
		}
		w.deleted[uid] = true
	}
	return failed
}

// apiImports lists the imports of files that the service stores, because they were sent to the
// API or uploaded in the portal, and that meet a condition, the oldest first.
func (s *Service) apiImports(ctx context.Context, where string, args ...any) ([]uuid.UUID, error) {
	list, err := pg.Collect(ctx, s.Pool, pgx.RowTo[uuid.UUID], `SELECT uid FROM supply_import WHERE source <> 'cli' AND `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: find imports: %w", err)
	}
	return list, nil
}
