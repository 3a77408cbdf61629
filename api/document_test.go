package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lineproof/lineproof/api"
)

// operation is one operation of the contract, named as a route is.
type operation struct {
	name string
	*openapi3.Operation
}

// body is a request or response body in one media type. Status is empty for a
// request.
type body struct {
	name, status string
	enveloped    bool // all but files, and what has a form of its own elsewhere
	media        *openapi3.MediaType
}

func load(t *testing.T) *openapi3.T {
	t.Helper()

	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func operations(t *testing.T, doc *openapi3.T) []operation {
	t.Helper()

	var all []operation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		of := doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(of)) {
			all = append(all, operation{name: method + " " + path, Operation: of[method]})
		}
	}
	if len(all) == 0 {
		t.Fatal("the document has no operation")
	}
	return all
}

func bodies(t *testing.T, doc *openapi3.T) []body {
	t.Helper()

	var all []body
	for _, o := range operations(t, doc) {
		if o.RequestBody != nil {
			for mediaType, m := range o.RequestBody.Value.Content {
				all = append(all, body{name: o.name + " " + mediaType, media: m})
			}
		}
		for status, res := range o.Responses.Map() {
			if len(res.Value.Content) == 0 {
				t.Errorf("%s: %s has no body", o.name, status)
			}
			for mediaType, m := range res.Value.Content {
				all = append(all, body{name: o.name + " " + status, status: status, enveloped: mediaType == "application/json" && (status != "200" || !strings.Contains(o.name, "/.well-known/") && !strings.HasSuffix(o.name, "/receipt")), media: m})
			}
		}
	}
	return all
}

// walk visits s and every schema within it, but not those that s refers to:
// each of them is a component and is visited on its own.
func walk(path string, s *openapi3.Schema, visit func(string, *openapi3.Schema)) {
	visit(path, s)
	for name, p := range s.Properties {
		if p.Ref == "" {
			walk(path+"."+name, p.Value, visit)
		}
	}
	if s.Items != nil && s.Items.Ref == "" {
		walk(path+"[]", s.Items.Value, visit)
	}
}

func checkExample(t *testing.T, name string, s *openapi3.Schema, example any) {
	t.Helper()

	if example == nil {
		t.Errorf("%s: no example", name)
		return
	}
	if err := fits(s, example); err != nil {
		t.Errorf("%s: example: %v", name, err)
	}
}

// fits says why v does not match s. The value is converted to JSON first,
// because that is what a caller sees.
func fits(s *openapi3.Schema, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write as JSON: %w", err)
	}
	var plain any
	if err := json.Unmarshal(text, &plain); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	return s.VisitJSON(plain, openapi3.EnableJSONSchema2020(), openapi3.EnableFormatValidation(), openapi3.MultiErrors())
}

func member(v any, name string) any {
	object, _ := v.(map[string]any)
	return object[name]
}

func words(values []any) []string {
	var all []string
	for _, v := range values {
		s, _ := v.(string)
		all = append(all, s)
	}
	return all
}
