package httpapi_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var pathUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// An id in a path may be in capitals, in every operation; other ways to write one are the id of
// nothing.
func TestIDOfEveryPathMayBeInCapitals(t *testing.T) {
	t.Parallel()
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	known, tried := effects(), 0
	for _, route := range slices.Sorted(maps.Keys(known)) {
		written := func(write func(string) string) int {
			r := validRequest(t, s, route, creds[known[route].credential], entity)
			r.URL.Path = pathUUID.ReplaceAllStringFunc(r.URL.Path, write)
			return s.do(t, r).Code
		}
		if r := validRequest(t, s, route, creds[known[route].credential], entity); !pathUUID.MatchString(r.URL.Path) {
			continue
		}
		tried++
		if code := written(func(id string) string { return "{" + id + "}" }); code != http.StatusNotFound {
			t.Errorf("%s with an id in braces: %d", route, code)
		}
		if code := written(strings.ToUpper); code == http.StatusNotFound {
			t.Errorf("%s with an id in capitals: %d", route, code)
		}
	}
	if tried < 10 {
		t.Errorf("only %d operations have an id in their path", tried)
	}
}
