package supply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/pause"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/turns"
)

const (
	// pollInterval is how long RunImports waits between two searches for imports.
	pollInterval = 500 * time.Millisecond
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
	defer w.wait()
	since := time.Time{} // the first round deletes the files of all finished imports
	for ctx.Err() == nil {
		if err := errors.Join(w.start(ctx), w.deleteFinishedFiles(ctx, since)); err == nil {
			since = s.now().Add(-time.Hour)
		} else if ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelWarn, "imports could not be started or cleaned up, will retry", slog.Any("error", err))
			pause.For(ctx, retryInterval)
		}
		pause.For(ctx, pollInterval)
	}
}

// importWorkers runs the imports of one process.
type importWorkers struct {
	service *Service
	log     *slog.Logger
	turns   *turns.Turns
	locks   *pg.SessionLocks
	all     sync.WaitGroup

	mu      sync.Mutex
	running map[uuid.UUID]bool
	failed  map[uuid.UUID]time.Time // when a run failed; it is retried after retryInterval
	deleted map[uuid.UUID]bool      // finished imports whose files are deleted
}

func (s *Service) newImportWorkers(log *slog.Logger) *importWorkers {
	return &importWorkers{
		service: s, log: log, turns: turns.New(1), locks: &pg.SessionLocks{Pool: s.Pool},
		running: map[uuid.UUID]bool{}, failed: map[uuid.UUID]time.Time{}, deleted: map[uuid.UUID]bool{},
	}
}

// start starts a worker for every waiting import that has none, the oldest first.
func (w *importWorkers) start(ctx context.Context) error {
	waiting, err := w.service.apiImports(ctx, `state IN ('checking', 'applying')`)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uid := range waiting {
		if len(w.running) >= maxWorkers {
			break
		}
		if w.running[uid] || time.Since(w.failed[uid]) < retryInterval {
			continue
		}
		delete(w.failed, uid)
		w.running[uid] = true
		w.all.Go(func() { w.run(ctx, uid) })
	}
	return nil
}

// wait waits until all workers have ended.
func (w *importWorkers) wait() { w.all.Wait() }

// run is the worker of one import.
func (w *importWorkers) run(ctx context.Context, uid uuid.UUID) {
	im, err := w.service.run(ctx, uid, Source{Open: func() (io.ReadCloser, error) { return w.service.Files.Open(ctx, uid.String()) }, turns: w.turns}, nil, w.locks)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, uid)
	switch {
	case err == nil:
		w.log.LogAttrs(ctx, slog.LevelInfo, "import", slog.String("import", uid.String()), slog.String("state", im.State), slog.Int64("rows", im.Rows),
			slog.Int64("refused", im.Counts.Refused))
	case errors.Is(err, errBusy), errors.Is(err, blob.ErrNotFound):
		// Another process runs it, or another node has its file.
	case ctx.Err() == nil:
		w.failed[uid] = time.Now()
		w.log.LogAttrs(ctx, slog.LevelWarn, "an import failed, will retry", slog.String("import", uid.String()), slog.Any("error", err))
	}
}

func (w *importWorkers) isRunning(uid uuid.UUID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running[uid]
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
		if w.deleted[uid] || w.isRunning(uid) { // a worker may still read a file whose import was cancelled
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

// apiImports lists the imports that were sent to the API and meet a condition, the
// oldest first.
func (s *Service) apiImports(ctx context.Context, where string, args ...any) ([]uuid.UUID, error) {
	rows, err := s.Pool.Query(ctx, `SELECT uid FROM supply_import WHERE source = 'api' AND `+where+` ORDER BY id`, args...)
	if err != nil {
		return nil, fmt.Errorf("supply: find imports: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("supply: find imports: %w", err)
	}
	return list, nil
}
