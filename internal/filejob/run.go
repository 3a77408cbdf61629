package filejob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/blob"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/linefile"
	"github.com/lineproof/lineproof/internal/pause"
	"github.com/lineproof/lineproof/internal/pg"
	"github.com/lineproof/lineproof/internal/sandbox"
	"github.com/lineproof/lineproof/internal/turns"
)

const (
	// pollInterval is how long Run waits between two searches for jobs.
	pollInterval = 500 * time.Millisecond
	// retryInterval is how long a job that failed waits until it is run again.
	retryInterval = 2 * time.Second
	// stoppedInterval is how long a job of a stopped organisation waits.
	stoppedInterval = time.Minute
	// cleanInterval is how long Run waits between two looks for files to delete.
	cleanInterval = 30 * time.Second
	// MaxWorkers is how many jobs a process runs at the same time; more wait for one of
	// them to end. A job that is checked needs 8 bytes for each row of its file.
	MaxWorkers = 4
	// chunkRows is how many rows are answered in one transaction. Large ones delay the commits
	// of verifications: 1,000 with a pause of 1 gave as many rows a second and a higher p99.
	chunkRows = 250
	// chunkPause is how long the pause after a chunk is, in parts of the time that it took.
	chunkPause = 0.5
	// checkRows is how many rows are read at once while a file is checked, without a transaction.
	checkRows = 5_000
	// ChunkTime is how long that may take, without the commit: whoever looks for answers that a
	// change concerns waits so long for those that do not know it.
	ChunkTime = 8 * time.Second
)

// Run runs jobs, and deletes files whose time is over, until ctx ends; it returns when
// all jobs have stopped. Every node may call it: a job is run by a node that has its file,
// and by one process at a time. A job that a killed process left is continued.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	w := &workers{service: s, log: log, turns: turns.New(chunkPause), locks: &pg.SessionLocks{Pool: s.Pool}, running: map[uuid.UUID]bool{}, paused: map[uuid.UUID]time.Time{}}
	defer w.all.Wait()
	cleaned := time.Time{}
	for ctx.Err() == nil {
		err := w.start(ctx)
		if err == nil && time.Since(cleaned) > cleanInterval {
			err, cleaned = s.cleanUp(ctx), time.Now()
		}
		if err != nil && ctx.Err() == nil {
			log.LogAttrs(ctx, slog.LevelWarn, "file jobs could not be started or cleaned up, will retry", slog.Any("error", err))
			pause.For(ctx, retryInterval)
		}
		pause.For(ctx, pollInterval)
	}
}

// workers runs the jobs of one process.
type workers struct {
	service *Service
	log     *slog.Logger
	turns   *turns.Turns
	locks   *pg.SessionLocks
	all     sync.WaitGroup

	mu      sync.Mutex
	running map[uuid.UUID]bool
	paused  map[uuid.UUID]time.Time // open jobs that are not run before a time
}

// start starts a worker for every open job that has a file and no worker: first the one
// that has waited longest since it was received or tried, so that jobs of other nodes, which
// are tried in vain, do not hold up others.
func (w *workers) start(ctx context.Context) error {
	open, err := query(ctx, w.service.Pool, `WHERE state IN ('checking', 'running', 'writing') ORDER BY received_at, id`)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.paused, func(id uuid.UUID, _ time.Time) bool {
		return !slices.ContainsFunc(open, func(j Job) bool { return j.ID == id })
	})
	waitsSince := func(j Job) time.Time {
		if tried := w.paused[j.ID]; tried.After(j.Received) {
			return tried
		}
		return j.Received
	}
	slices.SortStableFunc(open, func(a, b Job) int { return waitsSince(a).Compare(waitsSince(b)) })
	for _, j := range open {
		if len(w.running) >= MaxWorkers {
			break
		}
		if w.running[j.ID] || time.Now().Before(w.paused[j.ID]) {
			continue
		}
		w.running[j.ID] = true
		w.all.Go(func() { w.run(ctx, j.ID) })
	}
	return nil
}

// run is the worker of one job.
func (w *workers) run(ctx context.Context, id uuid.UUID) {
	j, err := w.service.run(ctx, id, w.turns, w.locks)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, id)
	switch {
	case err == nil:
		if ended := w.service.Observe.Ended; ended != nil && (j.State == Done || j.State == Failed) {
			ended(j.State)
		}
		w.log.LogAttrs(ctx, slog.LevelInfo, "file job", slog.String("job", id.String()), slog.String("state", string(j.State)), slog.Int64("rows", j.Rows),
			slog.Int64("rejected", j.Rejected))
	case errors.Is(err, pg.ErrLocked), errors.Is(err, blob.ErrNotFound), errors.Is(err, errChanged):
		w.paused[id] = time.Now().Add(retryInterval) // another process runs it, another node has its file, or it was cancelled
	case fault.CodeOf(err) == fault.ScanSuspected: // the guard stopped the organisation: unlike a used-up budget, that does not end the job
		w.paused[id] = time.Now().Add(stoppedInterval)
	case ctx.Err() == nil:
		w.paused[id] = time.Now().Add(retryInterval)
		w.log.LogAttrs(ctx, slog.LevelWarn, "a file job stopped, will continue", slog.String("job", id.String()), slog.Any("error", err))
	}
}

// run runs a job until it ends, and returns it. It can be stopped at any moment: the next
// run continues after the last chunk that was committed.
func (s *Service) run(ctx context.Context, id uuid.UUID, t *turns.Turns, locks *pg.SessionLocks) (Job, error) {
	unlock, err := locks.Lock(ctx, "lineproof file job "+id.String())
	if err != nil {
		return Job{}, err
	}
	defer unlock()
	r := &jobRun{Service: s, turns: t}
	steps := map[State]func(context.Context) error{Checking: r.check, Running: r.answer, Writing: r.write} //nolint:exhaustive // in the other states there is nothing to do
	for {
		if r.job, err = one(query(ctx, s.Pool, `WHERE id = $1`, id)); err != nil {
			return r.job, err
		}
		step := steps[r.job.State]
		if step == nil {
			return r.job, nil
		}
		err := step(ctx)
		if f, ok := errors.AsType[*fault.Error](err); ok && endsJob(f) {
			err = r.fail(ctx, f.Message)
		}
		if err != nil {
			return r.job, err
		}
	}
}

// endsJob reports whether an error is about the job, and trying again is in vain.
func endsJob(f *fault.Error) bool {
	switch f.Code {
	case fault.InvalidArgument, fault.IncompatibleState, fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.QuotaExceeded:
		return true
	default:
		return false
	}
}

// buffer returns a place for the rows of one chunk.
func (s *Service) buffer() []linefile.Row { return make([]linefile.Row, cmp.Or(s.chunk, chunkRows)) }

// jobRun is one run of a job.
type jobRun struct {
	*Service

	job   Job
	turns *turns.Turns
}

// fail ends the job with a reason for its owner.
func (r *jobRun) fail(ctx context.Context, reason string) error {
	return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		return change(ctx, tx, &r.job, `state = 'failed', reason = $4, finished_at = $5`, reason, r.now())
	})
}

var errKeyEnded = fault.New(fault.IncompatibleState, "The API key of the job is no longer valid, or its organisation may not verify numbers any more. Send the file again with another key.")

// caller returns what the rows are recorded with. It is asked for every chunk, so that a
// revoked key gives no answer any more.
func (r *jobRun) caller(ctx context.Context) (Caller, error) {
	c, err := r.Caller(ctx, r.Pool, r.job.Key)
	if fault.CodeOf(err) == fault.Unauthenticated {
		return c, errKeyEnded.Because(err)
	}
	return c, err
}

// open opens the file of the job. Reading ends with ctx.
func (r *jobRun) open(ctx context.Context) (reader *linefile.Reader, closeAll func(), err error) {
	rules, _, err := r.Verifier.Lines.Current(ctx, r.Pool, r.job.Received)
	if err != nil {
		return nil, nil, err
	}
	in, err := r.Files.Open(ctx, r.job.file.UUID.String())
	if err != nil {
		return nil, nil, fmt.Errorf("filejob: open the file: %w", err)
	}
	latest := r.job.Received // as long as the job runs, the same rows are rejected
	if r.job.Owner.Mode == "test" {
		latest = latest.Add(sandbox.MaxAhead)
	}
	reader, err = linefile.Open(linefile.Until(ctx, in), linefile.Options{Kind: linefile.Questions, Region: r.Region, Now: latest, Zone: rules.Zone()})
	if err != nil {
		_ = in.Close() // nothing was written
		return nil, nil, err
	}
	return reader, func() { _, _ = reader.Close(), in.Close() }, nil
}
