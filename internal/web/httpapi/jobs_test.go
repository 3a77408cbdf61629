package httpapi_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/access/guard"
	"github.com/lineproof/lineproof/internal/answer/filejob"
	"github.com/lineproof/lineproof/internal/evidence/journal"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

const jobsPath = "/api/v1/jobs"

func (s *stack) newJobs(t testing.TB, g *guard.Guard, region *phone.Region) *filejob.Service {
	t.Helper()
	return &filejob.Service{
		Pool: s.pool, Files: must(blob.OpenDir(t.TempDir()))(t), Verifier: s.Verifier, Records: &filejob.Records{Node: "jobs", Numbers: must(journal.OpenEpoch(t.Context(), s.pool, "jobs", 1))(t)}, Guard: g, Region: region,
		Now: time.Now, MaxRows: 1000, MaxBytes: 1 << 20, MaxWaiting: 1 << 30, Keep: time.Hour,
		Caller: func(ctx context.Context, from pg.DB, key uuid.UUID) (filejob.Caller, error) {
			who, err := s.Access.PrincipalOf(ctx, from, key)
			return filejob.Caller{Owner: filejob.Owner{Entity: who.Entity, Mode: who.Mode}, Purpose: who.Purpose, Budget: httpapi.BudgetOf(&who)}, err
		},
	}
}

// job creates a job in a state and returns its id.
func (s *stack) job(t *testing.T, key string, state filejob.State) string {
	t.Helper()
	id := field(t, s.do(t, post(jobsPath, key, `{"name":"customers"}`)).Body.Bytes(), "data", "jobId")
	if state == filejob.Waiting {
		return id
	}
	if res := s.do(t, put(jobsPath+"/"+id+"/file", key, "text/csv", []byte("number\nnobody\n"))); res.Code != http.StatusOK {
		t.Fatalf("the file is not received: %s", res.Body)
	}
	if state == filejob.Done {
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() {
			defer close(running)
			s.Bank.Jobs.Run(ctx, slog.New(slog.DiscardHandler))
		}()
		for start := time.Now(); field(t, s.do(t, get(jobsPath+"/"+id, key)).Body.Bytes(), "data", "state") != "done"; {
			if time.Since(start) > 20*time.Second {
				t.Fatal("the job is not done after 20 seconds")
			}
			<-time.After(10 * time.Millisecond)
		}
		stop()
		<-running
	}
	return id
}

// jobState returns the state in which a job must be for an operation.
func jobState(path string) filejob.State {
	if strings.HasSuffix(path, "/result") {
		return filejob.Done
	}
	return filejob.Waiting
}

// jobRequest returns a request about a job that succeeds with a key of the bank.
func jobRequest(t *testing.T, s *stack, method, path string) *http.Request {
	t.Helper()
	super(t, s, `UPDATE file_job SET state = 'cancelled' WHERE state = 'waiting'`) // there may be only so many
	if path == jobsPath {
		if method == http.MethodPost {
			return post(jobsPath, "", `{"name":"x"}`)
		}
		return get(jobsPath, "")
	}
	path = strings.Replace(path, "{jobId}", s.job(t, s.bankKey(t, access.Live), jobState(path)), 1)
	switch method {
	case http.MethodPut:
		return put(path, "", "text/csv", []byte("number\n"+knownNumber+"\n"))
	case http.MethodPost:
		return post(path, "", `{}`)
	}
	return get(path, "")
}

func jobAnswers() map[string]answer {
	some := jobsPath + "/" + uuid.NewString()
	all := make(map[string]answer)
	for name, ask := range map[string]func(key string) *http.Request{
		"jobs": func(key string) *http.Request { return get(jobsPath, key) }, "jobs_create": func(key string) *http.Request { return post(jobsPath, key, `{"name":"x"}`) },
		"jobs_show":   func(key string) *http.Request { return get(some, key) },
		"jobs_file":   func(key string) *http.Request { return put(some+"/file", key, "text/csv", []byte("number\n")) },
		"jobs_result": func(key string) *http.Request { return get(some+"/result", key) },
		"jobs_cancel": func(key string) *http.Request { return without(http.MethodPost, some+"/cancel", key) },
	} {
		maps.Copy(all, bankTrouble(name, ask))
	}
	on := func(state filejob.State, ask func(key, job string) *http.Request) asker {
		return func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			return ask(key, jobsPath+"/"+s.job(t, key, state))
		}
	}
	no := func(ask func(key, job string) *http.Request) asker {
		return func(t *testing.T, s *stack) *http.Request { return ask(s.bankKey(t, access.Live), some) }
	}
	create := func(body string) asker {
		return func(t *testing.T, s *stack) *http.Request { return post(jobsPath, s.bankKey(t, access.Live), body) }
	}
	file := func(kind, body string) func(key, job string) *http.Request {
		return func(key, job string) *http.Request { return put(job+"/file", key, kind, []byte(body)) }
	}
	show := func(key, job string) *http.Request { return get(job, key) }
	result := func(key, job string) *http.Request { return get(job+"/result", key) }
	cancel := func(key, job string) *http.Request { return without(http.MethodPost, job+"/cancel", key) }
	maps.Copy(all, map[string]answer{
		"jobs_ok":           {200, on(filejob.Waiting, func(key, _ string) *http.Request { return get(jobsPath, key) })},
		"jobs_before":       {400, on(filejob.Waiting, func(key, _ string) *http.Request { return get(jobsPath+"?before=x&limit=2", key) })},
		"jobs_create_ok":    {200, create(`{"name":"customers"}`)},
		"jobs_create_wrong": {400, create(`{"name":"` + strings.Repeat("x", 101) + `","rows":3}`)},
		"jobs_create_many": {409, func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			for range 20 {
				s.do(t, post(jobsPath, key, `{"name":"x"}`))
			}
			return post(jobsPath, key, `{"name":"x"}`)
		}},
		"jobs_create_large": {413, create(`{"name":"` + strings.Repeat("x", 17<<10) + `"}`)},
		"jobs_create_type": {415, func(t *testing.T, s *stack) *http.Request {
			r := create(`{}`)(t, s)
			r.Header.Del("Content-Type")
			return r
		}},
		"jobs_show_ok":   {200, on(filejob.Waiting, show)},
		"jobs_show_done": {200, on(filejob.Done, show)},
		"jobs_show_none": {404, no(show)},
		"jobs_show_other": {404, func(t *testing.T, s *stack) *http.Request {
			return show(s.bankKey(t, access.Test), jobsPath+"/"+s.job(t, s.bankKey(t, access.Live), filejob.Waiting))
		}},
		"jobs_file_ok":         {200, on(filejob.Waiting, file("text/csv", "number\n"+knownNumber+"\n"))},
		"jobs_file_none":       {404, no(file("text/csv", "number\n"))},
		"jobs_file_again":      {409, on(filejob.Checking, file("text/csv", "number\n"))},
		"jobs_file_large":      {413, on(filejob.Waiting, file("text/csv", strings.Repeat(knownNumber+"\n", 80_000)))},
		"jobs_file_type":       {415, on(filejob.Waiting, file("application/json", "{}"))},
		"jobs_result_ok":       {200, on(filejob.Done, result)},
		"jobs_result_none":     {404, no(result)},
		"jobs_result_early":    {409, on(filejob.Waiting, result)},
		"jobs_cancel_ok":       {200, on(filejob.Waiting, cancel)},
		"jobs_cancel_none":     {404, no(cancel)},
		"jobs_cancel_too_late": {409, on(filejob.Done, cancel)},
		"jobs_result_deleted": {410, func(t *testing.T, s *stack) *http.Request {
			key := s.bankKey(t, access.Live)
			id := s.job(t, key, filejob.Done)
			super(t, s, `UPDATE file_job SET result = NULL`)
			return result(key, jobsPath+"/"+id)
		}},
	})
	return all
}
