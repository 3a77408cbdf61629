package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lineproof/lineproof/internal/access/requestlog"
	"github.com/lineproof/lineproof/internal/access/rowmac"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/regulator/audit"
)

// countQueue is the queue of one job alone: it may run for long to catch up, and no e-mail
// must wait for it.
const countQueue = "counts"

// requeueAfter is how long a document waits before a job checks that its scan is queued, and
// the interval of that job.
const requeueAfter = 5 * time.Minute

// The kinds of periodic jobs. They are stored; a new name would leave old jobs without a worker.
type (
	makePartitions struct{}
	forgetExpired  struct{}
	scanWaiting    struct{}
	sweepDocuments struct{}
	countAnswers   struct{}
	noteReach      struct{}
	chainAudit     struct{}
	recordFailures struct{}
	notifyExpiry   struct{}
	renewRows      struct{}
	// NotifyWork is exported for tests, which run it at once.
	NotifyWork struct{}
)

// Kind implements river.JobArgs, as the methods below do.
func (makePartitions) Kind() string { return "make_partitions" }
func (forgetExpired) Kind() string  { return "forget_expired" }
func (scanWaiting) Kind() string    { return "scan_waiting" }
func (sweepDocuments) Kind() string { return "sweep_documents" }
func (countAnswers) Kind() string   { return "count_answers" }
func (noteReach) Kind() string      { return "note_reach" }
func (chainAudit) Kind() string     { return "chain_audit" }
func (recordFailures) Kind() string { return "record_failures" }
func (notifyExpiry) Kind() string   { return "notify_expiry" }
func (renewRows) Kind() string      { return "renew_rows" }

// Kind implements river.JobArgs.
func (NotifyWork) Kind() string { return "notify_work" }

// periodic returns the jobs that run at intervals, on one node each time, and when a node
// starts. Most may run twice at once: what there is to do is done by one of the two.
func (j *Jobs) periodic() []periodicJob {
	const hour = time.Hour
	hourly := once(10 * time.Minute)
	return []periodicJob{
		every(hour, makePartitions{}, hourly, 0, j.makePartitions),
		every(hour, forgetExpired{}, hourly, 0, j.forgetExpired),
		every(requeueAfter, scanWaiting{}, in(documentQueue, once(time.Minute)), 0, j.scanWaiting),
		every(24*hour, sweepDocuments{}, in(documentQueue, once(24*hour)), hour, j.sweepDocuments), // a store may hold millions of files
		every(10*time.Second, countAnswers{}, oneAtATime, 0, j.countAnswers),                       // so old are the counts at most
		every(hour, noteReach{}, hourly, 0, func(ctx context.Context) error { return j.Supply.RecordCoverage(ctx) }),
		every(10*time.Minute, chainAudit{}, once(10*time.Minute), 0, j.chainAudit),
		every(10*time.Minute, recordFailures{}, once(10*time.Minute), 0, // at most six entries for an account in an hour
			func(ctx context.Context) error { return j.People.RecordFailures(ctx) }),
		every(hour, notifyExpiry{}, hourly, 0, func(ctx context.Context) error { return j.People.NotifyOfExpiry(ctx) }),
		every(hour, renewRows{}, hourly, 0, j.renewRows),
		every(workInterval, NotifyWork{}, once(workInterval), 0, j.notifyWork),
	}
}

// once returns options by which at most one job of a kind is queued per interval.
func once(interval time.Duration) river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 5, UniqueOpts: river.UniqueOpts{ByPeriod: interval}}
}

func in(queue string, o river.InsertOpts) river.InsertOpts {
	o.Queue = queue
	return o
}

// oneAtATime is for a job that is not retried, because the next one is due soon. While one is
// queued or runs, no other is queued.
var oneAtATime = river.InsertOpts{
	Queue: countQueue, MaxAttempts: 1,
	UniqueOpts: river.UniqueOpts{ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}},
}

// periodicJob is a job that runs at intervals.
type periodicJob struct {
	kind string
	plan *river.PeriodicJob
	add  func(*river.Workers) error
}

// every returns a job that runs at an interval. A timeout of 0 is that of all jobs.
func every[T river.JobArgs](interval time.Duration, args T, o river.InsertOpts, timeout time.Duration, do func(context.Context) error) periodicJob {
	return periodicJob{
		kind: args.Kind(),
		plan: river.NewPeriodicJob(river.PeriodicInterval(interval),
			func() (river.JobArgs, *river.InsertOpts) { return args, &o }, &river.PeriodicJobOpts{RunOnStart: true}),
		add: func(workers *river.Workers) error {
			return river.AddWorkerSafely(workers, &periodicWorker[T]{timeout: timeout, do: do})
		},
	}
}

type periodicWorker[T river.JobArgs] struct {
	river.WorkerDefaults[T]

	timeout time.Duration
	do      func(context.Context) error
}

// Timeout implements river.Worker.
func (w *periodicWorker[T]) Timeout(*river.Job[T]) time.Duration { return w.timeout }

// Work implements river.Worker.
func (w *periodicWorker[T]) Work(ctx context.Context, _ *river.Job[T]) error { return w.do(ctx) }

// makePartitions creates the partitions of the journal and of refused requests of the coming
// days, drops those of refused requests that are too old, and records the ends of epochs whose
// process was killed.
func (j *Jobs) makePartitions(ctx context.Context) error {
	created, err := journal.MakePartitions(ctx, j.Pool, j.DaysAhead)
	if err != nil {
		return err
	}
	ahead, err := journal.DaysAhead(ctx, j.Pool, j.Now())
	if err != nil {
		return err
	}
	j.Ahead(ahead)
	if created > 0 {
		j.Log.LogAttrs(ctx, slog.LevelInfo, "created journal partitions", slog.Int("created", created), slog.Int("days_ahead", ahead))
	}
	if _, err := requestlog.MakePartitions(ctx, j.Pool); err != nil {
		return err
	}
	_, err = journal.EndDead(ctx, j.Pool)
	return err
}

// scanWaiting queues scans for waiting documents that have no scan job, because their job was
// discarded. For a document whose scan is queued it does nothing: scan jobs are unique.
func (j *Jobs) scanWaiting(ctx context.Context) error {
	ids, _, _, err := j.Documents.Waiting(ctx, requeueAfter)
	if err != nil {
		return err
	}
	c, err := river.ClientFromContextSafely[pgx.Tx](ctx)
	if err != nil {
		return fmt.Errorf("jobs: queue scans: %w", err)
	}
	for _, id := range ids {
		if _, err := c.Insert(ctx, ScanDocumentArgs{Document: id}, nil); err != nil {
			return fmt.Errorf("jobs: queue a scan: %w", err)
		}
	}
	return nil
}

// sweepDocuments removes files that belong to no document, and files whose configured
// retention has passed. If one part fails, the other still runs.
func (j *Jobs) sweepDocuments(ctx context.Context) error {
	swept, err := j.Documents.Sweep(ctx)
	j.Removed("orphan", swept)
	expired, retainErr := j.Documents.DeleteExpired(ctx)
	j.Removed("retention", expired)
	if swept+expired > 0 {
		j.Log.LogAttrs(ctx, slog.LevelInfo, "removed files of documents", slog.Int("without_record", swept), slog.Int("retention_passed", expired))
	}
	return errors.Join(err, retainErr)
}

// countAnswers counts the new entries of the journal.
func (j *Jobs) countAnswers(ctx context.Context) error {
	settled, err := j.Tally.Count(ctx)
	if !settled.IsZero() {
		j.Counted(settled)
	}
	return err
}

// chainAudit chains the hours of the audit trail that are over.
func (j *Jobs) chainAudit(ctx context.Context) error {
	_, err := audit.ExtendChain(ctx, j.Pool)
	if errors.Is(err, audit.ErrChainBusy) {
		return nil // the next run does it
	}
	return err
}

// renewRows signs rows that decide access anew after a rotation of the pepper.
func (j *Jobs) renewRows(ctx context.Context) error {
	_, err := rowmac.Renew(ctx, j.Pool, j.Access.Peppers)
	return err
}
