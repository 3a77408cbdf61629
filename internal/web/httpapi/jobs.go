package httpapi

import (
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"

	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

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
		ReceivedAt: stampOrNull(j.Received), StartedAt: stampOrNull(j.Started), FinishedAt: stampOrNull(j.Finished), KeptUntil: stampOrNull(j.KeptUntil),
	}
}

func (c *bankCall) jobOwner() filejob.Owner {
	return filejob.Owner{Entity: c.owner.Entity, Mode: c.owner.Mode}
}

// createJob serves POST /api/v1/jobs.
func (b *Bank) createJob(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	var name string
	ticket, err := c.decodeOnce("create-job", field{name: "name", text: &name})
	if err != nil {
		return err
	}
	return c.api.once(c.w, r, ticket, func(tx pg.Tx) (any, error) {
		j, err := b.Jobs.CreateIn(r.Context(), tx, c.jobOwner(), c.key, name, filejob.By(c.by))
		return jobOf(&j), err
	}, nil)
}

// jobsPage is how many jobs a response lists.
const jobsPage = 100

// showJobs serves GET /api/v1/jobs.
func (b *Bank) showJobs(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	values, wrong, err := readQuery(r.URL.RawQuery, "before")
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
	jobs, err := b.Jobs.Jobs(r.Context(), c.jobOwner(), before, jobsPage)
	if err != nil {
		return err
	}
	shown := make([]jobResponse, len(jobs))
	for i := range jobs {
		shown[i] = jobOf(&jobs[i])
	}
	return c.respond(map[string]any{"jobs": shown})
}

// showJob serves GET /api/v1/jobs/{jobId}.
func (b *Bank) showJob(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "jobId", filejob.ErrNoJob)
	if err != nil {
		return err
	}
	j, err := b.Jobs.Job(r.Context(), c.jobOwner(), id)
	if err != nil {
		return err
	}
	return c.respond(jobOf(&j))
}

// receiveFile serves PUT /api/v1/jobs/{jobId}/file.
func (b *Bank) receiveFile(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "jobId", filejob.ErrNoJob)
	if err != nil {
		return err
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	if _, err := b.Jobs.CheckWaiting(r.Context(), c.jobOwner(), id); err != nil {
		return err // before the file is sent, if the client waits for 100 Continue
	}
	j, err := b.Jobs.Receive(r.Context(), c.jobOwner(), id, file, filejob.By(c.by))
	if err != nil {
		return c.fileError(err)
	}
	return c.respond(jobOf(&j))
}

// sendResult serves GET /api/v1/jobs/{jobId}/result: a file, without the envelope.
func (b *Bank) sendResult(w http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "jobId", filejob.ErrNoJob)
	if err != nil {
		return err
	}
	in, err := b.Jobs.Result(r.Context(), c.jobOwner(), id)
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
func (b *Bank) cancelJob(_ http.ResponseWriter, r *http.Request, c *bankCall) error {
	id, err := pathID(r, "jobId", filejob.ErrNoJob)
	if err != nil {
		return err
	}
	j, err := b.Jobs.Cancel(r.Context(), c.jobOwner(), id, filejob.By(c.by))
	if err != nil {
		return err
	}
	return c.respond(jobOf(&j))
}
