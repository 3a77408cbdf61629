// Package filejob verifies files of numbers that organisations send, and returns files
// with the answers.
//
// What it guarantees:
//
//   - Every row that could be read has exactly one record in the journal, as if it had
//     been sent to verify, and one line in the result; every other row has one line that
//     says why. That holds whatever is killed at whatever moment: the records of a chunk
//     of rows, and how far the job has come, are committed together.
//   - No answer leaves before its record: the result is made from the journal, when all
//     rows are recorded. A record that is erased before that has no number in the result.
//   - A file spends the budget of different numbers of the year, which it shares with
//     verifications and watch-lists, all of it before the first row is answered, or
//     nothing, and the one of a day that files have. Before a row is answered, the file is
//     judged as a whole: one that looks like a scan is held until two people release it.
//   - A job ends when its key is revoked, and waits while its organisation is stopped.
//   - Verifications do not wait for jobs: all jobs of a node take turns with small chunks,
//     over connections of their own, and leave a third of the time of their core to requests.
//   - The sent file is deleted when the job ends, and the result when its time is over.
//     Their names in the store say nothing, and no table has a number.
package filejob

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/verify"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pause"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/audit"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
)

// Service takes files, and runs the jobs. All fields but Records are required; that is
// needed to run jobs.
type Service struct {
	Pool     *pgxpool.Pool
	Files    blob.Store
	Verifier *verify.Verifier // answers; its queue is not used
	Records  *Records
	Guard    *guard.Guard
	Region   *phone.Region
	// Caller returns the present rights of a key, or an error of code UNAUTHENTICATED if it is no
	// longer valid.
	Caller  func(ctx context.Context, from pg.DB, key uuid.UUID) (Caller, error)
	Now     func() time.Time
	MaxRows int64 // of a file
	// MaxBytes is how large a file may be as it is sent; the transports see to it. MaxWaiting
	// is how many bytes of sent files the store has of one organisation, with those of jobs
	// that were cancelled and are not deleted yet.
	MaxBytes, MaxWaiting int64
	Uploads              *pause.TurnsByKey // limits how many files an organisation sends at once to this node; nil does not
	Keep                 time.Duration     // how long a result is kept
	Observe              Observe           // what is counted; its functions can be nil

	chunk int // rows in one transaction; 0 means chunkRows
}

// Observe is called while jobs are run.
type Observe struct {
	Ended func(State)                    // a job is done or has failed
	Rows  func(answered, rejected int64) // a chunk of rows is recorded
}

// Owner is the organisation whose jobs a call is about.
type Owner struct {
	Entity uuid.UUID
	Mode   string // of the key: live or test; "" for both
}

// By is the person or client who acts on a job.
type By struct {
	Actor   audit.Actor
	Request uuid.UUID
}

// Caller has the fields of the caller with which every row of a job is recorded.
type Caller struct {
	Owner

	Purpose, PurposeText string
	Budget               guard.Budget
}

// State is the state of a job. The values are stored.
type State string

// The states.
const (
	Waiting   State = "waiting"  // for its file
	Checking  State = "checking" // the file is read, and the budget spent
	Held      State = "held"     // the file looks like a scan, and waits for staff
	Running   State = "running"  // rows are answered and recorded
	Writing   State = "writing"  // all rows are recorded, and the result is written
	Done      State = "done"
	Cancelled State = "cancelled"
	Failed    State = "failed"
)

// Open reports whether a job in this state has not ended.
func (s State) Open() bool {
	return s == Waiting || s == Checking || s == Held || s == Running || s == Writing
}

// Job is a file and what became of it.
type Job struct {
	ID       uuid.UUID
	Owner    Owner
	Key      uuid.UUID // under which its rows are recorded
	Name     string    // that its owner gave it
	State    State
	Reason   string // why it failed
	Bytes    int64  // of the sent file
	Rows     int64  // of the file; 0 until it is checked
	Answered int64  // rows that are recorded
	Rejected int64  // rows that could not be read
	Figures         // of a live file

	Created, Received, Started, Finished time.Time // zero if that has not happened yet
	KeptUntil                            time.Time // when the result is deleted; zero until it is written

	file, result uuid.NullUUID // in the store
	place        int64         // the line after the last recorded row; 0 before the first
}

// Figures describe a held file to staff.
type Figures struct {
	Numbers      int64 // different ones
	Missed       int64 // about how many of them are not allocated
	Dense, Block int64 // how many are in dense blocks, and their size
	Steps        int64 // how many come in equal steps
}

// HasResult reports whether the result can be read.
func (j *Job) HasResult() bool { return j.result.Valid }

// Progress returns how much of the rows is done, in percent.
func (j *Job) Progress() int {
	switch {
	case j.State == Done:
		return 100
	case j.Rows == 0:
		return 0
	}
	return int((j.Answered + j.Rejected) * 100 / j.Rows)
}

const (
	maxName = 100
	// maxOpen is how many jobs of an organisation may be open, and maxDay how many it may
	// create in 24 hours: to cancel jobs does not give others room for ever.
	maxOpen = 20
	maxDay  = 1000
)

var (
	// ErrNoJob reports a job that does not exist for this caller.
	ErrNoJob = fault.New(fault.NotFound, "There is no such job.")
	// ErrTooManyJobs reports an organisation that has as many open jobs as it may.
	ErrTooManyJobs = fault.New(fault.IncompatibleState, "The organisation has "+strconv.Itoa(maxOpen)+" jobs that have not ended, which is the limit. Wait for one of them, or cancel it.")
	// ErrTooManyToday reports an organisation that has created as many jobs as it may in a day.
	ErrTooManyToday = fault.New(fault.QuotaExceeded, "The organisation has created "+strconv.Itoa(maxDay)+" jobs in 24 hours, which is the limit. Send more numbers in each file.")
	// ErrTooManyBytes reports an organisation whose files take as much room as they may.
	ErrTooManyBytes = fault.New(fault.QuotaExceeded, "The files of this organisation that wait take as much room as they may. Wait until a job has ended; its file is deleted within a minute.")
	// ErrEnded reports a job that has ended.
	ErrEnded = fault.New(fault.IncompatibleState, "This job has ended.")
)

// Create creates a job, which then waits for its file. Its rows will be recorded under a
// key of the owner.
func (s *Service) Create(ctx context.Context, o Owner, key uuid.UUID, name string, by By) (j Job, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		j, err = s.CreateIn(ctx, tx, o, key, name, by)
		return err
	})
	if err != nil {
		return Job{}, err
	}
	return j, nil
}

// CreateIn is [Service.Create] in a transaction of the caller.
func (s *Service) CreateIn(ctx context.Context, tx pg.Tx, o Owner, key uuid.UUID, name string, by By) (Job, error) {
	name = strings.TrimSpace(name)
	var wrong fault.Form
	wrong.Check(utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName && !strings.ContainsRune(name, 0), "name", fault.TooLong, "Use at most 100 characters in UTF-8.")
	if err := wrong.Err(); err != nil {
		return Job{}, err
	}
	j := Job{ID: uuid.Must(uuid.NewV7()), Owner: o, Key: key, Name: name, State: Waiting, Created: s.now()}
	// Of two calls at once the second counts the job of the first.
	if err := lockJobs(ctx, tx, o.Entity); err != nil {
		return Job{}, err
	}
	if err := checkCounts(ctx, tx, o.Entity, j.Created); err != nil {
		return Job{}, err
	}
	_, err := tx.Exec(ctx, `INSERT INTO file_job (id, entity_id, mode, key_id, name, state, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`, j.ID, o.Entity, o.Mode, key, name, j.State, j.Created)
	if err != nil {
		return Job{}, fmt.Errorf("filejob: create a job: %w", err)
	}
	return j, audit.Write(ctx, tx, audit.Entry{At: j.Created, Actor: by.Actor, Action: audit.JobCreated, Subject: j.ID, Request: by.Request, After: map[string]any{"key": key, "mode": o.Mode}})
}

// lockJobs lets the calls that count the jobs of an organisation come one after the other.
func lockJobs(ctx context.Context, tx pg.Tx, entity uuid.UUID) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('lineproof file jobs ' || $1::text, 0))`, entity.String())
	return fault.Wrap(err, "filejob: lock the jobs of an organisation")
}

// Counts are the jobs of an organisation, of live and of test keys together.
type Counts struct{ Open, MaxOpen, Day, MaxDay int64 }

// Counts returns how many jobs of an organisation have not ended, and how many it created in
// the last 24 hours.
func (s *Service) Counts(ctx context.Context, from pg.DB, entity uuid.UUID) (Counts, error) {
	return counts(ctx, from, entity, s.now())
}

func counts(ctx context.Context, from pg.DB, entity uuid.UUID, now time.Time) (Counts, error) {
	c := Counts{MaxOpen: maxOpen, MaxDay: maxDay}
	err := from.QueryRow(ctx, `SELECT (SELECT count(*) FROM file_job WHERE entity_id = $1 AND state IN ('waiting', 'checking', 'held', 'running', 'writing')),
		(SELECT count(*) FROM file_job WHERE entity_id = $1 AND mode IN ('live', 'test') AND created_at > $2)`, entity, now.Add(-24*time.Hour)).Scan(&c.Open, &c.Day)
	if err != nil {
		return Counts{}, fmt.Errorf("filejob: count jobs: %w", err)
	}
	return c, nil
}

// checkCounts refuses another job of an organisation that has as many as it may.
func checkCounts(ctx context.Context, tx pg.Tx, entity uuid.UUID, now time.Time) error {
	c, err := counts(ctx, tx, entity, now)
	switch {
	case err != nil:
		return err
	case c.Open >= maxOpen:
		return ErrTooManyJobs
	case c.Day >= maxDay:
		return ErrTooManyToday
	}
	return nil
}

// checkBytes refuses so many more bytes of an organisation whose files take as much room as
// they may. The file of a job counts until it is deleted.
func (s *Service) checkBytes(ctx context.Context, from pg.DB, entity uuid.UUID, more int64) error {
	var stored int64
	err := from.QueryRow(ctx, `SELECT coalesce(sum(bytes), 0)::bigint FROM file_job WHERE entity_id = $1 AND file IS NOT NULL`, entity).Scan(&stored)
	switch {
	case err != nil:
		return fmt.Errorf("filejob: count the bytes of files: %w", err)
	case stored+more > s.MaxWaiting:
		return ErrTooManyBytes
	}
	return nil
}

const columns = `id, entity_id, mode, key_id, name, state, reason, bytes, rows, answered, rejected, numbers, missed, dense, block, steps, created_at, received_at, started_at, finished_at, kept_until, file, result, place`

func scanJob(row pgx.CollectableRow) (j Job, err error) {
	var received, started, finished, kept *time.Time
	err = row.Scan(&j.ID, &j.Owner.Entity, &j.Owner.Mode, &j.Key, &j.Name, &j.State, &j.Reason, &j.Bytes, &j.Rows, &j.Answered, &j.Rejected, &j.Numbers, &j.Missed, &j.Dense, &j.Block, &j.Steps,
		&j.Created, &received, &started, &finished, &kept, &j.file, &j.result, &j.place)
	j.Created = j.Created.UTC()
	for _, t := range []struct {
		from *time.Time
		to   *time.Time
	}{{received, &j.Received}, {started, &j.Started}, {finished, &j.Finished}, {kept, &j.KeptUntil}} {
		if t.from != nil {
			*t.to = t.from.UTC()
		}
	}
	return j, err
}

// query returns the jobs that a condition selects.
func query(ctx context.Context, from pg.DB, which string, args ...any) ([]Job, error) {
	jobs, err := pg.Collect(ctx, from, scanJob, `SELECT `+columns+` FROM file_job `+which, args...)
	return jobs, fault.Wrap(err, "filejob: read jobs")
}

func one(jobs []Job, err error) (Job, error) {
	switch {
	case err != nil:
		return Job{}, err
	case len(jobs) == 0:
		return Job{}, ErrNoJob
	}
	return jobs[0], nil
}

// Jobs returns the jobs of an organisation, newest first, at most limit of those before a
// job; the zero id means the newest.
func (s *Service) Jobs(ctx context.Context, o Owner, before uuid.UUID, limit int) ([]Job, error) {
	return query(ctx, s.Pool, `WHERE entity_id = $1 AND ($2 = '' OR mode = $2) AND ($3 = '00000000-0000-0000-0000-000000000000'::uuid OR id < $3) ORDER BY id DESC LIMIT $4`, o.Entity, o.Mode, before, limit)
}

// Job returns one job of an organisation, or [ErrNoJob].
func (s *Service) Job(ctx context.Context, o Owner, id uuid.UUID) (Job, error) {
	return one(query(ctx, s.Pool, `WHERE id = $1 AND entity_id = $2 AND ($3 = '' OR mode = $3)`, id, o.Entity, o.Mode))
}

// Cancel ends a job. What is recorded stays recorded, and the budget spent; there is no
// result. A job that was cancelled before stays as it is.
func (s *Service) Cancel(ctx context.Context, o Owner, id uuid.UUID, by By) (Job, error) {
	err := pg.InTx(ctx, s.Pool, func(tx pg.Tx) error {
		now := s.now()
		done, err := tx.Exec(ctx, `UPDATE file_job SET state = $4, finished_at = $5, reason = '' WHERE id = $1 AND entity_id = $2 AND ($3 = '' OR mode = $3) AND state IN ('waiting', 'checking', 'held', 'running', 'writing')`,
			id, o.Entity, o.Mode, Cancelled, now)
		if err != nil {
			return fmt.Errorf("filejob: cancel: %w", err)
		}
		if done.RowsAffected() == 0 {
			return nil
		}
		return audit.Write(ctx, tx, audit.Entry{At: now, Actor: by.Actor, Action: audit.JobCancelled, Subject: id, Request: by.Request})
	})
	if err != nil {
		return Job{}, err
	}
	j, err := s.Job(ctx, o, id)
	if err == nil && j.State != Cancelled {
		return Job{}, ErrEnded
	}
	return j, err
}

// now returns the time in whole microseconds, the precision of PostgreSQL.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// errChanged means that the job is no longer as the run knows it: it was cancelled, or
// another process has continued it.
var errChanged = errors.New("filejob: the job was changed meanwhile")

// change updates an open job in the state in which the run knows it.
func change(ctx context.Context, tx pg.Tx, j *Job, set string, args ...any) error {
	done, err := tx.Exec(ctx, `UPDATE file_job SET `+set+` WHERE id = $1 AND state = $2 AND place = $3`, append([]any{j.ID, j.State, j.place}, args...)...)
	if err != nil {
		return fmt.Errorf("filejob: save: %w", err)
	}
	if done.RowsAffected() == 0 {
		return errChanged
	}
	return nil
}

// CountOpen returns how many jobs have their file and have not ended, and when the file of
// the oldest was received.
func (s *Service) CountOpen(ctx context.Context) (jobs int64, oldest time.Time, err error) {
	var first *time.Time
	err = s.Pool.QueryRow(ctx, `SELECT count(*), min(received_at) FROM file_job WHERE state IN ('checking', 'running', 'writing')`).Scan(&jobs, &first)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("filejob: count jobs: %w", err)
	}
	if first != nil {
		oldest = first.UTC()
	}
	return jobs, oldest, nil
}
