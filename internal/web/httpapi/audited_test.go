package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// unaudited are the operations, and single cases of others, that leave no entry
// in the audit trail although their method could change something, and why.
var unaudited = map[string]string{
	tokenPath:                              "a token opens nothing that the client's secret did not",
	verifyPath:                             "every answer has its record in the journal",
	batchPath:                              "every answer has its record in the journal",
	"/api/v1/test/clock":                   "it moves the clock of a rehearsal",
	"acks_ok_test":                         "a test key gets no notices",
	"/api/v1/lines/events":                 "what was told is kept for good, with who told it",
	"/api/v1/lines/history":                "it changes nothing; that staff looked is in the trail",
	"/api/regulator/v1/password-reset":     "it sends a letter; what is done with it has an entry",
	"POST /api/regulator/v1/second-factor": "nothing is in force before it is confirmed",
	"revoke_ok_unknown":                    "there was nothing to revoke",
}

// entries counts the audit trail; -1 if a case has shut the database down.
func (s *stack) entries(t *testing.T) (n int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM audit`).Scan(&n); err != nil {
		return -1
	}
	return n
}

// audited checks that a success which changed something has left an entry. The
// golden cases have at least one success of every operation.
func (s *stack) audited(t *testing.T, name string, before int, r *http.Request, res *httptest.ResponseRecorder) {
	t.Helper()
	if r.Method == http.MethodGet || res.Code < 200 || res.Code > 299 || res.Header().Get("Idempotency-Replayed") != "" {
		return
	}
	if strings.HasPrefix(r.URL.Path, hooksPath) && (strings.HasSuffix(r.URL.Path, "/test") || strings.HasSuffix(r.URL.Path, "/resend")) {
		return // what was sent is in the list of attempts
	}
	if strings.HasPrefix(r.URL.Path, listsPath) {
		return // a list belongs to its organisation, and what enters it is counted
	}
	for _, known := range []string{name, r.URL.Path, r.Method + " " + r.URL.Path} {
		if unaudited[known] != "" {
			return
		}
	}
	if after := s.entries(t); before < 0 || after <= before {
		t.Errorf("%s %s changed something: %d entries in the audit trail before, %d after", r.Method, r.URL.Path, before, after)
	}
}
