package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/web/httpapi"
)

type contract struct {
	doc *openapi3.T

	mu    *sync.Mutex
	shown map[string]bool // operation and status, for which there is an answer, and with the code of an error
	sent  map[string]bool // headers that an answer had
}

// readContract reads the contract once: that takes longer than most tests.
var readContract = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(api.OpenAPI) })

func loadContract(t *testing.T) contract {
	t.Helper()
	return contract{must(readContract())(t), &sync.Mutex{}, make(map[string]bool), make(map[string]bool)}
}

// complete fails unless every documented status and every documented header was seen, and every example
// of an error: its code at that operation, and its message, but for figures, at any.
func (c contract) complete(t *testing.T) {
	t.Helper()
	for what, where := range elsewhere {
		file, name, _ := strings.Cut(where, " ")
		if text := must(os.ReadFile(file))(t); !strings.Contains(string(text), "func "+name+"(") {
			t.Errorf("%s has no test %s, which shows %s", file, name, what)
		}
	}
	for path, item := range c.doc.Paths.Map() {
		for method, o := range item.Operations() {
			for status, res := range o.Responses.Map() {
				for header := range res.Value.Headers {
					if header = http.CanonicalHeaderKey(header); !c.sent[header] {
						t.Errorf("%s %s %s documents the header %s, which no golden answer has", method, path, status, header)
					}
				}
				name := method + " " + path + " " + status
				if !c.shown[name] {
					t.Errorf("%s %s: no golden answer shows %s", method, path, status)
				}
				for example, said := range exampleErrors(res.Value) {
					if elsewhere[status+" "+said.code] == "" && elsewhere[name+" "+example] == "" && (!c.shown[name+" "+said.code] || !c.shown[said.form()]) {
						t.Errorf("%s: no golden answer shows the example %s", name, example)
					}
				}
			}
		}
	}
}

// elsewhere are the errors and examples that take more than a golden case can do, and the tests
// that show them.
var elsewhere = map[string]string{
	"403 PASSWORD_REQUIRED":  "prove_test.go TestOperationsAskForAFactorAndForThePasswordAgain",
	"403 INCOMPLETE_ACCOUNT": "prove_test.go TestOperationsAskForAFactorAndForThePasswordAgain",
	"409 ABORTED":            "parallel_test.go TestParallelRequestsTakeEffectOnce",
	"429 SCAN_SUSPECTED":     "guard_test.go TestNumberScanningIsBlocked",
	"429 QUOTA_EXCEEDED":     "guard_test.go TestQuotaOfDifferentNumbersIsEnforced",

	"GET /api/v1/feed/stream 429 refused":                "bank_test.go TestStream",
	"DELETE /api/regulator/v1/team/{accountId} 409 last": "../../access/people/invite_test.go TestAccountsAreRemoved",
}

// problem is the code of an error and its message.
type problem struct{ code, message string }

var figures = regexp.MustCompile(`\d[\d,TZ:.-]*`)

// form is the message without its figures, which differ from case to case.
func (p problem) form() string { return figures.ReplaceAllString(p.message, "#") }

// exampleErrors returns the errors that the examples of a response show.
func exampleErrors(res *openapi3.Response) map[string]problem {
	all := map[string]problem{}
	for _, media := range res.Content {
		for name, example := range media.Examples {
			if p, ok := problemOf(example.Value.Value); ok {
				all[name] = p
			}
		}
	}
	return all
}

func problemOf(body any) (problem, bool) {
	envelope, _ := body.(map[string]any)
	data, _ := envelope["data"].(map[string]any)
	code, isError := data["code"].(string)
	message, _ := data["message"].(string)
	return problem{code, message}, isError && envelope["status"] == "Error"
}

// pathOf returns the path in the document for a request. A path without a
// parameter comes before those that have one.
func (c contract) pathOf(path string) string {
	if c.doc.Paths.Value(path) != nil {
		return path
	}
	for documented := range c.doc.Paths.Map() {
		if regexp.MustCompile("^" + places.ReplaceAllString(documented, "[^/]+") + "$").MatchString(path) {
			return documented
		}
	}
	return path
}

var places = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// check fails unless the response, its status and its headers are in the
// document.
func (c contract) check(t *testing.T, r *http.Request, res *httptest.ResponseRecorder) {
	t.Helper()
	var body any = res.Body.String()
	kind, _, _ := strings.Cut(res.Header().Get("Content-Type"), ";")
	if !isFile(res) {
		if err := json.Unmarshal(res.Body.Bytes(), &body); err != nil {
			t.Fatalf("the answer is not JSON: %v\n%s", err, res.Body)
		}
	}
	path := c.pathOf(r.URL.Path)
	item := c.doc.Paths.Value(path)
	if item == nil || item.GetOperation(r.Method) == nil {
		if err := c.doc.Components.Schemas["Error"].Value.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("an answer of no operation does not fit Error: %v\n%s", err, res.Body)
		}
		return
	}
	c.mu.Lock()
	name := r.Method + " " + path + " " + strconv.Itoa(res.Code)
	c.shown[name] = true
	for header := range res.Header() {
		c.sent[header] = true
	}
	p, isError := problemOf(body)
	c.shown[name+" "+p.code], c.shown[p.form()] = isError, isError
	c.mu.Unlock()
	response := item.GetOperation(r.Method).Responses.Value(strconv.Itoa(res.Code))
	if response == nil || response.Value.Content[kind] == nil {
		t.Fatalf("%s %s does not document %d in %s", r.Method, path, res.Code, kind)
	}
	if documented := slices.Collect(maps.Values(exampleErrors(response.Value))); isError && !slices.ContainsFunc(documented, func(e problem) bool { return e.code == p.code }) {
		t.Errorf("%s: no example has the code %s", name, p.code)
	}
	if err := response.Value.Content[kind].Schema.Value.VisitJSON(body, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("the answer does not fit its schema: %v\n%s", err, res.Body)
	}
	c.headers(t, r, res, response.Value)
}

// headers fails unless the headers of a response are in the document.
func (contract) headers(t *testing.T, r *http.Request, res *httptest.ResponseRecorder, response *openapi3.Response) {
	t.Helper()
	for name := range res.Header() {
		generic := []string{"Content-Type", "Content-Length", "X-Content-Type-Options", "Allow"}
		documented := false
		for h := range response.Headers {
			documented = documented || http.CanonicalHeaderKey(h) == name
		}
		if !documented && !slices.Contains(generic, name) {
			t.Errorf("%s %s %d does not document the header %s", r.Method, r.URL.Path, res.Code, name)
		}
	}
}

// isFile reports whether a response is a file, without the envelope.
func isFile(res *httptest.ResponseRecorder) bool {
	kind, _, _ := strings.Cut(res.Header().Get("Content-Type"), ";")
	return kind == "text/csv" || kind == "text/plain" || kind == "text/event-stream" || kind == "application/octet-stream" || kind == "application/pdf"
}

// The route table and the document list the same operations, so neither can
// grow without the other.
func TestRouteTableAndDocumentAgree(t *testing.T) {
	t.Parallel()
	var documented []string
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	slices.Sort(documented)
	served := (&httpapi.API{}).Operations()
	slices.Sort(served)
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("operations (-document +route table):\n%s", diff)
	}
}
