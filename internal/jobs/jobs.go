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
	"github.com/lineproof/lineproof/internal/idempotency"
	"github.com/lineproof/lineproof/internal/people"
)

// Jobs is what the jobs need. All fields are required.
type Jobs struct {
	Pool      *pgxpool.Pool
	Keeper    *access.Keeper
	Answers   *idempotency.Store
	People    *people.People
	DaysAhead int       // journal partitions to make ahead
	Ahead     func(int) // told how many there are
	Now       func() time.Time
	Log       *slog.Logger

	noMail sync.Once // it is said once that letters wait
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
	} {
		if add != nil {
			return nil, fmt.Errorf("jobs: register: %w", add)
		}
	}
	c, err := river.NewClient(riverpgxv5.New(j.Pool), &river.Config{
		Workers: workers,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}},
		PeriodicJobs: []*river.PeriodicJob{
			periodic(time.Hour, MakePartitionsArgs{}),
			periodic(time.Hour, ForgetExpiredArgs{}),
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
