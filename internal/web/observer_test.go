package web_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/web"
)

// observed serves one request and returns its response and its log line.
func observed(serve func(*web.RequestLog, http.ResponseWriter)) (*httptest.ResponseRecorder, string) {
	var l web.RequestLog
	var out bytes.Buffer
	observer := web.Observer{Metrics: telemetry.NewMetrics(), Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, "sorry", l.AddFault(fault.New(fault.Internal, "sorry").Because(err)))
	}}
	r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
	l.Init(r, nil)
	status, took := observer.Serve(w, r, &l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { serve(&l, w) }))
	l.Write(r.Context(), slog.New(slog.NewTextHandler(&out, nil)), l.Level(status), status, took, slog.String("last", "yes"))
	return w, out.String()
}

// A request has one log line with its id, route, status and attributes.
func TestRequestHasOneLogLine(t *testing.T) {
	t.Parallel()
	w, line := observed(func(l *web.RequestLog, w http.ResponseWriter) {
		l.SetRoute("GET /tea")
		l.Add(slog.Int("cups", 2))
		w.WriteHeader(http.StatusTeapot)
	})
	for _, text := range []string{"level=INFO", "request_id=" + w.Header().Get("X-Request-Id"), `route="GET /tea" status=418`, "remote=192.0.2.1 cups=2 last=yes"} {
		if !strings.Contains(line, text) {
			t.Errorf("the line lacks %s: %s", text, line)
		}
	}
	if strings.Count(line, "\n") != 1 {
		t.Errorf("the log has more than a line: %s", line)
	}
}

// A panic becomes an internal error with its stack in the log, and does not
// disturb a response that has started.
func TestPanicBecomesAnInternalError(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(http.ResponseWriter){
		"nothing": func(http.ResponseWriter) {}, "header": func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"body": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "half") },
	} {
		w, line := observed(func(_ *web.RequestLog, w http.ResponseWriter) {
			before(w)
			panic("boom")
		})
		want := map[string]int{"nothing": http.StatusInternalServerError, "header": http.StatusAccepted, "body": http.StatusOK}[name]
		if w.Code != want || strings.Contains(w.Body.String(), "sorry") != (name == "nothing") {
			t.Errorf("after %s: %d %s", name, w.Code, w.Body)
		}
		if !strings.Contains(line, "stack=") || !strings.Contains(line, `error="panic: boom"`) {
			t.Errorf("after %s the line is %s", name, line)
		}
	}
}

// A handler's deadline is close to its timeout, and ends with it.
func TestTimeoutEndsTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := web.WithTimeout(t.Context(), httptest.NewRecorder(), time.Minute)
	defer cancel()
	if at, ok := ctx.Deadline(); !ok || time.Until(at) < 59*time.Second || time.Until(at) > 61*time.Second {
		t.Errorf("the deadline is %s", at)
	}
}

// A body reader keeps the error with which a body broke off, and the end of a
// body is none.
func TestBodyReaderKeepsTheError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		b := &web.BodyReader{Reader: strings.NewReader("body")}
		if want != nil {
			b.Reader = io.MultiReader(b.Reader, failing{want})
		}
		if text, err := io.ReadAll(b); string(text) != "body" || !errors.Is(err, want) || !errors.Is(b.Err, want) {
			t.Errorf("%q, %v, kept %v, want %v", text, err, b.Err, want)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A known path with another method is answered with the methods that it takes.
func TestMuxNamesTheAllowedMethods(t *testing.T) {
	t.Parallel()
	mux := &web.Mux{NotAllowed: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	mux.Route(http.MethodPost, "/a", ok)
	mux.Route(http.MethodDelete, "/a", ok)
	for method, want := range map[string]int{http.MethodPost: 200, http.MethodDelete: 200, http.MethodGet: 405} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, "/a", nil))
		if w.Code != want || want == 405 && w.Header().Get("Allow") != "DELETE, POST" {
			t.Errorf("%s answered %d, Allow %s", method, w.Code, w.Header().Get("Allow"))
		}
	}
}
