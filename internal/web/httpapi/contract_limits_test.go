package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// credentialFor returns which credential of those that credentials makes opens an operation.
func credentialFor(route string) string {
	if e, known := effects()[route]; known && route != "POST "+invitationsPath { // where staff may send more
		return e.credential
	}
	for _, kind := range [][2]string{
		{"/.well-known/", ""},
		{"/invitations", "session administrator"},
		{"/regulator/", "session admin"},
		{"/verifications/", "api key live"},
		{"/test/", "api key test"},
		{"/lines/imports/{importId}/receipt", "token line:supply"},
		{"/lines/", "session reviewer"},
	} {
		if strings.Contains(route, kind[0]) {
			return kind[1]
		}
	}
	return "api key bank"
}

// besides are the fields without which another one is refused.
var besides = map[string]map[string]any{
	"POST " + ordersPath + " reason":    {"action": "BAR"},
	"POST " + ordersPath + " scope":     {"action": "BAR", "reason": "OTHER"},
	"POST " + invitationsPath + " role": {"kind": "staff"},
}

// apply returns a copy of a request with another value in one place.
func (c *try) apply(t *testing.T, r *http.Request, body []byte, beside map[string]any) *http.Request {
	t.Helper()
	sent := bytes.Clone(body)
	q := r.Clone(r.Context())
	switch kind := r.Header.Get("Content-Type"); {
	case c.in == "header":
		q.Header.Set(c.field, fmt.Sprint(c.value))
	case c.in == "query":
		values := q.URL.Query()
		values.Set(c.field, fmt.Sprint(c.value))
		q.URL.RawQuery = values.Encode()
	case strings.HasPrefix(kind, "multipart/"):
		parts := documentParts()
		if i := slices.IndexFunc(parts, func(p part) bool { return p.name == c.field }); i >= 0 {
			parts[i].content = fmt.Sprint(c.value)
		} else {
			parts = append(parts, part{c.field, "", fmt.Sprint(c.value)})
		}
		return upload(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), parts...)
	case kind == "application/x-www-form-urlencoded":
		values := must(url.ParseQuery(string(body)))(t)
		object := map[string]any{}
		for name := range values {
			if name != "grant_type" || r.URL.Path == tokenPath { // in a form, others are ignored
				object[name] = values.Get(name)
			}
		}
		whole, ok := with(object, strings.Split(c.field, "."), c.value).(map[string]any)
		if !ok {
			t.Fatalf("%s: the form is no object", c.field)
		}
		sent = []byte(asJSON(t, whole))
		q.Header.Set("Content-Type", "application/json")
	default:
		object := parsed(body)
		for name, value := range beside {
			object = with(object, []string{name}, value)
		}
		sent = []byte(asJSON(t, with(object, strings.Split(c.field, "."), c.value)))
	}
	q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
	return q
}

// Every limit that the contract has for a field of a request is the limit of the service: a
// value at it is not refused for that, and one beyond it is, with a violation that names the
// field. No response has a status, a header or a form that the contract does not have.
func TestLimitsOfTheContractAreThoseOfTheService(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	c, tried := loadContract(t), map[bool]int{}
	for _, path := range slices.Sorted(maps.Keys(c.doc.Paths.Map())) {
		item := c.doc.Paths.Value(path)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			o, route := item.GetOperation(method), method+" "+path
			ask := func() (*http.Request, []byte) {
				r := validRequest(t, s, route, creds[credentialFor(route)], entity)
				return r, must(io.ReadAll(r.Body))(t)
			}
			fresh, body := ask()
			for _, one := range triesOf(item, o) {
				beside := besides[route+" "+one.field]
				if !one.over {
					fresh, body = ask()
				}
				r := one.apply(t, fresh, body, beside)
				res := s.do(t, r)
				c.check(t, r, res)
				tried[one.over]++
				if msg := one.judge(res); msg != "" {
					t.Errorf("%s: %s, %s over %v, %.60s: %s: %d %.300s",
						route, one.field, one.rule, one.over, fmt.Sprint(one.value), msg, res.Code, res.Body)
				}
			}
		}
	}
	if n := tried[false] + tried[true]; n < 700 {
		t.Errorf("only %d values are tried", n)
	}
}

func triesOf(item *openapi3.PathItem, o *openapi3.Operation) (all []try) {
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		if v := p.Value; v.In == "query" || v.In == "header" {
			all = append(all, tries(v.In, v.Name, v.Schema.Value, v.Example)...)
		}
	}
	if o.RequestBody != nil {
		content := o.RequestBody.Value.Content
		for _, kind := range slices.Sorted(maps.Keys(content)) {
			if s := content[kind].Schema.Value; len(s.Properties) > 0 && kind != "application/x-www-form-urlencoded" {
				for _, one := range tries("body", "", s, nil) {
					if kind == "application/json" || one.rule != "type" { // a part of a form has no type
						all = append(all, one)
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b try) int {
		return map[bool]int{true: 0, false: 1}[a.over] - map[bool]int{true: 0, false: 1}[b.over]
	})
	return all
}

// judge says what is wrong with the response to a value; nothing if it is as documented.
func (c *try) judge(res *httptest.ResponseRecorder) string {
	named := func(v found) bool {
		return v.field == c.field || strings.HasSuffix(c.field, "."+v.field) ||
			v.field == strings.TrimSuffix(c.field, "[0]") || strings.HasPrefix(v.field, c.field+"[")
	}
	all := violations(parsed(res.Body.Bytes()))
	if !c.over {
		wrong := func(v found) bool {
			return named(v) && slices.Contains(codesOf[c.rule], v.code) && (c.rule != "minLength" || v.code != "INVALID_FORMAT")
		}
		if slices.ContainsFunc(all, wrong) || res.Code >= http.StatusInternalServerError {
			return "a value at the limit is refused"
		}
		return ""
	}
	if !slices.ContainsFunc(all, func(v found) bool {
		return named(v) && (v.code == eventReason || slices.Contains(codesOf[c.rule], v.code))
	}) {
		return "a value beyond the limit is not refused with " + strings.Join(codesOf[c.rule], " or ")
	}
	return ""
}
