package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/regulator/audit"
)

type results struct {
	Applied, Duplicates, Refused int
	Results                      []struct{ ID, Result string }
}

func resultsOf(t *testing.T, res *httptest.ResponseRecorder) results {
	t.Helper()
	var answer struct{ Data results }
	if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || res.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", res.Code, res.Body)
	}
	return answer.Data
}

// A request may have a thousand events, each with its result, in order. Sent
// again they are duplicates and change nothing; with one event more the whole
// request is refused.
func TestAThousandEventsInOneCall(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	token, list := s.operator(t), eventList(1001)
	list[500]["type"] = "EXPLODED"
	body := eventsBody(t, list[:1000]...)
	first := resultsOf(t, s.do(t, post(eventsPath, token, body)))
	if first.Applied != 999 || first.Refused != 1 || len(first.Results) != 1000 {
		t.Errorf("%d count, %d are refused, of %d", first.Applied, first.Refused, len(first.Results))
	}
	again := resultsOf(t, s.do(t, post(eventsPath, token, body)))
	for i := range 1000 {
		id, want, then := "event-"+strconv.Itoa(i), "APPLIED", "DUPLICATE"
		if i == 500 {
			want, then = "REFUSED", "REFUSED"
		}
		if got := first.Results[i]; got.ID != id || got.Result != want {
			t.Errorf("result %d is %s of %s, want %s", i, got.Result, got.ID, want)
		}
		if got := again.Results[i]; got.ID != id || got.Result != then {
			t.Errorf("sent again, result %d is %s of %s, want %s", i, got.Result, got.ID, then)
		}
	}
	count := func() (n int) {
		if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM line_event`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 999 {
		t.Errorf("%d events are kept, want 999", n)
	}
	if res := s.do(t, post(eventsPath, token, eventsBody(t, list...))); res.Code != http.StatusBadRequest || !strings.Contains(res.Body.String(), `"field":"events"`) {
		t.Errorf("1,001 events were answered with %d: %.200s", res.Code, res.Body)
	}
	if n := count(); n != 999 {
		t.Errorf("after a call that was refused whole, %d events are kept", n)
	}
}

// However many violations a body has, the response stays small and cheap.
func TestViolationsOfEventsAreLimited(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	token := s.operator(t)
	many := "{" + strangers(1000) + "}"
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"strangers in events":  {`{"events":[` + strings.Repeat(many+",", 100) + `{}]}`, 32},
		"strangers beside":     {"{" + strangers(100_000) + "}", 32},
		"events of wrong type": {`{"events":[` + strings.Repeat("1,", 900) + `1]}`, 100},
	} {
		res := s.do(t, post(eventsPath, token, tc.body))
		var answer struct {
			Data struct{ Violations []any }
		}
		if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if n := len(answer.Data.Violations); res.Code != http.StatusBadRequest || n != tc.want {
			t.Errorf("%s: answered %d with %d complaints, want 400 with %d", name, res.Code, n, tc.want)
		}
	}
}

// A history request of staff is recorded; that of an operator for its own
// number is not.
func TestHistoryRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	read := func(bearer, body string) uuid.UUID {
		res := s.do(t, post(historyPath, bearer, body))
		if res.Code != http.StatusOK {
			t.Fatalf("answered %d: %s", res.Code, res.Body)
		}
		return uuid.MustParse(res.Header().Get("X-Request-Id"))
	}
	_, id := read(s.operator(t), `{"phoneNumber":"`+knownNumber+`"}`), read(s.staff(t, "auditor"), lookUp(knownNumber))
	var n int
	var subject, request uuid.UUID
	var kind string
	err := s.pool.QueryRow(t.Context(), `SELECT count(*) OVER (), subject_id, request_id, actor_kind FROM audit WHERE action = $1`, string(audit.HistoryRead)).
		Scan(&n, &subject, &request, &kind)
	if err != nil {
		t.Fatal(err)
	}
	looks := must(s.Lines.StaffLookups(t.Context(), must(s.Region.ParseMobile(knownNumber))(t), 10))(t)
	if n != 1 || len(looks) != 1 || subject != looks[0].Subject || request != id || kind != "account" {
		t.Errorf("%d entries, by an %s about %s in request %s; want one in %s", n, kind, subject, request, id)
	}
}

// If a history request cannot be recorded, nothing is returned.
func TestHistoryIsRefusedIfItCannotBeRecorded(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	session := s.staff(t, "auditor")
	s.owner(t, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`)
	res := s.do(t, post(historyPath, session, lookUp(knownNumber)))
	if res.Code != http.StatusInternalServerError || strings.Contains(res.Body.String(), "tenures") {
		t.Errorf("answered %d: %s", res.Code, res.Body)
	}
}

// A file that is sent many times at once with one key becomes one import, and
// every response is about that import.
func TestConcurrentUploadsOfAFileAreOneImport(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	token := s.operator(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	told := make(map[string]int)
	send := func() *httptest.ResponseRecorder {
		r := sendFile("?kind=events", token, spottyFile)
		r.Header.Set("Idempotency-Key", "file-1")
		return s.do(t, r)
	}
	for range 8 {
		wg.Go(func() {
			res := send()
			mu.Lock()
			defer mu.Unlock()
			switch res.Code {
			case http.StatusAccepted:
				told[field(t, res.Body.Bytes(), "data", "importId")]++
			case http.StatusConflict:
			default:
				t.Errorf("answered %d: %s", res.Code, res.Body)
			}
		})
	}
	wg.Wait()
	var n int
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM supply_import`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 1 || len(told) != 1 {
		t.Fatalf("there are %d imports, and callers were told of %v", n, told)
	}
	for id := range told {
		s.work(t, id)
	}
	if res := send(); res.Code != http.StatusAccepted || res.Header().Get("Idempotency-Replayed") != "true" || told[field(t, res.Body.Bytes(), "data", "importId")] == 0 {
		t.Errorf("after the work was done, the file was answered with %d: %s", res.Code, res.Body)
	}
}

// Concurrent orders do not deadlock on database connections.
func TestConcurrentOrdersAllSucceed(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	token := s.lineToken(t, "", "line:order")
	var wg sync.WaitGroup
	for i := range 4 * int(s.pool.Config().MaxConns) {
		wg.Go(func() {
			number := "+234803555" + strconv.Itoa(2000+i)
			res := s.do(t, post(ordersPath, token, `{"phoneNumber":"`+number+`","action":"BLACKLIST","note":"A case"}`))
			if res.Code != http.StatusOK {
				t.Errorf("answered %d: %s", res.Code, res.Body)
			}
		})
	}
	wg.Wait()
}

// An interrupted list of refused rows does not look complete.
func TestInterruptedRefusedRowsLookIncomplete(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	token := s.operator(t)
	id := s.sent(t, sendFile("?kind=events", token, spottyFile))
	s.work(t, id)
	// The last row of many cannot be read.
	s.owner(t, `ALTER TABLE supply_refused ALTER COLUMN reason DROP NOT NULL;
		INSERT INTO supply_refused (import, place, field, reason) SELECT 1, 10 + n, 'number', CASE WHEN n < 50000 THEN 'NOT_YOURS' END
		FROM generate_series(1, 50000) AS n`)
	srv := httptest.NewServer(s.handler)
	t.Cleanup(srv.Close)
	r := must(http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+importsPath+"/"+id+"/refused", http.NoBody))(t)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	n, err := io.Copy(io.Discard, res.Body)
	if res.StatusCode != http.StatusOK || n == 0 || err == nil {
		t.Errorf("a broken list was answered with %d, %d bytes and the error %v", res.StatusCode, n, err)
	}
}

// The pages of the conflicts have every event once, in the order of the reports.
func TestConflictsHavePages(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	session, want := s.staff(t, "auditor"), []string{}
	for i := range 5 {
		id := "old-" + strconv.Itoa(i)
		want = append(want, id)
		s.waits(t, s.operator(t), happened(id, "+234803555"+strconv.Itoa(3000+i), "PORT_RELEASED", 40*day, "network", "AIRTEL"))
	}
	for _, limit := range []string{"1", "2", "5", "200"} {
		var got []string
		for cursor := ""; ; {
			res := s.do(t, get(conflictsPath+"?limit="+limit+cursor, session))
			var answer struct {
				Data struct {
					Conflicts []struct{ ID string }
					Next      *string
				}
			}
			if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil || res.Code != http.StatusOK {
				t.Fatalf("answered %d: %s", res.Code, res.Body)
			}
			for _, c := range answer.Data.Conflicts {
				got = append(got, c.ID)
			}
			if answer.Data.Next == nil {
				break
			}
			cursor = "&cursor=" + *answer.Data.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %s: %v, want %v", limit, got, want)
		}
	}
}

// Whatever the body of events, the response is in the envelope.
func FuzzEvents(f *testing.F) {
	s := newStack(f).withLines(f)
	token := s.operator(f)
	for _, body := range []string{
		eventsBody(f, happened("a", knownNumber, "SIM_CHANGED", day)), `{"events":[{}],"through":"2026-01-01"}`, `{"events":[[[[{"id":"\ud800"}]]]]}`,
		`{"events":[{"id":"\u0000"}`, `{"events":[],"events":[]}`, "{\"events\":[{\"note\":\"\xff\"}]}", `[]`, ``,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { inEnvelope(t, s.do(t, post(eventsPath, token, body))) })
}
