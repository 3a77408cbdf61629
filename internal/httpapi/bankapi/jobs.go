package bankapi

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/filejob"
	"github.com/lineproof/lineproof/internal/keyright"
	"github.com/lineproof/lineproof/internal/web"
)

const (
	jobsPath = "/api/v1/jobs"
	jobPath  = jobsPath + "/{jobId}"
)

func (a *API) jobOperations() []Operation {
	return []Operation{
		{http.MethodPost, jobsPath, keyright.Jobs, Short, a.createJob},
		{http.MethodGet, jobsPath, keyright.Jobs, Short, a.showJobs},
		{http.MethodGet, jobPath, keyright.Jobs, Short, a.showJob},
		{http.MethodPut, jobPath + "/file", keyright.Jobs, File, a.receiveFile},
		{http.MethodGet, jobPath + "/result", keyright.Jobs, File, a.sendResult},
		{http.MethodPost, jobPath + "/cancel", keyright.Jobs, Short, a.cancelJob},
	}
}

type jobResponse struct {
	JobID      string  `json:"jobId"`
	Name       string  `json:"name"`
	Mode       string  `json:"mode"`
	State      string  `json:"state"`
	Reason     string  `json:"reason"`
	Bytes      int64   `json:"bytes"`
	Rows       int64   `json:"rows"`
	Answered   int64   `json:"answered"`
	Rejected   int64   `json:"rejected"`
	Progress   int     `json:"progress"`
	HasResult  bool    `json:"hasResult"`
	CreatedAt  string  `json:"createdAt"`
	ReceivedAt *string `json:"receivedAt"`
	StartedAt  *string `json:"startedAt"`
	FinishedAt *string `json:"finishedAt"`
	KeptUntil  *string `json:"keptUntil"`
}

func jobOf(j *filejob.Job) jobResponse {
	return jobResponse{
		JobID: j.ID.String(), Name: j.Name, Mode: j.Owner.Mode, State: string(j.State), Reason: j.Reason, Bytes: j.Bytes, Rows: j.Rows, Answered: j.Answered, Rejected: j.Rejected,
		Progress: j.Progress(), HasResult: j.HasResult(), CreatedAt: stamp(j.Created),
		ReceivedAt: maybeStamp(j.Received), StartedAt: maybeStamp(j.Started), FinishedAt: maybeStamp(j.Finished), KeptUntil: maybeStamp(j.KeptUntil),
	}
}

func maybeStamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := stamp(t)
	return &text
}

func (c *Call) jobOwner() filejob.Owner {
	return filejob.Owner{Entity: c.Owner.Entity, Mode: c.Owner.Mode}
}

// createJob serves POST /api/v1/jobs.
func (a *API) createJob(_ http.ResponseWriter, r *http.Request, c *Call) error {
	var name string
	if err := c.Decode(maxList, nil, Field{Name: "name", Text: &name}); err != nil {
		return err
	}
	j, err := a.Jobs.Create(r.Context(), c.jobOwner(), c.Key, name, filejob.By(c.By))
	if err != nil {
		return err
	}
	return c.Respond(jobOf(&j))
}

// jobsPage is how many jobs a response lists.
const jobsPage = 100

// showJobs serves GET /api/v1/jobs.
func (a *API) showJobs(_ http.ResponseWriter, r *http.Request, c *Call) error {
	values, wrong, err := c.Query("before")
	if err != nil {
		return err
	}
	var before uuid.UUID
	if values.Has("before") {
		before, err = uuid.Parse(values.Get("before"))
		wrong.Check(err == nil, "before", fault.BadFormat, "Must be the jobId of a job.")
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	jobs, err := a.Jobs.Jobs(r.Context(), c.jobOwner(), before, jobsPage)
	if err != nil {
		return err
	}
	shown := make([]jobResponse, len(jobs))
	for i := range jobs {
		shown[i] = jobOf(&jobs[i])
	}
	return c.Respond(map[string]any{"jobs": shown})
}

// jobID returns the job in the path. What is not an id is not the id of a job.
func jobID(r *http.Request) (uuid.UUID, error) {
	id, err := uuid.Parse(r.PathValue("jobId"))
	if err != nil {
		return id, filejob.ErrNoJob
	}
	return id, nil
}

// showJob serves GET /api/v1/jobs/{jobId}.
func (a *API) showJob(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	j, err := a.Jobs.Job(r.Context(), c.jobOwner(), id)
	if err != nil {
		return err
	}
	return c.Respond(jobOf(&j))
}

// receiveFile serves PUT /api/v1/jobs/{jobId}/file.
func (a *API) receiveFile(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	file, err := c.File()
	if err != nil {
		return err
	}
	if _, err := a.Jobs.CheckWaiting(r.Context(), c.jobOwner(), id); err != nil {
		return err // before the file is sent, if the client waits for 100 Continue
	}
	j, err := a.Jobs.Receive(r.Context(), c.jobOwner(), id, file, filejob.By(c.By))
	if err != nil {
		return c.FileError(err)
	}
	return c.Respond(jobOf(&j))
}

// sendResult serves GET /api/v1/jobs/{jobId}/result: a file, without the envelope.
func (a *API) sendResult(w http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	in, err := a.Jobs.Result(r.Context(), c.jobOwner(), id)
	if err != nil {
		return err
	}
	defer in.Close()
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="result-`+id.String()+`.csv"`)
	web.SetAPIHeaders(h)
	var from io.Reader = in
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else if from, err = gzip.NewReader(in); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(w, from); err != nil {
		web.AbortResponse(w) // it is too late for an error response
	}
	return nil
}

// cancelJob serves POST /api/v1/jobs/{jobId}/cancel.
func (a *API) cancelJob(_ http.ResponseWriter, r *http.Request, c *Call) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	j, err := a.Jobs.Cancel(r.Context(), c.jobOwner(), id, filejob.By(c.By))
	if err != nil {
		return err
	}
	return c.Respond(jobOf(&j))
}
