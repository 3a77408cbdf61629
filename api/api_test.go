package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/values/fault"
)

// The contract is an OpenAPI 3.1 document without mistakes.
func TestDocumentIsValid(t *testing.T) {
	t.Parallel()

	doc := load(t)
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("openapi is %q, want 3.1", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Error(err)
	}
}

// The contract has the five operations of the specification, those on documents
// and lines, those for batches and recorded answers, the test clock, those of
// files of numbers, watch-lists, the feed and webhooks, and no others.
func TestDocumentHasTheOperations(t *testing.T) {
	t.Parallel()

	var got []string
	for _, o := range operations(t, load(t)) {
		got = append(got, o.name)
	}
	want := []string{
		"GET /.well-known/oauth-authorization-server",
		"POST /api/auth/revoke",
		"POST /api/auth/token",
		"GET /api/regulator/v1/documents",
		"GET /api/regulator/v1/documents/{documentId}",
		"GET /api/regulator/v1/documents/{documentId}/content",
		"POST /api/regulator/v1/documents/{documentId}/review",
		"POST /api/regulator/v1/email/confirm",
		"POST /api/regulator/v1/invitations",
		"POST /api/regulator/v1/invitations/accept",
		"GET /api/regulator/v1/keys",
		"POST /api/regulator/v1/keys",
		"DELETE /api/regulator/v1/keys/{keyId}",
		"POST /api/regulator/v1/keys/{keyId}/report-leaked",
		"POST /api/regulator/v1/keys/{keyId}/roll",
		"POST /api/regulator/v1/login",
		"POST /api/regulator/v1/logout",
		"POST /api/regulator/v1/onboard-entity",
		"POST /api/regulator/v1/password",
		"POST /api/regulator/v1/password-reset",
		"POST /api/regulator/v1/password-reset/complete",
		"DELETE /api/regulator/v1/second-factor",
		"POST /api/regulator/v1/second-factor",
		"POST /api/regulator/v1/second-factor/confirm",
		"POST /api/regulator/v1/session/prove",
		"DELETE /api/regulator/v1/sessions",
		"GET /api/regulator/v1/sessions",
		"DELETE /api/regulator/v1/sessions/{sessionId}",
		"GET /api/regulator/v1/team",
		"DELETE /api/regulator/v1/team/{accountId}",
		"POST /api/regulator/v1/upload-document",
		"GET /api/v1/budgets",
		"GET /api/v1/feed",
		"POST /api/v1/feed/acknowledgements",
		"GET /api/v1/feed/stream",
		"GET /api/v1/jobs",
		"POST /api/v1/jobs",
		"GET /api/v1/jobs/{jobId}",
		"POST /api/v1/jobs/{jobId}/cancel",
		"PUT /api/v1/jobs/{jobId}/file",
		"GET /api/v1/jobs/{jobId}/result",
		"GET /api/v1/lines/conflicts",
		"POST /api/v1/lines/events",
		"POST /api/v1/lines/history",
		"GET /api/v1/lines/imports",
		"POST /api/v1/lines/imports",
		"GET /api/v1/lines/imports/{importId}",
		"POST /api/v1/lines/imports/{importId}/cancel",
		"GET /api/v1/lines/imports/{importId}/receipt",
		"GET /api/v1/lines/imports/{importId}/refused",
		"POST /api/v1/lines/orders",
		"GET /api/v1/lines/supply",
		"GET /api/v1/phone/api/phone-numbers/verifications/{requestId}",
		"GET /api/v1/phone/api/phone-numbers/verifications/{requestId}/receipt",
		"POST /api/v1/phone/api/phone-numbers/verify",
		"POST /api/v1/phone/api/phone-numbers/verify-batch",
		"GET /api/v1/test/clock",
		"POST /api/v1/test/clock",
		"GET /api/v1/watch-lists",
		"POST /api/v1/watch-lists",
		"DELETE /api/v1/watch-lists/{listId}",
		"GET /api/v1/watch-lists/{listId}",
		"GET /api/v1/watch-lists/{listId}/members",
		"POST /api/v1/watch-lists/{listId}/members",
		"PUT /api/v1/watch-lists/{listId}/members",
		"GET /api/v1/webhooks",
		"POST /api/v1/webhooks",
		"DELETE /api/v1/webhooks/{webhookId}",
		"GET /api/v1/webhooks/{webhookId}",
		"GET /api/v1/webhooks/{webhookId}/attempts",
		"POST /api/v1/webhooks/{webhookId}/confirm",
		"POST /api/v1/webhooks/{webhookId}/pause",
		"GET /api/v1/webhooks/{webhookId}/refused",
		"POST /api/v1/webhooks/{webhookId}/replay",
		"POST /api/v1/webhooks/{webhookId}/resend",
		"POST /api/v1/webhooks/{webhookId}/resume",
		"POST /api/v1/webhooks/{webhookId}/roll",
		"POST /api/v1/webhooks/{webhookId}/test",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// Every request and response body has an example, every example matches its
// schema, and the example of a response has its status.
func TestEveryBodyHasExamplesThatFit(t *testing.T) {
	t.Parallel()

	for _, b := range bodies(t, load(t)) {
		if len(b.media.Examples) == 0 {
			t.Errorf("%s: no example", b.name)
		}
		for name, ex := range b.media.Examples {
			if ex.Value.Summary == "" {
				t.Errorf("%s: example %s: no summary", b.name, name)
			}
			if err := fits(b.media.Schema.Value, ex.Value.Value); err != nil {
				t.Errorf("%s: example %s: %v", b.name, name, err)
			}
			if said := member(ex.Value.Value, "statusCode"); b.status != "" && b.enveloped && said != b.status {
				t.Errorf("%s: example %s says statusCode %v", b.name, name, said)
			}
		}
	}
}

// The examples of single fields, parameters and headers match their schemas,
// and every field has an example and a description.
func TestEveryFieldIsDescribedAndItsExampleFits(t *testing.T) {
	t.Parallel()

	doc := load(t)
	for name, p := range doc.Components.Parameters {
		checkExample(t, "parameter "+name, p.Value.Schema.Value, p.Value.Example)
	}
	for name, h := range doc.Components.Headers {
		checkExample(t, "header "+name, h.Value.Schema.Value, h.Value.Example)
	}
	for name, s := range doc.Components.Schemas {
		walk(name, s.Value, func(path string, s *openapi3.Schema) {
			leaf := len(s.Properties) == 0 && s.Items == nil
			if leaf && s.Description == "" {
				t.Errorf("%s: no description", path)
			}
			if leaf && len(s.Examples) == 0 && s.Format != "binary" {
				t.Errorf("%s: no example", path)
			}
			for _, ex := range s.Examples {
				checkExample(t, path, s, ex)
			}
		})
	}
}

// Objects allow no other fields and responses require all of theirs, so that a
// field that the code adds or drops breaks the contract. A field that is not
// always present says when it is.
func TestObjectsAreClosed(t *testing.T) {
	t.Parallel()

	for name, s := range load(t).Components.Schemas {
		walk(name, s.Value, func(path string, s *openapi3.Schema) {
			if len(s.Properties) == 0 {
				return
			}
			if open := s.AdditionalProperties.Has; open == nil || *open {
				t.Errorf("%s: additionalProperties is not false", path)
			}
			if strings.HasSuffix(name, "Request") {
				return
			}
			all := slices.Sorted(maps.Keys(s.Properties))
			all = slices.DeleteFunc(all, func(name string) bool { // it may stand beside a reference
				p := s.Properties[name]
				return p.Extensions["x-present-when"] != nil || p.Value.Extensions["x-present-when"] != nil
			})
			if diff := cmp.Diff(all, slices.Sorted(slices.Values(s.Required)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: required is not every property (-want +got):\n%s", path, diff)
			}
		})
	}
}

// An array of named values has room for all of them, so that no client refuses what the service takes.
func TestArraysHaveRoomForEveryValue(t *testing.T) {
	t.Parallel()

	seen := 0
	for name, s := range load(t).Components.Schemas {
		walk(name, s.Value, func(path string, s *openapi3.Schema) {
			if s.Items == nil || len(s.Items.Value.Enum) == 0 {
				return
			}
			seen++
			if values := uint64(len(s.Items.Value.Enum)); s.MaxItems != nil && *s.MaxItems < values {
				t.Errorf("%s: maxItems is %d, and there are %d values", path, *s.MaxItems, values)
			}
		})
	}
	if seen == 0 {
		t.Error("no array of named values was found")
	}
}

// Every component is used by an operation.
func TestEveryComponentIsUsed(t *testing.T) {
	t.Parallel()

	doc := load(t)
	c := doc.Components
	for kind, names := range map[string][]string{
		"parameters": slices.Collect(maps.Keys(c.Parameters)),
		"headers":    slices.Collect(maps.Keys(c.Headers)),
		"responses":  slices.Collect(maps.Keys(c.Responses)),
		"examples":   slices.Collect(maps.Keys(c.Examples)),
		"schemas":    slices.Collect(maps.Keys(c.Schemas)),
	} {
		for _, name := range names {
			if ref := fmt.Sprintf("%q", "#/components/"+kind+"/"+name); !strings.Contains(string(api.OpenAPI), ref) {
				t.Errorf("%s is never used", ref)
			}
		}
	}
	used := map[string]bool{}
	for _, o := range operations(t, doc) {
		if o.Security == nil {
			t.Errorf("%s does not say which credential it takes", o.name)
			continue
		}
		for _, alternative := range *o.Security {
			for name := range alternative {
				used[name] = true
			}
		}
	}
	for name := range c.SecuritySchemes {
		if !used[name] {
			t.Errorf("security scheme %s is never used", name)
		}
	}
}

// Every operation documents the common errors.
func TestEveryOperationHasTheCommonAnswers(t *testing.T) {
	t.Parallel()

	for _, o := range operations(t, load(t)) {
		want := []string{"400", "500", "503"}
		if strings.Contains(o.name, "/.well-known/") {
			want = want[:1] // it needs nothing that could be away
		}
		if o.Security == nil || len(*o.Security) > 0 {
			want = append(want, "401") // of those without a credential, some have nothing that could be wrong with it
		}
		if o.RequestBody != nil {
			want = append(want, "413", "415")
		}
		for _, status := range want {
			if o.Responses.Value(status) == nil {
				t.Errorf("%s does not describe %s", o.name, status)
			}
		}
		if o.Responses.Value("200") == nil && o.Responses.Value("202") == nil {
			t.Errorf("%s does not describe its success", o.name)
		}
	}
}

// Every response documents the common headers, and 401 and 503 also
// WWW-Authenticate and Retry-After.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()

	for _, o := range operations(t, load(t)) {
		for status, res := range o.Responses.Map() {
			want := []string{"X-Request-Id", "x-correlator", "Cache-Control"}
			switch status {
			case "401":
				want = append(want, "WWW-Authenticate")
			case "503":
				want = append(want, "Retry-After")
			}
			for _, h := range want {
				if res.Value.Headers[h] == nil {
					t.Errorf("%s: %s has no header %s", o.name, status, h)
				}
			}
		}
	}
}

// The errors in the introduction match the schema of an error.
func TestErrorsOfTheIntroductionFit(t *testing.T) {
	t.Parallel()

	doc := load(t)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(doc.Info.Description, -1)
	if len(blocks) == 0 {
		t.Fatal("the introduction shows no error")
	}
	for _, b := range blocks {
		var v any
		if err := json.Unmarshal([]byte(b[1]), &v); err != nil {
			t.Errorf("%v in:\n%s", err, b[1])
		}
		if err := fits(doc.Components.Schemas["Error"].Value, v); err != nil {
			t.Errorf("%v in:\n%s", err, b[1])
		}
	}
}

// The contract has exactly the error codes of the code, and the page on errors
// has a row for each of them and each violation code, in the same order, and no other.
func TestErrorCodesAreDocumented(t *testing.T) {
	t.Parallel()

	schemas := load(t).Components.Schemas
	codes := words(schemas["Problem"].Value.Properties["code"].Value.Enum)
	var want []string
	for _, c := range fault.Codes {
		want = append(want, string(c))
	}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("codes (-code +contract):\n%s", diff)
	}

	page, err := os.ReadFile("../docs/reference/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllSubmatch(page, -1) {
		rows = append(rows, string(m[1]))
	}
	both := slices.Concat(codes, words(schemas["Violation"].Value.Properties["code"].Value.Enum))
	if diff := cmp.Diff(both, rows); diff != "" {
		t.Errorf("rows of docs/reference/errors.md (-contract +page):\n%s", diff)
	}
}

// Every violation code is in the contract: the test reads the source of package
// fault, because its constants are in no list.
func TestViolationCodesAreDocumented(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("../internal/values/fault/fault.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ += "([A-Z_]+)" +//`).FindAllSubmatch(source, -1) {
		want = append(want, string(m[1]))
	}
	got := words(load(t).Components.Schemas["Violation"].Value.Properties["code"].Value.Enum)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violation codes (-code +contract):\n%s", diff)
	}
}
