package httpapi_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
)

// varies is what differs between any two responses: ids, times and the address itself.
var varies = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|[\w.+-]+@[\w.-]+`)

// Every operation whose request has an e-mail address answers the same whether the address
// has an account or not. Onboarding must refuse one that has: it does not say whether it is
// the address or the number. An operation that is new is tried here before this test passes.
func TestOperationsTellNobodyWhoHasAnAccount(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	known, unknown := s.administrator(t).email, "nobody-"+uuid.NewString()+"@people.example"
	token, boss := s.token(t), s.admin(t)
	_, taken := s.onboarded(t, token)
	number := randomPhone()
	if res := s.do(t, onboardRequest(token, "ada-"+uuid.NewString()+"@people.example", number, "")); res.Code != http.StatusOK {
		t.Fatalf("onboarding answered %d: %s", res.Code, res.Body)
	}
	pairs := map[string][2]*http.Request{
		"POST " + loginPath: {post(loginPath, "", `{"email":"`+known+`","password":"wrong-wrong"}`), post(loginPath, "", `{"email":"`+unknown+`","password":"wrong-wrong"}`)},
		"POST " + resetPath: {
			post(resetPath, "", `{"email":"`+known+`"}`), post(resetPath, "", `{"email":"`+unknown+`"}`),
		},
		"POST " + invitationsPath: {
			post(invitationsPath, boss.session, `{"email":"`+known+`","kind":"member"}`), post(invitationsPath, boss.session, `{"email":"`+unknown+`","kind":"member"}`),
		},
		"POST " + onboardPath: {onboardRequest(token, taken, randomPhone(), ""), onboardRequest(token, "new-"+uuid.NewString()+"@people.example", number, "")},
	}
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method, o := range item.Operations() {
			if _, tried := pairs[method+" "+path]; !tried && takesAddress(o) {
				t.Errorf("%s %s takes an e-mail address, and this test does not try it", method, path)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		pair := pairs[name]
		one, other := s.do(t, pair[0]), s.do(t, pair[1])
		if a, b := plain(one), plain(other); one.Code != other.Code || a != b {
			t.Errorf("%s answered %d to one and %d to the other:\n%s\n%s", name, one.Code, other.Code, a, b)
		}
	}
}

// plain returns a response without what varies.
func plain(res *httptest.ResponseRecorder) string {
	var headers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(res.Header())) {
		headers.WriteString(name + ": " + strings.Join(res.Header()[name], ", ") + "\n")
	}
	return varies.ReplaceAllString(headers.String()+res.Body.String(), "…")
}

// takesAddress reports whether the body of an operation has a property for an e-mail address.
func takesAddress(o *openapi3.Operation) bool {
	if o.RequestBody == nil {
		return false
	}
	for _, content := range o.RequestBody.Value.Content {
		for name := range content.Schema.Value.Properties {
			if strings.HasSuffix(strings.ToLower(name), "email") {
				return true
			}
		}
	}
	return false
}
