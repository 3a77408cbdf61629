package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A field that the contract requires and a body does not have is REQUIRED, in every operation.
func TestMissingFieldOfEveryOperationIsRequired(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	known, doc := effects(), loadContract(t).doc
	checked := 0
	for _, route := range slices.Sorted(maps.Keys(known)) {
		valid := func() *http.Request { return validRequest(t, s, route, creds[known[route].credential], entity) }
		r := valid()
		body := doc.Paths.Value(strings.TrimPrefix(route, r.Method+" ")).GetOperation(r.Method).RequestBody
		if body == nil || body.Value.Content.Get("application/json") == nil || r.Header.Get("Content-Type") != "application/json" {
			continue
		}
		for _, name := range body.Value.Content.Get("application/json").Schema.Value.Required {
			r := valid()
			fields := map[string]any{}
			if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
				t.Fatalf("%s: %v", route, err)
			}
			delete(fields, name)
			sent := must(json.Marshal(fields))(t)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent)), int64(len(sent))
			res := s.do(t, r)
			var got struct {
				Data struct {
					Violations []struct{ Field, Code string }
				}
			}
			if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			checked++
			if !slices.Contains(got.Data.Violations, struct{ Field, Code string }{name, "REQUIRED"}) {
				t.Errorf("%s without %s: %d %s", route, name, res.Code, res.Body)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d fields are required", checked)
	}
}
