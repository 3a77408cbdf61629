// Package jobs runs scheduled and queued work. Each job makes one call into a
// domain package.
//
// River stores the jobs in the database and elects one node that schedules the
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
	"github.com/riverqueue/river/rivertype"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/access/people"
	"github.com/lineproof/lineproof/internal/evidence/tally"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/clamd"
	"github.com/lineproof/lineproof/internal/regulator/document"
)

// Jobs has the dependencies of the jobs. All fields but Scanner and Worked are required.
type Jobs struct {
	Pool      *pgxpool.Pool
	Access    *access.Service
	Answers   *idempotency.Store
	People    *people.People
	Documents *document.Store
	Tally     *tally.Tally
	Supply    *supply.Service
	Scanner   *clamd.Scanner                 // nil if none is configured: documents wait
	DaysAhead int                            // days for which to create journal partitions in advance
	Ahead     func(int)                      // called with the number of days that have partitions
	Scanned   func(outcome string)           // called for every attempt to scan: a state, waiting or failed
	Removed   func(reason string, files int) // called with the number of removed files: orphan or retention
	Counted   func(settled time.Time)        // called with the time up to which the counts of the journal are final
	Worked    func(kind string, err error)   // called when an attempt of a job has ended
	Now       func() time.Time
	Log       *slog.Logger

	noMail    sync.Once // logs once that e-mails wait
	noScanner sync.Once // logs once that documents wait
}

// Client is River's client for pgx transactions.
type Client = river.Client[pgx.Tx]

// New returns a client that runs the jobs once it is started.
func New(j *Jobs) (*Client, error) {
	workers, repeat := river.NewWorkers(), j.periodic()
	failed := errors.Join(river.AddWorkerSafely(workers, &sendEmail{jobs: j}), river.AddWorkerSafely(workers, &scanDocument{jobs: j}))
	plans := make([]*river.PeriodicJob, len(repeat))
	for i, p := range repeat {
		failed, plans[i] = errors.Join(failed, p.add(workers)), p.plan
	}
	if failed != nil {
		return nil, fmt.Errorf("jobs: register: %w", failed)
	}
	c, err := river.NewClient(riverpgxv5.New(j.Pool), &river.Config{
		Workers:      workers,
		Queues:       map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}, documentQueue: {MaxWorkers: scanWorkers}, countQueue: {MaxWorkers: 1}},
		PeriodicJobs: plans,
		JobTimeout:   time.Minute,
		Middleware:   []rivertype.Middleware{river.WorkerMiddlewareFunc(j.work)},
		// Every login of the database may send notifications, and by one it could pause a
		// queue or cancel a job. So River does not listen and asks every second.
		PollOnly: true,
		// A job whose node was killed is soon run by another node: an e-mail with a
		// link to reset a password is of no use after an hour.
		RescueStuckJobsAfter: 3 * time.Minute,
		Logger:               slog.New(newRiverLog(j.Log.Handler())),
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: create the client: %w", err)
	}
	return c, nil
}

// Kinds returns the kinds of all jobs.
func Kinds() []string {
	kinds := []string{SendEmailArgs{}.Kind(), ScanDocumentArgs{}.Kind()}
	for _, p := range (&Jobs{}).periodic() {
		kinds = append(kinds, p.kind)
	}
	return kinds
}

// work runs an attempt of a job and reports how it ended. A job that waits has neither
// succeeded nor failed.
func (j *Jobs) work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	err := do(ctx)
	if _, waits := errors.AsType[*river.JobSnoozeError](err); !waits && j.Worked != nil {
		j.Worked(job.Kind, err)
	}
	return err
}

// insertOnly returns a client that queues jobs and runs none. Its log is
// discarded: if it cannot queue a job, it returns an error, and if it cannot
// notify the workers of a job, they poll for it a second later anyway.
func insertOnly(pool *pgxpool.Pool) (*Client, error) {
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("jobs: create a client for inserts: %w", err)
	}
	return c, nil
}

// Stop waits for the running jobs until ctx ends, and then cancels them.
func Stop(ctx context.Context, c *Client) error {
	err := c.Stop(ctx)
	if err == nil {
		return nil
	}
	cancelCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return fmt.Errorf("jobs: stop: %w", errors.Join(err, c.StopAndCancel(cancelCtx)))
}
