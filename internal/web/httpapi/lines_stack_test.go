package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/line/linestore"
	"github.com/lineproof/lineproof/internal/line/supply"
	"github.com/lineproof/lineproof/internal/platform/blob"
	"github.com/lineproof/lineproof/internal/regulator/registry"
)

const (
	eventsPath  = "/api/v1/lines/events"
	ordersPath  = "/api/v1/lines/orders"
	importsPath = "/api/v1/lines/imports"
	supplyPath  = "/api/v1/lines/supply"
	historyPath = "/api/v1/lines/history"

	conflictsPath = "/api/v1/lines/conflicts"

	freshNumber = "+2348035550001" // of MTN's range, and told of by nobody

	lookUpReason = `"reason":"Complaint 114 of 2026"`
)

// lookUp is the body with which staff look a number up.
func lookUp(number string) string { return `{"phoneNumber":"` + number + `",` + lookUpReason + `}` }

// withLines gives the stack a supply service.
func (s *stack) withLines(t testing.TB) *stack {
	t.Helper()
	files := must(blob.OpenDir(t.TempDir()))(t)
	s.Lines = &supply.Service{Pool: s.pool, Region: s.Region, Lines: &linestore.Resolver{}, Files: files, Peppers: s.Access.Peppers, Now: time.Now}
	s.ImportMaxBytes, s.Timeouts.Import = 1<<16, 20*time.Second
	s.handler = s.Handler()
	return s
}

// inLines creates a request on a stack with a supply service.
func inLines(ask asker) asker {
	return func(t *testing.T, s *stack) *http.Request { return ask(t, s.withLines(t)) }
}

// lineToken returns a token of a new client of a network.
func (s *stack) lineToken(t testing.TB, network string, scopes ...string) string {
	t.Helper()
	c := must(s.Access.CreateClient(t.Context(), access.ClientForm{Name: "Supplier", Scopes: scopes, Network: network}, access.Operator, uuid.Nil))(t)
	return must(s.Access.IssueToken(t.Context(), c.ID.String(), c.Secret, nil))(t).Text.Reveal()
}

// operator returns a token of MTN with the scope to report lines.
func (s *stack) operator(t testing.TB) string {
	t.Helper()
	if s.ofMTN == "" {
		s.ofMTN = s.lineToken(t, "MTN", "line:supply")
	}
	return s.ofMTN
}

// staff returns a session of a new member of the regulator's staff.
func (s *stack) staff(t testing.TB, role string) string {
	t.Helper()
	email := role + "-" + uuid.NewString() + "@regulator.example"
	made := must(s.Registry.CreateStaff(t.Context(), registry.StaffForm{Name: "S", Email: email, Role: role, Password: password}, access.Operator, uuid.Nil))(t)
	if made.Pending != uuid.Nil { // as if somebody else had confirmed it
		must(s.pool.Exec(t.Context(), `WITH a AS (UPDATE approval SET state = 'lapsed' WHERE id = $2) UPDATE account SET role = $3 WHERE id = $1`, made.ID, made.Pending, role))(t)
	}
	return s.session(t, email)
}

func get(path, bearer string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return r
}

// sendFile returns a request with a file.
func sendFile(query, bearer, content string) *http.Request {
	r := post(importsPath+query, bearer, content)
	r.Header.Set("Content-Type", "text/csv")
	return r
}

// began is when the tests started: an event that is reported twice has the same
// time.
var began = time.Now()

// ago returns the time before began, as suppliers write it.
func ago(d time.Duration) string { return began.Add(-d).UTC().Format(time.RFC3339) }

const day = 24 * time.Hour

// event is one event of a call.
type event map[string]string

func happened(id, number, kind string, before time.Duration, more ...string) event {
	e := event{"id": id, "phoneNumber": number, "type": kind, "effectiveAt": ago(before)}
	for i := 0; i < len(more); i += 2 {
		e[more[i]] = more[i+1]
	}
	return e
}

func eventsBody(t testing.TB, list ...event) string {
	t.Helper()
	return string(must(json.Marshal(map[string]any{"events": list}))(t))
}

// told reports events that must all be applied.
func (s *stack) told(t testing.TB, token string, list ...event) {
	t.Helper()
	res := s.do(t, post(eventsPath, token, eventsBody(t, list...)))
	var answer struct {
		Data struct{ Applied int }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || answer.Data.Applied != len(list) {
		t.Fatalf("%d of %d events count: %s", answer.Data.Applied, len(list), res.Body)
	}
}

// waits reports events that must all wait.
func (s *stack) waits(t testing.TB, token string, list ...event) {
	t.Helper()
	res := s.do(t, post(eventsPath, token, eventsBody(t, list...)))
	var answer struct {
		Data struct{ Waiting int }
	}
	if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || answer.Data.Waiting != len(list) {
		t.Fatalf("%d of %d events wait: %s", answer.Data.Waiting, len(list), res.Body)
	}
}

// owner runs a statement that the serving role may not run.
func (s *stack) owner(t testing.TB, sql string) {
	t.Helper()
	must(openAs(t, s.pool.Config().ConnString()).Exec(t.Context(), sql))(t)
}

const (
	snapshotFile = "number,tenureStart,simChangedAt,state,stateSince\n" +
		"+2348035550001,2021-03-01,NEVER,ACTIVE,2021-03-01\n" +
		"+2348035550002,2021-03-01,2021-04-01,PARKED,2021-05-01\n"
	spottyFile = "id,number,type,effectiveAt\n" +
		"a,+2348035550001,SIM_CHANGED,2026-01-01\n" +
		"b,+2348035550002,SIM_CHANGED,never\n" +
		"c,+2348015550002,SIM_CHANGED,2026-01-01\n"
)

// sent uploads a file and returns the id of its import.
func (s *stack) sent(t testing.TB, r *http.Request) string {
	t.Helper()
	res := s.do(t, r)
	if res.Code != http.StatusAccepted {
		t.Fatalf("the file was answered with %d: %s", res.Code, res.Body)
	}
	return field(t, res.Body.Bytes(), "data", "importId")
}

// work processes an import to its end.
func (s *stack) work(t testing.TB, id string) {
	t.Helper()
	from := supply.Source{Open: func() (io.ReadCloser, error) { return s.Lines.Files.Open(t.Context(), id) }}
	im := must(s.Lines.Run(t.Context(), uuid.MustParse(id), from, nil))(t)
	if im.Open() {
		t.Fatalf("the import is %s: %s", im.State, im.Reason)
	}
}

// breakOff is a body that ends early.
func breakOff(content string) io.Reader {
	return io.MultiReader(strings.NewReader(content), brokenReader{})
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
