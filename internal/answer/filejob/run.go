package filejob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/line/linefile"
	"github.com/lineproof/lineproof/internal/line/sandbox"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const (
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
	// ChunkTime is how long a chunk may take, without the commit. The impact of a change is looked
	// for only after this time: until then a chunk that does not know it may still commit.
	ChunkTime = 8 * time.Second
)

// Run runs jobs, and deletes files whose time is over, until ctx ends; it returns when
// all jobs have stopped. Every node may call it: a job is run by a node that has its file,
// and by one process at a time. A job that a killed process left is continued.
func (s *Service) Run(ctx context.Context, log *slog.Logger) {
	turns, locks := pause.NewTurns(chunkPause), &pg.SessionLocks{Pool: s.Pool}
	workers := &pause.Workers{Most: MaxWorkers, Retry: retryInterval, Do: func(ctx context.Context, id uuid.UUID) time.Duration {
		j, err := s.run(ctx, id, turns, locks)
		return s.stopped(ctx, log, id, j, err)
	}}
	cleaned := time.Time{}
	workers.Run(ctx, func(ctx context.Context) error {
		err := s.start(ctx, workers)
		if err == nil && time.Since(cleaned) > cleanInterval {
			err, cleaned = s.cleanUp(ctx), time.Now()
		}
		return err
	}, func(err error) {
		log.LogAttrs(ctx, slog.LevelWarn, "file jobs could not be started or cleaned up, will retry", slog.Any("error", err))
	})
}

// start starts a worker for every open job that has a file and no worker: first the one
// that has waited longest since it was received or tried, so that jobs of other nodes, which
// are tried in vain, do not hold up others.
func (s *Service) start(ctx context.Context, workers *pause.Workers) error {
	open, err := query(ctx, s.Pool, `WHERE state IN ('checking', 'running', 'writing') ORDER BY received_at, id`)
	if err != nil {
		return err
	}
	since, waiting := make(map[uuid.UUID]time.Time, len(open)), make([]uuid.UUID, len(open))
	for i, j := range open {
		waiting[i], since[j.ID] = j.ID, j.Received
		if tried := workers.Rested(j.ID); tried.After(j.Received) {
			since[j.ID] = tried
		}
	}
	slices.SortStableFunc(waiting, func(a, b uuid.UUID) int { return since[a].Compare(since[b]) })
	workers.Start(ctx, waiting)
	return nil
}

// stopped reports how the run of a job ended, and returns how long it waits for the next.
func (s *Service) stopped(ctx context.Context, log *slog.Logger, id uuid.UUID, j Job, err error) time.Duration {
	switch {
	case err == nil:
		if ended := s.Observe.Ended; ended != nil && (j.State == Done || j.State == Failed) {
			ended(j.State)
		}
		log.LogAttrs(ctx, slog.LevelInfo, "file job", slog.String("job", id.String()), slog.String("state", string(j.State)), slog.Int64("rows", j.Rows),
			slog.Int64("rejected", j.Rejected))
		return 0
	case errors.Is(err, pg.ErrLocked), errors.Is(err, blob.ErrNotFound), errors.Is(err, errChanged), errors.Is(err, errEndedBefore):
		// Another process runs it or has ended it, another node has its file, or it was cancelled.
	case fault.CodeOf(err) == fault.ScanSuspected: // the guard stopped the organisation: unlike a used-up budget, that does not end the job
		return stoppedInterval
	case ctx.Err() == nil:
		log.LogAttrs(ctx, slog.LevelWarn, "a file job stopped, will continue", slog.String("job", id.String()), slog.Any("error", err))
	}
	return retryInterval
}

// run runs a job until it ends, and returns it. It can be stopped at any moment: the next
// run continues after the last chunk that was committed.
func (s *Service) run(ctx context.Context, id uuid.UUID, t *pause.Turns, locks *pg.SessionLocks) (Job, error) {
	unlock, err := locks.Lock(ctx, "lineproof file job "+id.String())
	if err != nil {
		return Job{}, err
	}
	defer unlock()
	r := &jobRun{Service: s, turns: t}
	steps := map[State]func(context.Context) error{Checking: r.check, Running: r.answer, Writing: r.write} //nolint:exhaustive // in the other states there is nothing to do
	for worked := false; ; worked = true {
		if r.job, err = one(query(ctx, s.Pool, `WHERE id = $1`, id)); err != nil {
			return r.job, err
		}
		step := steps[r.job.State]
		switch {
		case step == nil && worked:
			return r.job, nil
		case step == nil:
			return r.job, errEndedBefore
		}
		err := step(ctx)
		if f, ok := errors.AsType[*fault.Error](err); ok && endsJob(f) {
			err = r.fail(ctx, f.Message)
		}
		if waits := fault.CodeOf(err) == fault.ScanSuspected; err == nil || waits {
			err = errors.Join(err, r.noteWaiting(ctx, waits))
		}
		if err != nil {
			return r.job, err
		}
	}
}

// waiting is the reason of a job that waits because the guard stopped its organisation.
const waiting = "Your organisation is stopped because its verifications look like number scanning, so this job waits. Ask the regulator's staff to release it; the job then goes on by itself."

// noteWaiting notes that the job waits, or that it no longer does.
func (r *jobRun) noteWaiting(ctx context.Context, waits bool) error {
	reason := ""
	if waits {
		reason = waiting
	}
	_, err := r.Pool.Exec(ctx, `UPDATE file_job SET reason = $2 WHERE id = $1 AND reason <> $2 AND state IN ('checking', 'running', 'writing')`, r.job.ID, reason)
	return fault.Wrap(err, "filejob: note that a job waits")
}

// errEndedBefore reports a job that another process ended while this one was about to run it.
var errEndedBefore = errors.New("filejob: the job has ended before")

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
	turns *pause.Turns
}

// fail ends the job with a reason for its owner.
func (r *jobRun) fail(ctx context.Context, reason string) error {
	return pg.InTx(ctx, r.Pool, func(tx pg.Tx) error {
		return change(ctx, tx, &r.job, `state = 'failed', reason = $4, finished_at = $5`, reason, r.now())
	})
}

var errKeyEnded = fault.New(fault.IncompatibleState, "The API key of the job is no longer valid, or its organisation may not verify numbers any more. Send the file again with another key.")

// errOtherKey reports a job whose row somebody has changed.
var errOtherKey = errors.New("filejob: the key of the job is of another organisation or mode")

// caller returns the caller that the rows are recorded with. It is read for every chunk, so that a
// revoked key gives no answer any more.
func (r *jobRun) caller(ctx context.Context) (Caller, error) {
	c, err := r.Caller(ctx, r.Pool, r.job.Key)
	switch {
	case fault.CodeOf(err) == fault.Unauthenticated:
		return c, errKeyEnded.Because(err)
	case err == nil && c.Owner != r.job.Owner:
		return c, errKeyEnded.Because(errOtherKey)
	}
	return c, err
}

// open opens the file of the job. Reading ends with ctx.
func (r *jobRun) open(ctx context.Context) (reader *linefile.Reader, closeAll func(), err error) {
	rules, _, err := r.Verifier.Lines.Current(ctx, r.Pool, r.job.Received)
	if err != nil {
		return nil, nil, err
	}
	in, err := r.Files.Open(ctx, r.job.fileName().String())
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
