package httpapi_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A 503 that a test number simulates is counted apart and logged as information: nobody is
// called at night because a bank tests what its program does then.
func TestSimulatedErrorIsNoFailureOfTheService(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.handler = s.Handler()
	key := s.testKey(t)
	for _, number := range []string{"+2347290000043", "+2347290000052"} { // unavailable, and slower than the timeout
		if res := s.do(t, post(verifyPath, key, `{"phoneNumber":"`+number+`"}`)); res.Code != http.StatusServiceUnavailable {
			t.Fatalf("%s: %d %s", number, res.Code, res.Body)
		}
	}
	res := httptest.NewRecorder()
	s.Metrics.Handler().ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	route := `lineproof_http_requests_total{route="POST ` + verifyPath + `",status=`
	if text := res.Body.String(); !strings.Contains(text, route+`"expected"} 2`) || strings.Contains(text, route+`"503"} 2`) {
		t.Errorf("the metrics are\n%s", text)
	}
	if text := log.String(); strings.Contains(text, "level=ERROR") || strings.Count(text, "expected=true") != 2 {
		t.Errorf("the log is\n%s", text)
	}
}
