// Package jobs is the transport by which time calls: work that is due by the
// clock or that a request left to be done. Each job makes one call into a
// domain package.
//
// River keeps the jobs in the database and chooses one node that starts the
// periodic ones, so that every node can run the same code.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/clamd"
	"github.com/lineproof/lineproof/internal/document"
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/people"
	"github.com/lineproof/lineproof/internal/supply"
	"github.com/lineproof/lineproof/internal/tally"
)

// Jobs is what the jobs need. All fields but Scanner are required.
type Jobs struct {
	Pool      *pgxpool.Pool
	Keeper    *access.Keeper
	Answers   *idempotency.Store
	People    *people.People
	Documents *document.Store
	Tally     *tally.Tally
	Supply    *supply.Desk
	Scanner   *clamd.Scanner              // nil when there is none: documents wait
	DaysAhead int                         // journal partitions to make ahead
	Ahead     func(int)                   // told how many there are
	Scanned   func(outcome string)        // told of every try to scan: a state, waiting or failed
	Removed   func(why string, files int) // told of files that were removed: orphan or retention
	Counted   func(settled time.Time)     // told up to when the journal is counted for good
	Now       func() time.Time
	Log       *slog.Logger

	noMail    sync.Once // it is said once that letters wait
	noScanner sync.Once // and that documents do
}

// Client is River's client for our transactions.
type Client = river.Client[pgx.Tx]

// New returns a client that works the jobs once it is started.
func New(j *Jobs) (*Client, error) {
	workers := river.NewWorkers()
	for _, add := range []error{
		river.AddWorkerSafely(workers, &makePartitions{jobs: j}),
		river.AddWorkerSafely(workers, &forgetExpired{jobs: j}),
		river.AddWorkerSafely(workers, &sendLetter{jobs: j}),
		river.AddWorkerSafely(workers, &scanDocument{jobs: j}),
		river.AddWorkerSafely(workers, &scanWaiting{jobs: j}),
		river.AddWorkerSafely(workers, &sweepDocuments{jobs: j}),
		river.AddWorkerSafely(workers, &countAnswers{jobs: j}),
		river.AddWorkerSafely(workers, &noteReach{jobs: j}),
	} {
		if add != nil {
			return nil, fmt.Errorf("jobs: register: %w", add)
		}
	}
	c, err := river.NewClient(riverpgxv5.New(j.Pool), &river.Config{
		Workers: workers,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}, documents: {MaxWorkers: scanWorkers}, counts: {MaxWorkers: 1}},
		PeriodicJobs: []*river.PeriodicJob{
			periodic(time.Hour, MakePartitionsArgs{}),
			periodic(time.Hour, ForgetExpiredArgs{}),
			periodic(forgotten, ScanWaitingArgs{}),
			periodic(24*time.Hour, SweepDocumentsArgs{}),
			periodic(countEvery, CountAnswersArgs{}),
			periodic(time.Hour, NoteReachArgs{}),
		},
		JobTimeout: time.Minute,
		// What a node had begun when it was killed is taken up by another soon: a
		// letter about a new password is of no use after an hour.
		RescueStuckJobsAfter: 3 * time.Minute,
		Logger:               slog.New(newWarnings(j.Log.Handler())),
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: make the client: %w", err)
	}
	return c, nil
}

// queuer returns a client that queues jobs and works none. It says nothing: what
// it cannot queue is an error, and a worker that is not told of a job looks by
// itself a second later.
func queuer(pool *pgxpool.Pool) (*Client, error) {
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("jobs: make a client that queues: %w", err)
	}
	return c, nil
}

func periodic(every time.Duration, args river.JobArgs) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(every),
		func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true})
}

// once keeps a job that is due from being queued beside its own like.
func once(every time.Duration) river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 5, UniqueOpts: river.UniqueOpts{ByPeriod: every}}
}

// Stop lets the jobs that run finish, until ctx ends; then they are cancelled.
func Stop(ctx context.Context, c *Client) error {
	err := c.Stop(ctx)
	if err == nil {
		return nil
	}
	now, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return fmt.Errorf("jobs: stop: %w", errors.Join(err, c.StopAndCancel(now)))
}
