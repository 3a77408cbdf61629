package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/keytest"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// No request makes the service store, send to its database or answer one of its keys: not
// when each of its texts in turn is one from which a key is derived.
func TestNoRequestYieldsAKey(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	search := keytest.New(t, "a pepper for tests, thirty-two bytes long", pgtest.Pepper)
	search.Watch(s.pool)
	creds, entity := credentials(t, s)
	known, labels := effects(), keytest.Labels(t)
	for i, route := range (&httpapi.API{}).Operations() {
		_, pattern, _ := strings.Cut(route, " ")
		r := openRequest(t, s, route, creds, known[route].credential, entity)
		for _, label := range keytest.Some(labels, i) {
			for _, filled := range keytest.Fill(t, r, pattern, label) {
				res := keytest.Send(t, s.handler, filled)
				search.Look("an answer of "+route, res.Body.Bytes())
			}
		}
	}
	search.Tables(t, pgtest.Open(t, s.pool.Config().ConnString(), ""))
	search.Report(t, 300_000)
}

// openRequest returns a request with a credential that the route accepts.
func openRequest(t *testing.T, s *stack, route string, creds map[string]string, first, entity string) *http.Request {
	t.Helper()
	names := []string{"token", "session admin", "session administrator", "api key bank", "api key test"}
	for _, name := range slices.Concat([]string{first}, names) {
		r := validRequest(t, s, route, creds[name], entity)
		if strings.HasPrefix(route, "GET ") && keytest.Send(t, s.handler, r).Code < http.StatusBadRequest || !strings.HasPrefix(route, "GET ") && name == first && first != "" {
			return validRequest(t, s, route, creds[name], entity)
		}
	}
	return validRequest(t, s, route, creds["session administrator"], entity) // needs none, or a role of staff
}
