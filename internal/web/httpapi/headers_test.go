package httpapi_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/platform/limit"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

// Every operation that needs a credential documents the headers of its rates, on every response
// that comes after the credential was found valid; and no other operation does in its own
// responses.
func TestOperationsWithACredentialDocumentTheirRates(t *testing.T) {
	t.Parallel()
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method, o := range item.Operations() {
			for status, res := range o.Responses.Map() {
				for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
					documented, credential := res.Value.Headers[name] != nil, len(*o.Security) > 0
					if credential && status != "401" && !documented {
						t.Errorf("%s %s %s does not document %s", method, path, status, name)
					}
					if !credential && res.Ref == "" && documented {
						t.Errorf("%s %s %s documents %s, and charges no credential", method, path, status, name)
					}
				}
			}
		}
	}
}

// What is sent while rates are limited is in the contract: by every operation to each kind of
// credential, when it succeeds, when the body is wrong, and when the rate is used up.
func TestHeadersThatAreSentAreDocumented(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	s.withLog(t)
	all, entity := credentials(t, s)
	doc, rate := loadContract(t), limit.Rate{PerSecond: never, Burst: 1 << 20}
	memory := limit.NewMemory()
	limits := func(r limit.Rate) {
		s.Access.Limits = access.Limits{KeyRate: r.PerSecond, KeyBurst: r.Burst, EntityRate: r.PerSecond, EntityBurst: r.Burst}
		s.Limits = httpapi.Limits{By: memory, Client: r, Session: r}
	}
	limited := 0
	check := func(o *openapi3.Operation, r *http.Request) {
		res := s.do(t, r)
		response := o.Responses.Value(strconv.Itoa(res.Code))
		if response == nil {
			t.Errorf("%s does not document %d", o.OperationID, res.Code)
			return
		}
		doc.headers(t, r, res, response.Value)
		if res.Header().Get("RateLimit") != "" {
			limited++
		}
	}
	for _, route := range s.Operations() {
		method, path, _ := strings.Cut(route, " ")
		o := doc.doc.Paths.Value(path).GetOperation(method)
		if len(*o.Security) == 0 {
			continue
		}
		for _, name := range []string{"token", "session admin", "session administrator", "api key bank", "token line:supply"} {
			limits(rate)
			for _, change := range []func(r *http.Request){func(*http.Request) {}, func(r *http.Request) { r.URL.RawQuery, r.Body = "x=1", http.NoBody }} {
				r := validRequest(t, s, route, all[name], entity)
				change(r)
				check(o, r)
			}
		}
	}
	if limited < 50 {
		t.Errorf("only %d responses had the headers of rates", limited)
	}
	for _, name := range []string{"token", "session admin", "api key bank"} {
		limits(limit.Rate{PerSecond: never, Burst: 1})
		for _, route := range s.Operations() {
			method, path, _ := strings.Cut(route, " ")
			o := doc.doc.Paths.Value(path).GetOperation(method)
			if len(*o.Security) == 0 || !slices.Contains([]string{http.MethodGet, http.MethodPost}, method) {
				continue
			}
			check(o, without(method, places.ReplaceAllString(path, "01a1d964-6e3b-7c41-8a52-5f0e6b1d9c20"), all[name]))
		}
	}
}
