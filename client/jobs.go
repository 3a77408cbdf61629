package client

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Job is a file of numbers to verify, and what became of it.
type Job struct {
	ID         string     `json:"jobId"`
	Name       string     `json:"name"`
	Mode       string     `json:"mode"` // live or test
	State      JobState   `json:"state"`
	Reason     string     `json:"reason"` // why it failed, or waits
	Bytes      int64      `json:"bytes"`  // of the file as it was sent
	Rows       int64      `json:"rows"`   // of the file; 0 until it is checked
	Answered   int64      `json:"answered"`
	Rejected   int64      `json:"rejected"`
	Progress   int        `json:"progress"` // in percent
	HasResult  bool       `json:"hasResult"`
	CreatedAt  time.Time  `json:"createdAt"`
	ReceivedAt *time.Time `json:"receivedAt"`
	StartedAt  *time.Time `json:"startedAt"`
	FinishedAt *time.Time `json:"finishedAt"`
	KeptUntil  *time.Time `json:"keptUntil"` // when the result is deleted
}

// JobState is the state of a job.
type JobState string

// The states.
const (
	JobWaiting   JobState = "waiting"  // for its file
	JobChecking  JobState = "checking" // the file is read, counted and judged
	JobHeld      JobState = "held"     // it looks like number scanning, and waits for the regulator's staff
	JobRunning   JobState = "running"  // rows are answered
	JobWriting   JobState = "writing"  // the result is written
	JobDone      JobState = "done"
	JobCancelled JobState = "cancelled"
	JobFailed    JobState = "failed"
)

// Ended reports whether the job has ended.
func (s JobState) Ended() bool { return s == JobDone || s == JobCancelled || s == JobFailed }

const jobsPath = "/api/v1/jobs"

func jobPath(id string) string { return jobsPath + "/" + url.PathEscape(id) }

// NewJob describes a job to create.
type NewJob struct {
	Name           string // for people; may be empty
	IdempotencyKey string // as in [Application]
}

// CreateJob creates a job, which waits for its file. The key needs the right jobs, as for
// everything about files.
func (c *Client) CreateJob(ctx context.Context, key Secret, j NewJob) (*Job, error) {
	r, err := c.newWatch(ctx, "create job", http.MethodPost, jobsPath, key, map[string]any{"name": j.Name})
	if err != nil {
		return nil, err
	}
	if err := r.once(j.IdempotencyKey); err != nil {
		return nil, err
	}
	return sendJob(ctx, c, r)
}

// SendJobFile sends the file of a job: CSV with the columns number, and optionally since
// and externalId, plain or compressed with gzip or zstd.
func (c *Client) SendJobFile(ctx context.Context, key Secret, id string, content io.Reader, contentType string) (*Job, error) {
	r, err := c.newWatch(ctx, "send job file", http.MethodPut, jobPath(id)+"/file", key, nil)
	if err != nil {
		return nil, err
	}
	if err := r.set("Content-Type", cmp.Or(contentType, "text/csv")); err != nil {
		return nil, err
	}
	r.limit = importTimeout
	r.header.Set("Expect", "100-continue")
	r.form = &form{content: content, size: -1}
	if s, ok := content.(io.Seeker); ok {
		r.form.measure(s)
	}
	return sendJob(ctx, c, r)
}

// Jobs returns the jobs of the organisation in the mode of the key, newest first, at most
// 100: those before a job, or the newest if before is empty.
func (c *Client) Jobs(ctx context.Context, key Secret, before string) ([]Job, error) {
	path := jobsPath
	if before != "" {
		path += "?before=" + url.QueryEscape(before)
	}
	type list struct {
		Jobs []Job `json:"jobs"`
	}
	data, err := readData(ctx, c, key, "jobs", path, func(d *list) bool { return d.Jobs == nil })
	if err != nil {
		return nil, err
	}
	return data.Jobs, nil
}

// Job returns one job.
func (c *Client) Job(ctx context.Context, key Secret, id string) (*Job, error) {
	r, err := c.newRead(ctx, "job", jobPath(id), key)
	if err != nil {
		return nil, err
	}
	return sendJob(ctx, c, r)
}

// CancelJob ends a job. There is no result then.
func (c *Client) CancelJob(ctx context.Context, key Secret, id string) (*Job, error) {
	r, err := c.newWatch(ctx, "cancel job", http.MethodPost, jobPath(id)+"/cancel", key, nil)
	if err != nil {
		return nil, err
	}
	r.repeatable = true // the result is the same
	return sendJob(ctx, c, r)
}

// JobResult writes the result of a job to w: CSV with a line for each row of the file.
func (c *Client) JobResult(ctx context.Context, key Secret, id string, w io.Writer) error {
	r, err := c.newRead(ctx, "job result", jobPath(id)+"/result", key)
	if err != nil {
		return err
	}
	r.header.Set("Accept", "text/csv, application/json")
	r.into, r.limit = w, importTimeout
	_, err = c.sendWithRetries(ctx, r)
	return err
}

func sendJob(ctx context.Context, c *Client, r *request) (*Job, error) {
	return sendData(ctx, c, r, func(d *Job) bool { return d.ID == "" || d.State == "" })
}
