package portal_test

import (
	"strings"
	"testing"
)

// saysOfNumbers has what the pages of organisations say about numbers, by the first part of
// their path. The red-team programme over the API's routes is in package httpapi.
var saysOfNumbers = map[string]string{
	"files": "a file that is sent here is judged, held and counted as one that is sent over the API, under a key that may be used from there: TestFileHonoursTheNetworksOfItsKey",
	"try":   "its requests go through the API, with a test key",

	"journal": "what was answered before", "export": "the same", "requests": "which requests were refused", "corrections": "which answers were corrected",
	"webhooks": "where events go; none goes while the guard has stopped the organisation",

	"home": "", "overview": "", "keys": "", "new-key": "", "documents": "", "team": "", "profile": "", "new-webhook": "",
}

// Every page of organisations is on the list of what pages say about numbers. A new one fails
// until somebody has decided whether it is a way around the guard.
func TestEveryPageSaysWhatItTellsOfNumbers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	found := map[string]bool{}
	for _, row := range s.Rows() {
		if row.Who != "entity" && row.Who != "manager" {
			continue
		}
		part, _, _ := strings.Cut(strings.TrimPrefix(row.Path, "/portal/"), "/")
		found[part] = true
		if _, ok := saysOfNumbers[part]; !ok {
			t.Errorf("%s %s: say what it tells of numbers", row.Method, row.Path)
		}
	}
	for part := range saysOfNumbers {
		if !found[part] {
			t.Errorf("no page begins with %q", part)
		}
	}
}
