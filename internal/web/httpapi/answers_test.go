package httpapi_test

import (
	"bytes"
	"encoding/json/jsontext"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// answer is one case: how to create the request, on its own stack.
type answer struct {
	status int
	ask    func(t *testing.T, s *stack) *http.Request
}

// The golden files are the contract as a caller sees it: status, headers and
// the body's fields in their order. Review the diff after you run the tests
// with -update. Each of them matches its schema in api/openapi.yaml.
func TestAnswers(t *testing.T) {
	t.Parallel()
	contract := loadContract(t)
	t.Cleanup(func() { contract.complete(t) }) // after the parallel cases
	seen := make(map[string]bool)
	for _, table := range []map[string]answer{
		tokenAnswers(), onboardAnswers(), uploadAnswers(), loginAnswers(), verifyAnswers(), batchAnswers(), verifiedAnswers(), receiptAnswers(), generalAnswers(),
		eventAnswers(), orderAnswers(), importAnswers(), importedAnswers(), supplyAnswers(), conflictAnswers(), historyAnswers(), clockAnswers(), testNumberAnswers(), keyAnswers(), oauthAnswers(), limitAnswers(contract), peopleAnswers(), peopleTroubles(), documentAnswers(), bankAnswers(), budgetAnswers(),
	} {
		for name, tc := range table {
			if seen[name] {
				t.Fatalf("two cases are called %s", name)
			}
			seen[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newStack(t)
				r := tc.ask(t, s)
				entries := s.entries(t)
				res := s.do(t, r)
				if res.Code != tc.status {
					t.Errorf("status = %d, want %d", res.Code, tc.status)
				}
				contract.check(t, r, res)
				s.audited(t, name, entries, r, res)
				golden(t, name, res)
			})
		}
	}
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !seen[strings.TrimSuffix(filepath.Base(f), ".golden")] {
			t.Errorf("%s belongs to no case", f)
		}
	}
}

var (
	ids      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`)
	times    = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"`)
	months   = regexp.MustCompile(`"\d{4}-(0[1-9]|1[0-2])"`)
	tokens   = regexp.MustCompile(`lp_(tok|ses|live|test|dev)_[0-9A-Za-z]{38}`)
	previews = regexp.MustCompile(`(lp_[a-z]+_)[0-9A-Za-z]{4}…[0-9A-Za-z]{4}`)
	shared   = regexp.MustCompile(`\b[A-Z2-7]{32}\b`)                                                                              // with an authenticator
	onces    = regexp.MustCompile(`"[02-9a-hjkmnp-z]{5}-[02-9a-hjkmnp-z]{5}"`)                                                     // recovery codes
	proofs   = regexp.MustCompile(`("public"|"personal"|"supply"|"root"|"proof"|"promise"|"key"|"lpsalt"|"lpchain"):(\s*)"[^"]*"`) // of a receipt
	tlogs    = regexp.MustCompile(`(?s)(c2sp.org/tlog-proof@v1\nextra ).*`)
	counts   = regexp.MustCompile(`("epoch"|"n"|"at"):(\s*)\d+`)
	cursors  = regexp.MustCompile(`\b(\d+-\d+)-[0-9a-f]{16}\b`)
	hookKeys = regexp.MustCompile(`wh(pk|sec)_[0-9A-Za-z+/]{43}=`)
	ports    = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	speeds   = regexp.MustCompile(`("rate"|DelaySeconds"|"milliseconds"): \d+`)
)

// golden compares a response with its file. Values that differ from run to run
// are replaced by a placeholder for their format, so that a timestamp without
// milliseconds is still noticed.
func golden(t *testing.T, name string, res *httptest.ResponseRecorder) {
	t.Helper()
	body := jsontext.Value(bytes.Clone(res.Body.Bytes()))
	if !isFile(res) {
		if err := body.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatalf("the answer is not JSON: %v\n%s", err, res.Body)
		}
	}
	drawn := res.Header().Get("Content-Type") == "application/pdf"
	if drawn {
		body = jsontext.Value("<a PDF of pictures>")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s\n", res.Code, http.StatusText(res.Code))
	var names []string
	for h := range res.Header() {
		names = append(names, h)
	}
	slices.Sort(names)
	for _, h := range names {
		v := strings.Join(res.Header().Values(h), ", ")
		switch h {
		case "Content-Length":
			continue
		case "Retry-After":
			v = "<seconds>"
		case "Content-Digest":
			if drawn {
				v = "<digest>"
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", h, v)
	}
	fmt.Fprintf(&b, "\n%s\n", body)
	text := proofs.ReplaceAllString(counts.ReplaceAllString(b.String(), "$1:$2<number>"), `$1:$2"<bytes>"`)
	text = cursors.ReplaceAllString(text, "$1-<hash>")
	text = tlogs.ReplaceAllString(text, "$1<bytes>")
	text = speeds.ReplaceAllString(text, "$1: <count>")
	text = ports.ReplaceAllString(hookKeys.ReplaceAllString(text, "wh${1}_<key>"), "http://127.0.0.1:<port>")
	text = months.ReplaceAllString(text, `"<month>"`)
	text = previews.ReplaceAllString(text, "${1}<preview>")
	text = tokens.ReplaceAllString(times.ReplaceAllString(ids.ReplaceAllString(text, "<uuid>"), `"<timestamp>"`), "lp_${1}_<token>")
	text = onces.ReplaceAllString(shared.ReplaceAllString(text, "<shared secret>"), `"<recovery code>"`)

	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
